"""Two projections with a GELU between them, as in BERT and GPT: Hendrycks and Gimpel 2016, arXiv:1606.08415.

GELU(x) = x·Φ(x) with the normal distribution Φ itself, not one of the paper's approximations by tanh or a sigmoid;
GPT's code has the one by tanh.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

import framework as fw


class GeluMlp(fw.FeedForward):
    name = "gelu_mlp"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.dropout = dims.feed_forward_dropout
        self.inner = fw.Linear(dims.d_model, dims.d_ff, bias=dims.projection_bias)
        self.outer = fw.Linear(dims.d_ff, dims.d_model, bias=dims.projection_bias)

    def forward(self, x: Tensor) -> Tensor:
        inner = fw.dropout(F.gelu(self.inner(x)), self.dropout, self.training)  # (B, L, d_ff)
        return self.outer(inner)  # (B, L, D)


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return GeluMlp
