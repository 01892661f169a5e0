"""`torch.nn.Transformer`, which has neither embeddings nor logits: they are added as in the paper."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from framework.contracts import Batch
from tests.framework.train.systems.system import Sizes, System


class TorchNN(System):
    name: ClassVar[str] = "torch.nn.Transformer"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self._transformer = nn.Transformer(
            sizes.d_model,
            sizes.num_heads,
            sizes.num_layers,
            sizes.num_layers,
            sizes.d_ff,
            sizes.dropout,
            batch_first=True,
        )
        for module in self._transformer.modules():  # it drops in two more places than the paper
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0  # between the two products of the feed-forward
        self._table = nn.Embedding(sizes.vocabulary, sizes.d_model)
        nn.init.normal_(self._table.weight, std=sizes.d_model**-0.5)
        self._positions = nn.Embedding(512, sizes.d_model).requires_grad_(False)
        self._dropout = nn.Dropout(sizes.dropout)
        self.model = nn.ModuleList([self._transformer, self._table, self._positions, self._dropout])

    def _embed(self, ids: Tensor) -> Tensor:
        scaled = self._table(ids) * self.sizes.d_model**0.5
        return self._dropout(scaled + self._positions(torch.arange(ids.size(1))))  # (B, L, D)

    def logits(self, batch: Batch) -> Tensor:
        assert batch.source is not None
        assert batch.source_padding is not None
        length = batch.target_input.size(1)
        x = self._transformer(
            self._embed(batch.source),
            self._embed(batch.target_input),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),  # True = hidden
            src_key_padding_mask=~batch.source_padding,
            tgt_key_padding_mask=~batch.target_padding,
            memory_key_padding_mask=~batch.source_padding,
        )
        return F.linear(x, self._table.weight)
