"""The encoder's last state alone crosses to the decoder: Sutskever et al. 2014, arXiv:1409.3215; Cho et al. 2014.

Every position of the decoder gets the same thing, a linear map of the memory at the source's last real position, as
Cho et al. (arXiv:1406.1078, section 2.2) give their summary c to every step, and nothing else of the source. So
d_model numbers must hold the whole sentence, however long. Both papers' encoders read one way, so that the last state
has read everything: set `bidirectional: false` for a `recurrent` encoder, as the half of its channels that reads
backwards has at that position read one token.

Shapes: B batch, L positions of the decoder, S source length, D d_model.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

import framework as fw


@dataclass(frozen=True, slots=True)
class Summary(fw.State):
    """What the decoder is told of the source."""

    vector: Tensor | None
    """(B, 1, D), projected; None before the first position"""

    def reorder(self, beam: Tensor) -> Summary:
        return Summary(None if self.vector is None else self.vector.index_select(0, beam))


class Bottleneck(fw.Mixer):
    name = "bottleneck"
    sites = frozenset({fw.Site.DECODER_CROSS})

    def __init__(self, options: fw.Options, dims: fw.Dims, parts: fw.Parts) -> None:
        super().__init__(options, dims, parts)
        self.output = fw.Linear(dims.d_model, dims.d_model, bias=dims.projection_bias)

    def start(self) -> Summary:
        return Summary(None)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        state: fw.State | None = None,
    ) -> tuple[Tensor, fw.State | None]:
        if isinstance(state, Summary) and state.vector is not None:
            vector = state.vector
        else:
            assert memory is not None, "a cross site has a memory"
            assert memory_padding is not None, "a cross site has a memory"
            vector = self.output(_last_real(memory, memory_padding))  # (B, 1, D)
        return vector.expand(-1, x.size(1), -1), None if state is None else Summary(vector)  # (B, L, D)


def _last_real(memory: Tensor, padding: Tensor) -> Tensor:
    """Pick each row's vector at its last real position, zero where a row has none: `(B, 1, D)`."""
    numbers = torch.arange(1, memory.size(1) + 1, device=memory.device)  # (S,)
    last = (padding * numbers).amax(1)[:, None, None]  # (B, 1, 1), counted from 1
    index = (last - 1).clamp(min=0).expand(-1, 1, memory.size(2))  # (B, 1, D)
    return memory.gather(1, index).masked_fill(last == 0, 0.0)  # (B, 1, D)


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return Bottleneck
