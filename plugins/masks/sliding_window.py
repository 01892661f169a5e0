"""Near positions may be seen, far ones not: Beltagy et al. 2020, arXiv:2004.05150, section 3.1, "sliding window".

In a decoder, causality leaves the backward half of the window. At a cross site the mask compares positions of two
sequences: target position t sees source positions t - window to t + window, and nothing where the source has none of
them. It hides far positions; the work on them is not saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt
from torch import Tensor

import framework as fw


class SlidingWindow(fw.Mask):
    name = "sliding_window"

    class Options(fw.Options):
        window: NonNegativeInt
        """How many positions to each side may be seen, beside a position itself; the paper's w is twice that."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({"window": 2}, {"window": 0})

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        distance = (query_positions[:, None, :, None] - key_positions[:, None, None, :]).abs()  # (B|1, 1, Q, K)
        return distance <= self.options.window


@fw.hookimpl
def mask() -> type[fw.Mask]:
    return SlidingWindow
