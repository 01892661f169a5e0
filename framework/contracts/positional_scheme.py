"""How a model knows where a token stands."""

from __future__ import annotations

from torch import Tensor, nn

from framework.contracts.dims import Dims
from framework.contracts.plugin import ModulePlugin
from framework.spec import Options


class PositionalScheme(ModulePlugin):
    """Positions enter at one or more of three places; a scheme overrides those it uses.

    Positions are integers of shape `(B|1, L)`, counted from 0. Built once per stack. `rotate` and `bias`
    act in self-attention only.
    """

    def __init__(self, options: Options, dims: Dims) -> None:
        nn.Module.__init__(self)
        self.options = options

    @property
    def max_positions(self) -> int | None:
        """Positions that the scheme can tell apart, or None where there is no limit."""
        return None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Change the scaled embeddings `x (B, L, D)` before the first layer."""
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Change projected queries or keys `x (B, H, L, d_k)`, once, before they are cached."""
        return x

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        """Give what is added to the scores: `(B|1, H|1, Q, K)`, or None for nothing."""
        return None
