"""A right positional scheme, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import framework as fw

ROWS = 64


class Right(fw.PositionalScheme):
    """A table of vectors, a turn of all channels, and a bias by distance, made for a test."""

    name = "right"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.table = nn.Parameter(torch.empty(ROWS, dims.d_model))
        self.slope = nn.Parameter(torch.empty(dims.num_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.table)
        nn.init.constant_(self.slope, 0.5)

    @property
    def max_positions(self) -> int | None:
        return ROWS

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        if bool((positions >= ROWS).any()):
            raise fw.SpecError(f"the table has {ROWS} rows")
        return x + F.embedding(positions, self.table)  # (B, L, D)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        distance = query_positions[:, None, :, None] - key_positions[:, None, None]  # (B|1, 1, Q, K)
        return -self.slope[:, None, None] * distance.abs()  # (B|1, H, Q, K)


class CountsFromZero(Right):
    """Embeds by places in the call: the first token behind a cache is at position 0."""

    name = "counts_from_zero"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, torch.arange(x.size(1), device=x.device)[None])


class BiasByPlace(Right):
    """Its bias goes by places in the call."""

    name = "bias_by_place"

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        query, key = (torch.arange(asked.size(1), device=asked.device) for asked in (query_positions, key_positions))
        return super().bias(query[None], key[None])


class OneRow(Right):
    """Its table has one row, which goes for all positions."""

    name = "one_row"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.table = nn.Parameter(self.table[:1].detach().clone())

    @property
    def max_positions(self) -> int:
        return 1

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.table


class Wraps(Right):
    """Begins its table anew where it ends."""

    name = "wraps"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions % ROWS)


class SaysNoLimit(Right):
    """Has a table with an end, and says that it has none."""

    name = "says_no_limit"
    max_positions = None


class FailsInTorch(Right):
    """Lets torch complain of a position that it does not have."""

    name = "fails_in_torch"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + F.embedding(positions, self.table)


class Transposed(Right):
    """A bias for keys and queries."""

    name = "transposed"

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().bias(key_positions, query_positions)


class Halves(Right):
    """Turns half of the channels and forgets the others."""

    name = "halves"

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return x[..., ::2]


class CentredOverTheBatch(Right):
    """Takes the mean of the batch from the embeddings."""

    name = "centred_over_the_batch"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x - x.mean(0), positions)


class AddsInPlace(Right):
    """Adds its vectors to the caller's tensor."""

    name = "adds_in_place"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        vectors = super().embed(x, positions) - x
        with torch.no_grad():
            x += vectors
        return x + 0


class OnTheCpu(Right):
    """Makes its turns on the device that is the default."""

    name = "on_the_cpu"

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        return x * torch.ones(x.size(-1), dtype=x.dtype)


class InSteps(Right):
    """Takes positions to follow each other from the first."""

    name = "in_steps"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions[:, :1] + torch.arange(positions.size(1), device=x.device))


class BiasByTheFirstRow(Right):
    """Its bias goes by the positions of the first row."""

    name = "bias_by_the_first_row"

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return super().bias(query_positions[:1], key_positions[:1])


class RealLimit(Right):
    """Its limit is no whole number."""

    name = "real_limit"

    @property
    def max_positions(self) -> float:  # type: ignore[override]
        return float(ROWS)


class Squeezes(Right):
    """Loses the axis of positions where there is one."""

    name = "squeezes"

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions).squeeze(1)


@fw.hookimpl
def positional_scheme() -> tuple[type[fw.PositionalScheme], ...]:
    return (
        Right, CountsFromZero, BiasByPlace, OneRow, Wraps, SaysNoLimit, FailsInTorch, Transposed, Halves,
        CentredOverTheBatch, AddsInPlace, OnTheCpu, InSteps, BiasByTheFirstRow, RealLimit, Squeezes,
    )  # fmt: skip
