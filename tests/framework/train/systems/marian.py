"""Marian, as Hugging Face's transformers builds it, with PyTorch's fused attention: its default."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from framework.contracts import BOS, EOS, PAD, Batch
from tests.framework.train.systems.system import ALPHA, BEAM, Sizes, Translator


class Marian(Translator):
    name: ClassVar[str] = "Marian (Hugging Face)"
    packages: ClassVar[tuple[str, ...]] = ("transformers",)

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        config = MarianConfig(
            vocab_size=sizes.vocabulary,
            d_model=sizes.d_model,
            encoder_layers=sizes.num_layers,
            decoder_layers=sizes.num_layers,
            encoder_attention_heads=sizes.num_heads,
            decoder_attention_heads=sizes.num_heads,
            encoder_ffn_dim=sizes.d_ff,
            decoder_ffn_dim=sizes.d_ff,
            dropout=sizes.dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            activation_function="relu",
            scale_embedding=True,
            max_position_embeddings=512,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
        )
        self._model: Any = MarianMTModel(config)
        self.model = self._model.train()

    def logits(self, batch: Batch) -> Tensor:
        assert batch.source_padding is not None
        logits: Tensor = self._model(
            input_ids=batch.source,
            attention_mask=batch.source_padding.long(),
            decoder_input_ids=batch.target_input,
            decoder_attention_mask=batch.target_padding.long(),
            use_cache=False,
        ).logits
        return logits

    def translate(self, source: Tensor, pieces: int) -> list[list[int]]:
        self._model.eval()
        found = self._model.generate(
            source,
            attention_mask=source.new_ones(source.shape),
            num_beams=BEAM,
            length_penalty=ALPHA,
            min_new_tokens=pieces,
            max_new_tokens=pieces,
            do_sample=False,
        )
        return [row[1:] for row in found.tolist()]  # without what it started from
