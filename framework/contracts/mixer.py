"""What stands in a site: the part of a layer that mixes across positions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from framework.contracts.attention_score import AttentionScore
from framework.contracts.dims import Dims, Site
from framework.contracts.mask import Mask
from framework.contracts.plugin import ModulePlugin
from framework.contracts.positional_scheme import PositionalScheme
from framework.spec import Options


@dataclass(frozen=True, slots=True)
class Parts:
    """The plugins that a mixer is handed."""

    score: AttentionScore
    mask: Mask
    scheme: PositionalScheme


class State(ABC):
    """What a mixer remembers of the positions it has seen, for decoding token by token."""

    @abstractmethod
    def reorder(self, beam: Tensor) -> State:
        """Give the state whose batch row r is this one's row `beam[r]` (integers, `(B',)`)."""


class Mixer(ModulePlugin):
    """Mixes across positions. Built once per site and layer."""

    takes: ClassVar[frozenset[str]] = frozenset()
    """Which of `attention_score`, `mask`, `bias`, `rotation` and `attention_dropout` it honours; asking for another
    is a SpecError, and a trial's key leaves it out.

    `bias` and `rotation` are what a positional scheme may do inside a mixer: its `bias` and its `rotate`.
    """

    sites: ClassVar[frozenset[Site]] = frozenset(Site)
    """Where it can stand; naming it elsewhere is a SpecError."""

    removes_sublayer: ClassVar[bool] = False
    """True for `none`: the sub-layer goes, with its residual and norm, and forward is never called."""

    def __init__(self, options: Options, dims: Dims, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.options = options

    @abstractmethod
    def start(self) -> State:
        """Give the state before the first position."""

    @abstractmethod
    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: State | None = None,
    ) -> tuple[Tensor, State | None]:
        """Mix `x (B, L, D)` at `positions (B|1, L)`: `(B, L, D)` and the next state.

        Padding is boolean `(B, L)`, True = real token. A cross site mixes in `memory (B, S, D)` with
        `memory_padding (B, S)`. With a state, `x` holds only the positions that follow those in the state,
        and the result is the same as that of one pass over all of them; without one there is none to give.
        """
