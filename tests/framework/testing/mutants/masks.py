"""A right mask, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

import torch
from torch import Tensor

import framework as fw


class Right(fw.Mask):
    """Positions less than three apart, made for a test."""

    name = "right"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return (query_positions[:, None, :, None] - key_positions[:, None, None]).abs() < 3  # (B|1, 1, Q, K)


class Inverted(Right):
    """True = may not attend."""

    name = "inverted"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return ~super().allowed(query_positions, key_positions)


class Numbers(Right):
    """1 = may attend."""

    name = "numbers"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().allowed(query_positions, key_positions).int()


class ByPlace(Right):
    """Goes by places in the call: wrong behind a cache."""

    name = "by_place"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = (torch.arange(asked.size(1), device=asked.device) for asked in (query_positions, key_positions))
        return super().allowed(query[None], key[None])


class Transposed(Right):
    """Rules on keys and queries instead of queries and keys."""

    name = "transposed"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().allowed(key_positions, query_positions)


class OnTheCpu(Right):
    """Makes its window on the device that is the default."""

    name = "on_the_cpu"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().allowed(query_positions, key_positions) & torch.ones(key_positions.size(1)).bool()


class Shifts(Right):
    """Counts its positions from 1, in the caller's tensor."""

    name = "shifts"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query_positions += 1
        key_positions += 1
        return super().allowed(query_positions, key_positions)


class SeesThePrefix(fw.Mask):
    """A prefix that sees all of itself and is left out of the loss: right."""

    name = "sees_the_prefix"
    handles_causality = True

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = query_positions[:, None, :, None], key_positions[:, None, None]
        return (key <= query) | (key < 4)  # (B|1, 1, Q, K)

    def scored(self, positions: Tensor) -> Tensor:
        return positions >= 4


class ScoresThePrefix(SeesThePrefix):
    """A prefix that sees all of itself and is scored."""

    name = "scores_the_prefix"

    def scored(self, positions: Tensor) -> Tensor:
        return torch.ones_like(positions, dtype=torch.bool)


class ByWayOfTheFirst(SeesThePrefix):
    """The first position sees all, and all see it: what it saw is seen in the second layer."""

    name = "by_way_of_the_first"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = query_positions[:, None, :, None], key_positions[:, None, None]
        return (key <= query) | (query == 0)  # (B|1, 1, Q, K)

    def scored(self, positions: Tensor) -> Tensor:
        return positions > 0


class ScoresNumbers(SeesThePrefix):
    """1 = enters the loss."""

    name = "scores_numbers"

    def scored(self, positions: Tensor) -> Tensor:
        return super().scored(positions).long()


class ScoresByPlace(SeesThePrefix):
    """Leaves the first four of any positions out."""

    name = "scores_by_place"

    def scored(self, positions: Tensor) -> Tensor:
        return super().scored(torch.arange(positions.size(1), device=positions.device).expand_as(positions))


class TwoHeads(fw.Mask):
    """One head sees what is not scored, the others the past: together they see the future in two layers."""

    name = "two_heads"
    handles_causality = True

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.num_heads = dims.num_heads

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = query_positions[:, None, :, None], key_positions[:, None, None]
        first = torch.arange(self.num_heads, device=query.device)[:, None, None] == 0  # (H, 1, 1)
        return torch.where(first, (key == query) | (key == 5), key <= query)  # (B|1, H, Q, K)

    def scored(self, positions: Tensor) -> Tensor:
        return positions != 5


class Landmarks(fw.Mask):
    """Every twelfth position is seen by all, and scored nevertheless."""

    name = "landmarks"
    handles_causality = True

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = query_positions[:, None, :, None], key_positions[:, None, None]
        return (key <= query) | (key % 12 == 11)  # (B|1, 1, Q, K)


class CrossesRows(Right):
    """Compares each row's queries with every row's keys."""

    name = "crosses_rows"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return (query_positions[:, None, :, None] - key_positions[None, :, None]).abs() < 3


class FirstRow(Right):
    """Goes by the positions of the first row."""

    name = "first_row"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().allowed(query_positions[:1], key_positions[:1])


class Squeezes(Right):
    """Loses the axis of queries where there is one."""

    name = "squeezes"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().allowed(query_positions, key_positions).squeeze(2)


@fw.hookimpl
def mask() -> tuple[type[fw.Mask], ...]:
    return (
        Right, Inverted, Numbers, ByPlace, Transposed, OnTheCpu, Shifts, SeesThePrefix, ScoresThePrefix,
        ByWayOfTheFirst, ScoresNumbers, ScoresByPlace, TwoHeads, Landmarks, CrossesRows, FirstRow, Squeezes,
    )  # fmt: skip
