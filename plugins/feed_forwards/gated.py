"""Gated linear unit (f(xW) ⊙ xV)·W2, with f = SiLU the SwiGLU: Shazeer 2020, arXiv:2002.05202, equation 6.

It has three matrices where an MLP has two: two thirds of the MLP's d_ff give them as many entries. The paper's has
no biases; `model.projection_bias: false` leaves them out here, and then the parameters are as many too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

import framework as fw

ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = MappingProxyType(
    {"silu": F.silu, "gelu": F.gelu, "relu": F.relu, "sigmoid": torch.sigmoid}
)


class Gated(fw.FeedForward):
    name = "gated"

    class Options(fw.Options):
        activation: Literal["silu", "gelu", "relu", "sigmoid"] = "silu"
        """What the gate passes through: the paper's SwiGLU, GEGLU, ReGLU or GLU."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({"activation": activation} for activation in ACTIVATIONS)

    def __init__(self, options: Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.dropout = dims.feed_forward_dropout
        self.gate = fw.Linear(dims.d_model, dims.d_ff, bias=dims.projection_bias)
        self.inner = fw.Linear(dims.d_model, dims.d_ff, bias=dims.projection_bias)
        self.outer = fw.Linear(dims.d_ff, dims.d_model, bias=dims.projection_bias)

    def forward(self, x: Tensor) -> Tensor:
        gate = ACTIVATIONS[self.options.activation](self.gate(x))  # (B, L, d_ff)
        inner = fw.dropout(gate * self.inner(x), self.dropout, self.training)  # (B, L, d_ff)
        return self.outer(inner)  # (B, L, D)


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return Gated
