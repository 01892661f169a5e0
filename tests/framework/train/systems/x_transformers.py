"""x-transformers, built of its encoder and decoder: its `XTransformer` cannot tie the logits to the table."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn
from x_transformers import Decoder, Encoder, TransformerWrapper

from framework.contracts import Batch
from tests.framework.train.systems.system import Sizes, System


class XTransformers(System):
    name: ClassVar[str] = "x-transformers"
    packages: ClassVar[tuple[str, ...]] = ("x-transformers",)

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        layers: dict[str, Any] = {
            "dim": sizes.d_model,
            "depth": sizes.num_layers,
            "heads": sizes.num_heads,
            "attn_dim_head": sizes.d_model // sizes.num_heads,
            "attn_flash": True,
            "attn_sublayer_dropout": sizes.dropout,
            "ff_mult": sizes.d_ff / sizes.d_model,
            "ff_custom_activation": nn.ReLU(),
            "ff_sublayer_dropout": sizes.dropout,
            "pre_norm": False,
        }
        around: dict[str, Any] = {
            "num_tokens": sizes.vocabulary,
            "max_seq_len": 512,
            "emb_dropout": sizes.dropout,
            "scaled_sinu_pos_emb": True,
        }
        self._encoder = TransformerWrapper(attn_layers=Encoder(**layers), return_only_embed=True, **around)
        self._decoder = TransformerWrapper(
            attn_layers=Decoder(**layers, cross_attend=True), tie_embedding=True, **around
        )
        self._decoder.token_emb = self._encoder.token_emb
        self.model = nn.ModuleList([self._encoder, self._decoder])

    def logits(self, batch: Batch) -> Tensor:
        memory = self._encoder(batch.source, mask=batch.source_padding, return_embeddings=True)
        logits: Tensor = self._decoder(
            batch.target_input, mask=batch.target_padding, context=memory, context_mask=batch.source_padding
        )
        return logits
