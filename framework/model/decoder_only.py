"""The decoder-only Transformer of Liu et al. 2018, arXiv:1801.10198, section 4.2.3, and of the GPTs.

Shapes: B batch, L length, S source length, D d_model, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor

from framework.contracts import Batch
from framework.model.embedding import Table
from framework.model.stack import Stack, StackState
from framework.model.transformer import GenerativeTransformer


class DecoderOnly(GenerativeTransformer):
    """Scores every next piece of one sequence. Without a table of their own, the logits use the input's."""

    def __init__(self, decoder: Stack, table: Table, output_table: Table | None = None) -> None:
        super().__init__()
        self.table = table
        self.output_table = output_table
        self.decoder = decoder

    @property
    def speaker(self) -> Stack:
        """See `Transformer.speaker`."""
        return self.decoder

    def read(self, batch: Batch) -> tuple[None, None]:
        """See `GenerativeTransformer.read`: the source, if any, stands in the sequence itself."""
        return None, None

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
        x, states = self.decoder(self.table.embed(target), positions, padding, state=states)
        return (self.table if self.output_table is None else self.output_table).logits(x), states
