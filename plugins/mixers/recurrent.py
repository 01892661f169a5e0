"""Recurrent network, GRU (Cho et al. 2014, arXiv:1406.1078, section 2.3) or LSTM (Hochreiter and Schmidhuber 1997).

One layer whose hidden states are the output. In a decoder it reads forwards; in an encoder a second network of its
own weights reads backwards, and each gives half of the channels (Schuster and Paliwal 1997; Bahdanau et al. 2015,
arXiv:1409.0473, section 3.2). A network reads the real tokens one after the other, as if no padding stood between or
behind them. Gates have biases whatever `projection_bias` says; there is no other projection.

The cells are torch's. Its GRU resets behind the recurrent matrix, r ⊙ (U h + b), and Cho et al. before it, U (r ⊙ h)
(their eq. 8); its LSTM has the forget gate of Gers et al. 2000, which that of 1997 lacks.

Shapes: B batch, L positions, D d_model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn

import framework as fw

CELLS: Final = {"gru": nn.GRU, "lstm": nn.LSTM}


@dataclass(frozen=True, slots=True)
class Hidden(fw.State):
    """The network's state after the last real token."""

    parts: tuple[Tensor, ...]
    """h, and of an LSTM c as well, (1, B, D) each; none before the first position"""

    def reorder(self, beam: Tensor) -> Hidden:
        return Hidden(tuple(part.index_select(1, beam) for part in self.parts))


class Recurrent(fw.Mixer):
    name = "recurrent"
    sites = frozenset({fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF})

    class Options(fw.Options):
        cell: Literal["gru", "lstm"] = "gru"
        bidirectional: bool | None = None
        """Whether half of the channels read backwards; null means in an encoder, the only place where they may."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"cell": "lstm"}, {"bidirectional": False})

    def __init__(self, options: Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        if options.bidirectional and dims.causal:
            raise fw.SpecError(
                "bidirectional=true reads what comes after a position, which a decoder must not see: leave it out, "
                "and it holds in the encoder alone",
                path="model.mixer.options.bidirectional",
            )
        bidirectional = options.bidirectional is not False and not dims.causal
        if bidirectional and dims.d_model == 1:
            raise fw.SpecError(
                "d_model=1 leaves no channel to the network that reads backwards: set bidirectional: false, or raise "
                "model.d_model",
                path="model.mixer.options.bidirectional",
            )
        backward_width = dims.d_model // 2 if bidirectional else 0
        network = CELLS[options.cell]
        self.forwards = network(dims.d_model, dims.d_model - backward_width, batch_first=True)
        self.backwards = network(dims.d_model, backward_width, batch_first=True) if bidirectional else None

    def start(self) -> Hidden:
        return Hidden(())

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        if isinstance(state, Hidden):
            return self._continued(x, padding, state)
        order = torch.arange(x.size(1), device=x.device)  # (L,)
        y = _read(self.forwards, x, padding, order)
        if self.backwards is not None:
            y = torch.cat((y, _read(self.backwards, x, padding, order.flip(0))), dim=-1)
        return y, None  # (B, L, D)

    def _continued(self, x: Tensor, padding: Tensor, state: Hidden) -> tuple[Tensor, Hidden]:
        """Read on from a state, one position at a time, so that padding can leave it as it is."""
        zero = x.new_zeros(1, x.size(0), x.size(2))  # (1, B, D)
        hidden = state.parts or ((zero, zero) if self.options.cell == "lstm" else (zero,))
        outputs = []
        for p in range(x.size(1)):
            y, after = self.forwards(x[:, p : p + 1], hidden if self.options.cell == "lstm" else hidden[0])
            parts = after if self.options.cell == "lstm" else (after,)
            hidden = tuple(new.where(padding[:, p, None], old) for new, old in zip(parts, hidden, strict=True))
            outputs.append(y)
        return torch.cat(outputs, dim=1), Hidden(hidden)  # (B, L, D)


def _read(network: nn.RNNBase, x: Tensor, padding: Tensor, order: Tensor) -> Tensor:
    """Run over each row's real tokens in `order (L,)`, and over padding after them, where it changes nothing.

    Then each token's output returns to its place: `(B, L, D)` to `(B, L, width)`.
    """
    ranks = order.where(padding, len(order))  # (B, L)
    turn = ranks.argsort(dim=1, stable=True)  # (B, L): which token is read when
    y, _ = network(x.take_along_dim(turn[..., None], dim=1))  # (B, L, width)
    return y.take_along_dim(turn.argsort(dim=1)[..., None], dim=1)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Recurrent
