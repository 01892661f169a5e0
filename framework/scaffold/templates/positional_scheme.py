"""Sinusoids times a number that is learned: Li et al. 2019, arXiv:1809.08895, "scaled positional encoding".

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: B batch, L positions, D d_model; `B|1` is either.
"""

from __future__ import annotations

import math

import torch
from pydantic import PositiveFloat
from torch import Tensor, nn

import framework as fw


class MyPlugin(fw.PositionalScheme):
    name = "my_plugin"

    class Options(fw.Options):
        """What an experiment can set."""

        scale: PositiveFloat = 1.0
        """Where the number starts."""

    options: Options  # for type checkers

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.scale = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start the weights: called once per model, with a generator seeded by the trial's seed and this place."""
        nn.init.constant_(self.scale, self.options.scale)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Change the embeddings `x (B, L, D)` of tokens at `positions (B|1, L)` before the first layer.

        A scheme may also change queries and keys (`rotate`) or add to scores (`bias`): override what it uses.
        """
        channel = torch.arange(x.size(-1), device=x.device)  # (D,), on the device of what is given
        frequency = 10000.0 ** (-2.0 * (channel // 2).double() / x.size(-1))  # (D,)
        angle = positions[..., None] * frequency + (channel % 2) * (math.pi / 2)  # (B|1, L, D)
        return x + self.scale * angle.sin().to(x.dtype)  # (B, L, D)


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return MyPlugin
