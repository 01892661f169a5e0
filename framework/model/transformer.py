"""The encoder-decoder Transformer of Vaswani et al. 2017, arXiv:1706.03762, figure 1.

Shapes: B batch, S source length, T target length, L length of what is decoded now, D d_model, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from framework.contracts import Batch
from framework.model.embedding import Table
from framework.model.stack import Stack, StackState


class Transformer(nn.Module):
    """Reads a source sequence and scores every next piece of a target sequence.

    Without tables of its own, the target side and the logits use the source's: the tied table is one
    parameter under one name.
    """

    def __init__(
        self,
        encoder: Stack,
        decoder: Stack,
        source_table: Table,
        target_table: Table | None = None,
        output_table: Table | None = None,
    ) -> None:
        super().__init__()
        self.source_table = source_table
        self.target_table = target_table
        self.output_table = output_table
        self.encoder = encoder
        self.decoder = decoder

    @property
    def max_positions(self) -> int | None:
        """Positions that both stacks' schemes can tell apart, or None where there is no limit."""
        limits = (self.encoder.scheme.max_positions, self.decoder.scheme.max_positions)
        return min((limit for limit in limits if limit is not None), default=None)

    def forward(self, batch: Batch) -> Tensor:
        """Score each next piece of a batch's targets, given the true ones before it: logits `(B, T, V)`."""
        memory = self.encode(batch.source, batch.source_padding)  # (B, S, D)
        positions = _positions(batch.target_input)
        logits, _ = self.decode(batch.target_input, positions, batch.target_padding, memory, batch.source_padding)
        return logits

    def encode(self, source: Tensor, source_padding: Tensor) -> Tensor:
        """Read `source (B, S)` with its padding `(B, S)`, True = real token: the memory `(B, S, D)`."""
        memory, _ = self.encoder(self.source_table.embed(source), _positions(source), source_padding)
        return memory

    def start(self) -> StackState:
        """Give the decoder's state before the first position, to be passed to `decode`."""
        return self.decoder.start()

    def decode(
        self,
        target: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor,
        memory_padding: Tensor,
        states: StackState | None = None,
    ) -> tuple[Tensor, StackState | None]:
        """Score the piece after each of `target (B, L)` at `positions (1, L)`: logits `(B, L, V)` and the next states.

        `padding (B, L)` and `memory_padding (B, S)` are True at real tokens. With states, `target`, `positions`
        and `padding` are those of the new positions only, and the logits are the same as in one pass over all
        of them; without, there are none to give.
        """
        target_table = self.source_table if self.target_table is None else self.target_table
        output_table = self.source_table if self.output_table is None else self.output_table
        x, states = self.decoder(target_table.embed(target), positions, padding, memory, memory_padding, states)
        return output_table.logits(x), states


def num_parameters(model: nn.Module) -> int:
    """Count the trainable numbers; a tied table counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def _positions(ids: Tensor) -> Tensor:
    return torch.arange(ids.size(1), device=ids.device)[None]  # (1, L)
