"""Two projections with a ReLU between them: Vaswani et al. 2017, arXiv:1706.03762, equation 2."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

import framework as fw


class ReluMlp(fw.FeedForward):
    name = "relu_mlp"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.dropout = dims.feed_forward_dropout
        self.inner = fw.Linear(dims.d_model, dims.d_ff, bias=dims.projection_bias)
        self.outer = fw.Linear(dims.d_ff, dims.d_model, bias=dims.projection_bias)

    def forward(self, x: Tensor) -> Tensor:
        inner = fw.dropout(F.relu(self.inner(x)), self.dropout, self.training)  # (B, L, d_ff)
        return self.outer(inner)  # (B, L, D)


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return ReluMlp
