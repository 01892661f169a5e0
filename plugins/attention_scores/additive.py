"""Additive score v·tanh(W q + U k): Bahdanau et al. 2015, arXiv:1409.0473, appendix A.1.2.

Per head: the mixer's query and key projections are Bahdanau's W_a and U_a, and each head has its own v_a.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import framework as fw


class Additive(fw.AttentionScore):
    name = "additive"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.v = nn.Parameter(torch.empty(dims.num_heads, dims.d_k))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        # Xavier-uniform for a map of d_k channels to one score, as the model's projections start.
        bound = (6 / (self.v.size(1) + 1)) ** 0.5
        nn.init.uniform_(self.v, -bound, bound)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        pairs = torch.tanh(query[:, :, :, None] + key[:, :, None])  # (B, H, Q, K, d_k)
        return (pairs @ self.v[:, None, :, None]).squeeze(-1)  # (B, H, Q, K)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Additive
