"""The part of a layer that mixes across channels."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from torch import Tensor, nn

from framework.contracts.dims import Dims
from framework.contracts.plugin import ModulePlugin
from framework.spec import Options


class FeedForward(ModulePlugin):
    """Mixes across channels, position by position. Built once per layer."""

    removes_sublayer: ClassVar[bool] = False
    """True for `none`: the sub-layer goes, with its residual and norm, and forward is never called."""

    def __init__(self, options: Options, dims: Dims) -> None:
        nn.Module.__init__(self)
        self.options = options

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Transform `x (B, L, D)` to `(B, L, D)`."""
