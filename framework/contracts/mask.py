"""Which positions a position may see."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from framework.contracts.dims import Dims
from framework.contracts.plugin import ModulePlugin
from framework.spec import Options


class Mask(ModulePlugin):
    """A boolean rule over positions; True = may attend.

    The framework ANDs it with padding and, in the decoder's self site, with causality.
    """

    handles_causality: ClassVar[bool] = False
    """True for a mask that lets some positions see the future on purpose; causality is then its own affair."""

    def __init__(self, options: Options, dims: Dims) -> None:
        nn.Module.__init__(self)
        self.options = options

    @abstractmethod
    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        """Say who may see whom.

        From positions `(B|1, Q)` and `(B|1, K)`: a boolean `(B|1, H|1, Q, K)`, or None where all is allowed.
        """

    def scored(self, positions: Tensor) -> Tensor:
        """Say which tokens, by the positions `(B|1, L)` where they stand, enter the loss: a boolean of that shape.

        A mask that lets tokens be seen by those that say them leaves these out. In a decoder, which says the
        token after each position, what is said at position p stands at p + 1.
        """
        return torch.ones_like(positions, dtype=torch.bool)
