"""The encoder-decoder Transformer of Vaswani et al. 2017, arXiv:1706.03762, figure 1.

Shapes: B batch, S source length, T target length, L length of what is decoded now, D d_model, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor

from framework.contracts import Batch
from framework.model.embedding import Table
from framework.model.stack import Stack, StackState
from framework.model.transformer import GenerativeTransformer, positions_of


class EncoderDecoder(GenerativeTransformer):
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
    def speaker(self) -> Stack:
        """See `Transformer.speaker`."""
        return self.decoder

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """See `GenerativeTransformer.read`."""
        assert batch.source is not None, "the objective fits the architecture"
        assert batch.source_padding is not None, "the objective fits the architecture"
        return self.encode(batch.source, batch.source_padding), batch.source_padding

    def encode(self, source: Tensor, source_padding: Tensor) -> Tensor:
        """Read `source (B, S)` with its padding `(B, S)`, True = real token: the memory `(B, S, D)`."""
        memory, _ = self.encoder(self.source_table.embed(source), positions_of(source), source_padding)
        return memory

    def decode(
        self,
        target: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        states: StackState | None = None,
    ) -> tuple[Tensor, StackState | None]:
        """See `GenerativeTransformer.decode`."""
        target_table = self.source_table if self.target_table is None else self.target_table
        output_table = self.source_table if self.output_table is None else self.output_table
        x, states = self.decoder(target_table.embed(target), positions, padding, memory, memory_padding, states)
        return output_table.logits(x), states
