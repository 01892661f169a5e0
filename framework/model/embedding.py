"""From ids to vectors, and from vectors to logits over the vocabulary.

Shapes: B batch, L length, D d_model, V vocabulary.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Table(nn.Module):
    """A vocabulary's vectors `(V, D)`, which may serve source, target and logits at once.

    Vaswani et al. 2017, arXiv:1706.03762, section 3.4, after Press and Wolf 2017, arXiv:1608.05859. Entries
    start from N(0, 1/D), so that embeddings, times √D, and logits both start with unit variance.
    """

    def __init__(self, vocabulary_size: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary_size, d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.weight.is_meta:
            return  # nothing to fill, and to draw normal numbers without storage torch imports its compiler
        nn.init.normal_(self.weight, std=self.weight.size(1) ** -0.5)

    def embed(self, ids: Tensor) -> Tensor:
        """Look `ids (B, L)` up and scale by √D: `(B, L, D)`."""
        return F.embedding(ids, self.weight) * self.weight.size(1) ** 0.5  # (B, L, D)

    def logits(self, x: Tensor) -> Tensor:
        """Score every piece for each of `x (B, L, D)`: `(B, L, V)`. There is no bias."""
        return F.linear(x, self.weight)  # (B, L, V)
