"""How results are compared, and told apart in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from framework.errors import PluginError

ROUNDING = 1e-5
"""What float32 loses, beside the largest number of a result."""


def same(after: Tensor, before: Tensor) -> Tensor:
    """Say which entries are equal up to rounding, NaN and NaN included: a boolean of their shape."""
    if not before.is_floating_point():
        return after == before
    finite = before[before.isfinite()]
    size = finite.abs().max().item() if finite.numel() else 0.0
    return after.isclose(before, rtol=1e-4, atol=ROUNDING * max(size, 1e-3), equal_nan=True)


def first(found: Tensor) -> tuple[int, ...]:
    """Give the place of the first True."""
    return tuple(found.nonzero()[0].tolist())


def kind(result: object) -> str:
    """Say what a result is that is not what it should be."""
    return f"a tensor of {result.dtype}" if isinstance(result, Tensor) else f"a {type(result).__name__}"


def letters(tensor: Tensor, whole: tuple[int, ...]) -> str:
    """Say a shape: B and H where they stand in their places, so that rows with other sizes are told the same."""
    if tensor.dim() != 4:
        return str(tuple(tensor.shape))
    places = zip(tensor.shape, ("B", "H"), whole, strict=False)
    named = [letter if size == full else str(size) for size, letter, full in places]
    return f"({', '.join([*named, *map(str, tensor.shape[2:])])})"


def require_dtype(method: str, results: list[Tensor], dtype: torch.dtype) -> None:
    for result in results:
        if result.dtype != dtype:
            raise PluginError(f"{method} gives {result.dtype} for {dtype}, and must keep the dtype that it is given")


def require_finite(method: str, results: list[Tensor], given: str) -> None:
    for result in results:
        if result.is_floating_point() and not result.isfinite().all():
            value = result[~result.isfinite()][0].item()
            hides = "leave hiding to the mask" if value == -math.inf else "bound what is divided by or taken a root of"
            raise PluginError(
                f"{method} gives {value} at {first(~result.isfinite())} for {given}, and must be finite: {hides}"
            )


def fits(shape: tuple[int, ...], whole: tuple[int, int, int, int]) -> bool:
    """Whether a shape is `(B|1, H|1, Q, K)`, with all sizes of a whole one or 1 for its first two."""
    return shape[2:] == whole[2:] and all(size in (1, full) for size, full in zip(shape[:2], whole[:2], strict=True))


def in_pieces(length: int, pieces: tuple[int, ...]) -> Iterator[slice]:
    """Cut a length into pieces, one after another."""
    assert sum(pieces) == length
    start = 0
    for piece in pieces:
        yield slice(start, start + piece)
        start += piece
