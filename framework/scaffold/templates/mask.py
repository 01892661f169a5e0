"""Every so many positions one may be seen: Child et al. 2019, arXiv:1904.10509, "strided attention".

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: B batch, H heads, Q query length, K key length; `B|1` is either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveInt
from torch import Tensor

import framework as fw


class MyPlugin(fw.Mask):
    name = "my_plugin"

    class Options(fw.Options):
        """What an experiment can set."""

        stride: PositiveInt = 2
        """Steps from one position that may be seen to the next; 1 hides nothing."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries: one mapping for each way that the plugin computes."""
        return ({}, {"stride": 1}, {"stride": 3})

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Say who may see whom, by positions `(B|1, Q)` and `(B|1, K)`: a boolean `(B|1, H|1, Q, K)`, True = may.

        Padding, and in a decoder causality, are the framework's part.
        """
        steps = query_positions[:, None, :, None] - key_positions[:, None, None, :]  # (B|1, 1, Q, K)
        return steps % self.options.stride == 0


@fw.hookimpl
def mask() -> type[fw.Mask]:
    return MyPlugin
