"""Dot product divided by a temperature that each head learns: Lee et al. 2021, arXiv:2112.13492.

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: B batch, H heads, Q query length, K key length, d_k a head's width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import PositiveFloat
from torch import Tensor, nn

import framework as fw


class MyPlugin(fw.AttentionScore):
    name = "my_plugin"

    class Options(fw.Options):
        """What an experiment can set."""

        temperature: PositiveFloat | None = None
        """Where each head's starts; null means √d_k, as in the scaled dot product."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries: one mapping for each way that the plugin computes."""
        return ({}, {"temperature": 1.0})

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.temperature = options.temperature or dims.d_k**0.5
        self.log_temperature = nn.Parameter(torch.empty(dims.num_heads, 1, 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start the weights: called once per model, with a generator seeded by the trial's seed and this place."""
        nn.init.constant_(self.log_temperature, math.log(self.temperature))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Score `query (B, H, Q, d_k)` against `key (B, H, K, d_k)`, entry (i, j) from query i and key j alone.

        Masks, softmax, dropout and values are the framework's part.
        """
        return query @ key.transpose(-2, -1) * torch.exp(-self.log_temperature)  # (B, H, Q, K)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return MyPlugin
