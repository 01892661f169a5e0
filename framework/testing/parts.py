"""Plain parts to try a mixer with, none of them a plugin that somebody could have changed.

Shapes: B batch, H heads, Q query length, K key length, L length, d_k a head's width; `B|1` is either.
"""

from __future__ import annotations

import torch
from torch import Tensor

from framework.contracts import AttentionScore, Dims, DotProductForm, Mask, Parts, PositionalScheme
from framework.spec import Options


class Dot(DotProductForm):
    """q·k/√d_k."""

    name = "dot"

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query * key.size(-1) ** -0.5, key


class Distance(AttentionScore):
    """-|q - k|²: no dot product, and other weights than `Dot`'s."""

    name = "distance"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return -(query[:, :, :, None] - key[:, :, None]).square().sum(-1)  # (B, H, Q, K)


class Everything(Mask):
    """All may be seen."""

    name = "everything"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> None:
        return None


class Near(Mask):
    """Positions that are one apart at most."""

    name = "near"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return (query_positions[:, :, None] - key_positions[:, None]).abs()[:, None] <= 1  # (B|1, 1, Q, K)


class NearBothWays(Near):
    """The next position too, in a decoder."""

    name = "near_both_ways"
    handles_causality = True


class Unplaced(PositionalScheme):
    """No positions."""

    name = "unplaced"


class Leaning(Unplaced):
    """A bias towards near keys, whose differences depend on the query: a line would shift a query's scores alike."""

    name = "leaning"

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        distance = key_positions[:, None] - query_positions[:, :, None]  # (B|1, Q, K)
        return -0.1 * distance[:, None].square()  # (B|1, 1, Q, K)


class Turning(Unplaced):
    """Turns the first half of the channels against the second, by half a radian a position."""

    name = "turning"

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        angle = 0.5 * positions[:, None, :, None].to(x.dtype)  # (B|1, 1, L, 1)
        half = x.size(-1) // 2
        left, right, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        cosine, sine = angle.cos(), angle.sin()
        return torch.cat((left * cosine - right * sine, left * sine + right * cosine, rest), dim=-1)


class Placed(Leaning, Turning):
    """Both bias and rotation."""

    name = "placed"


def plain_parts(dims: Dims) -> Parts:
    """Give the parts that ask nothing of a mixer."""
    return Parts(score=Dot(Options(), dims), mask=Everything(Options(), dims), scheme=Unplaced(Options(), dims))


def telling_parts(dims: Dims, takes: frozenset[str]) -> Parts:
    """Give, of each kind that a mixer takes, a part that goes by positions."""
    scheme = {
        (False, False): Unplaced,
        (True, False): Leaning,
        (False, True): Turning,
        (True, True): Placed,
    }["bias" in takes, "rotation" in takes]
    mask = Near if "mask" in takes else Everything
    return Parts(score=Dot(Options(), dims), mask=mask(Options(), dims), scheme=scheme(Options(), dims))
