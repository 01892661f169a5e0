"""Two projections with a squared ReLU between them: So et al. 2021 (Primer), arXiv:2109.08668.

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: B batch, L positions, D d_model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch.nn.functional as F
from pydantic import PositiveInt
from torch import Tensor

import framework as fw


class MyPlugin(fw.FeedForward):
    name = "my_plugin"

    class Options(fw.Options):
        """What an experiment can set."""

        power: PositiveInt = 2
        """What the ReLU is raised to."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries: one mapping for each way that the plugin computes."""
        return ({}, {"power": 1}, {"power": 3})

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.dropout = dims.feed_forward_dropout
        self.inner = fw.Linear(dims.d_model, dims.d_ff, bias=dims.projection_bias)
        self.outer = fw.Linear(dims.d_ff, dims.d_model, bias=dims.projection_bias)

    def forward(self, x: Tensor) -> Tensor:
        """Transform `x (B, L, D)` to `(B, L, D)`, each position by itself."""
        inner = F.relu(self.inner(x)) ** self.options.power  # (B, L, d_ff)
        return self.outer(fw.dropout(inner, self.dropout, self.training))  # (B, L, D)


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return MyPlugin
