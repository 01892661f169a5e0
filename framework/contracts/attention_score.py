"""How well a key answers a query: the number before the softmax."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn

from framework.contracts.dims import Dims
from framework.contracts.plugin import ModulePlugin
from framework.spec import Options


class AttentionScore(ModulePlugin):
    """Scores every pair of a query and a key, head by head.

    Entry (i, j) depends on query i and key j only: so no score can leak the future, and cached decoding
    is exact. Masks, softmax, dropout and values belong to the framework. Scores are finite for finite input.
    Built once per site and layer.
    """

    def __init__(self, options: Options, dims: Dims) -> None:
        nn.Module.__init__(self)
        self.options = options

    @abstractmethod
    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Score `query (B, H, Q, d_k)` against `key (B, H, K, d_k)`: `(B, H, Q, K)`."""


class DotProductForm(AttentionScore):
    """A score that is a dot product of transformed vectors: score(i, j) = query'_i · key'_j.

    The framework then calls PyTorch's fused attention with scale 1 and builds no (Q, K) scores, unless it needs the
    weights themselves, or keys are so few that scores cost less.
    """

    @abstractmethod
    def features(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Transform `(B, H, Q, d_k)` and `(B, H, K, d_k)` to `(B, H, Q, F)` and `(B, H, K, F)`."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        query, key = self.features(query, key)
        return query @ key.transpose(-2, -1)  # (B, H, Q, K)
