"""The mean of all that may be seen: Zhang et al. 2018, arXiv:1805.00631, equation 1, and a projection.

A working plugin to change into yours. This docstring's first line, which `ablate plugins list` shows, says what a
plugin is and where it comes from. To see what is wrong with it:

    ablate plugins check my_plugin.py

Shapes: B batch, L positions, D d_model; `B|1` is either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

import framework as fw


@dataclass(frozen=True, slots=True)
class Seen(fw.State):
    """What a decoder, which says one token at a time, remembers of those before."""

    total: Tensor | None = None
    """(B, 1, D), the sum of the real tokens; None before the first"""
    number: Tensor | None = None
    """(B, 1, 1), how many they are"""

    def reorder(self, beam: Tensor) -> Seen:
        """Give the state whose row r is this one's row `beam[r]`: a beam goes on with some of its rows."""
        if self.total is None or self.number is None:
            return self
        return Seen(self.total.index_select(0, beam), self.number.index_select(0, beam))


class MyPlugin(fw.Mixer):
    name = "my_plugin"
    takes = frozenset[str]()  # none of attention_score, mask, bias, rotation and attention_dropout
    sites = frozenset({fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF})  # not where one sequence reads another

    class Options(fw.Options):
        """What an experiment can set."""

        project: bool = True
        """Whether the mean is projected."""

    options: Options  # for type checkers

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        """Give the options that a check tries: one mapping for each way that the plugin computes."""
        return ({}, {"project": False})

    def __init__(self, options: Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.causal = dims.causal
        bias = dims.projection_bias
        self.output = fw.Linear(dims.d_model, dims.d_model, bias=bias) if options.project else None

    def start(self) -> Seen:
        """Give the state before the first position."""
        return Seen()

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        """Mix `x (B, L, D)`, with `padding (B, L)` True where a token is real: the same shape, and the next state.

        With a state, x holds only what follows; what is given must be what one pass over everything gives.
        """
        real = padding[..., None]  # (B, L, 1)
        total, number = x.masked_fill(~real, 0.0), real.long()
        if self.causal:
            total, number = total.cumsum(1), number.cumsum(1)  # (B, L, D), (B, L, 1)
        else:
            total, number = total.sum(1, keepdim=True), number.sum(1, keepdim=True)  # (B, 1, D), (B, 1, 1)
        if isinstance(state, Seen) and state.total is not None and state.number is not None:
            total, number = total + state.total, number + state.number
        y = (total / number.clamp(min=1)).expand_as(x)  # (B, L, D)
        if self.output is not None:
            y = self.output(y)
        return y, None if state is None else Seen(total[:, -1:], number[:, -1:])


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return MyPlugin
