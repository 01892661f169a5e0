"""A prefix sees itself whole, the rest sees the past: Dong et al. 2019, arXiv:1905.03197; T5's arXiv:1910.10683, 3.2.1.

Within the prefix, a token is seen by the position that would say it: it is given, not said, and stays out of the
loss. When decoding, the prefix is read in one go; token by token, its first positions could not see its last. The
mask means the same at every site, in an encoder too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveInt
from torch import Tensor

import framework as fw


class Prefix(fw.Mask):
    name = "prefix"
    handles_causality = True

    class Options(fw.Options):
        length: PositiveInt
        """Positions of the prefix, counted from 0 and including what begins a sequence."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({"length": 2}, {"length": 1})

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        key = key_positions[:, None, None, :]
        return (key <= query_positions[:, None, :, None]) | (key < self.options.length)  # (B|1, 1, Q, K)

    def scored(self, positions: Tensor) -> Tensor:
        return positions >= self.options.length


@fw.hookimpl
def mask() -> type[fw.Mask]:
    return Prefix
