"""The encoder-only Transformer of Devlin et al. 2019, arXiv:1810.04805, without its heads for classification.

Shapes: B batch, T length, D d_model, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor

from framework.contracts import Batch
from framework.model.embedding import Table
from framework.model.stack import Stack
from framework.model.transformer import Transformer, positions_of


class EncoderOnly(Transformer):
    """Scores the piece at every place of a sequence, whatever stands there. Tables as in `DecoderOnly`."""

    looks_ahead = 0

    def __init__(self, encoder: Stack, table: Table, output_table: Table | None = None) -> None:
        super().__init__()
        self.table = table
        self.output_table = output_table
        self.encoder = encoder

    @property
    def speaker(self) -> Stack:
        """See `Transformer.speaker`."""
        return self.encoder

    def forward(self, batch: Batch) -> Tensor:
        """Score the pieces of a batch's targets, given what its input shows of them: logits `(B, T, V)`."""
        embedded = self.table.embed(batch.target_input)  # (B, T, D)
        x, _ = self.encoder(embedded, positions_of(batch.target_input), batch.target_padding)
        return (self.table if self.output_table is None else self.output_table).logits(x)
