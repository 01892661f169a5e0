"""Bilinear score q·W k, one W for each head: Luong et al. 2015, arXiv:1508.04025, section 3.1, "general".

Under the scheme `rotary`, W stands between the turn of the query and that of the key. At the start it is I·d_k^-0.5,
which commutes with them, and the score depends on the distance alone; as W learns, it also sees where the two stand.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import framework as fw


class Bilinear(fw.DotProductForm):
    name = "bilinear"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.weight = nn.Parameter(torch.empty(dims.num_heads, dims.d_k, dims.d_k))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        # W = I·d_k^-0.5 is the scaled dot product: what a row with this score does otherwise, W has learned. A random
        # W would start it elsewhere, and nothing needs breaking: the gradients of W's entries differ as they stand.
        nn.init.zeros_(self.weight)
        with torch.no_grad():
            self.weight.diagonal(dim1=1, dim2=2).fill_(self.weight.size(-1) ** -0.5)

    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return query @ self.weight, key  # (B, H, Q, d_k), (B, H, K, d_k)


@fw.hookimpl
def attention_score() -> type[fw.AttentionScore]:
    return Bilinear
