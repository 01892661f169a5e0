"""A stack of layers, encoder's or decoder's, and what it remembers while decoding.

Shapes: B batch, L length, S source length, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torch import Tensor, nn

from framework.contracts import PositionalScheme, State
from framework.model.dropout import Dropout
from framework.model.layers import FeedForwardSubLayer, MixingSubLayer


@dataclass(frozen=True, slots=True)
class LayerState(State):
    """One state per site of a layer; None at a site that was removed."""

    own: State | None
    cross: State | None

    def reorder(self, beam: Tensor) -> LayerState:
        """See `State.reorder`."""
        return LayerState(
            own=None if self.own is None else self.own.reorder(beam),
            cross=None if self.cross is None else self.cross.reorder(beam),
        )


@dataclass(frozen=True, slots=True)
class StackState(State):
    """One state per layer."""

    layers: tuple[LayerState, ...]

    def reorder(self, beam: Tensor) -> StackState:
        """See `State.reorder`."""
        return StackState(tuple(layer.reorder(beam) for layer in self.layers))


class Layer(nn.Module):
    """Mix within the sequence, mix in the memory, transform the channels; any of them may be absent."""

    def __init__(
        self,
        self_mixing: MixingSubLayer | None,
        cross_mixing: MixingSubLayer | None,
        feed_forward: FeedForwardSubLayer | None,
    ) -> None:
        super().__init__()
        self.self_mixing = self_mixing
        self.cross_mixing = cross_mixing
        self.feed_forward = feed_forward

    def start(self) -> LayerState:
        """Give the state before the first position."""
        return LayerState(
            own=None if self.self_mixing is None else self.self_mixing.mixer.start(),
            cross=None if self.cross_mixing is None else self.cross_mixing.mixer.start(),
        )

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: LayerState | None = None,
    ) -> tuple[Tensor, LayerState | None]:
        """As `Mixer.forward`, through all sub-layers."""
        own, cross = (None, None) if state is None else (state.own, state.cross)
        if self.self_mixing is not None:
            x, own = self.self_mixing(x, positions, padding, state=own)
        if self.cross_mixing is not None:
            x, cross = self.cross_mixing(x, positions, padding, memory, memory_padding, cross)
        if self.feed_forward is not None:
            x = self.feed_forward(x)
        return x, None if state is None else LayerState(own, cross)


class Stack(nn.Module):
    """Positions and dropout on the embeddings, the layers, and a last norm where layers do not end in one."""

    def __init__(
        self,
        scheme: PositionalScheme,
        layers: Iterable[Layer],
        final_norm: nn.Module,
        dropout: float,
        scored: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.scored = scored
        """As `Mask.scored`, of the mask that its layers mix under."""
        self.scheme = scheme
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm

    def start(self) -> StackState:
        """Give the state before the first position."""
        return StackState(tuple(layer.start() for layer in self._layers()))

    def forward(
        self,
        embedded: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: StackState | None = None,
    ) -> tuple[Tensor, StackState | None]:
        """As `Mixer.forward`, from scaled embeddings `(B, L, D)` through all layers."""
        x = self.dropout(self.scheme.embed(embedded, positions))
        befores = [None] * len(self.layers) if state is None else state.layers
        afters = []
        for layer, before in zip(self._layers(), befores, strict=True):
            x, after = layer(x, positions, padding, memory, memory_padding, before)
            afters.append(after)
        return self.final_norm(x), None if state is None else StackState(tuple(afters))

    def _layers(self) -> Iterator[Layer]:
        for layer in self.layers:
            assert isinstance(layer, Layer)
            yield layer
