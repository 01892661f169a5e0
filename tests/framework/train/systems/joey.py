"""JoeyNMT."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from joeynmt.model import build_model
from joeynmt.search import beam_search
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward
from joeynmt.vocabulary import Vocabulary
from torch import Tensor

from framework.contracts import Batch
from tests.framework.train.systems.system import ALPHA, BEAM, Sizes, Translator

_SPECIAL = {"unk": 0, "pad": 1, "bos": 2, "eos": 3}


class Joey(Translator):
    name: ClassVar[str] = "JoeyNMT"
    packages: ClassVar[tuple[str, ...]] = ("joeynmt",)

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        stack = {
            "type": "transformer",
            "embeddings": {"embedding_dim": sizes.d_model, "scale": True, "dropout": sizes.dropout},
            "hidden_size": sizes.d_model,
            "ff_size": sizes.d_ff,
            "num_layers": sizes.num_layers,
            "num_heads": sizes.num_heads,
            "dropout": sizes.dropout,
            "layer_norm": "post",
        }
        names = {f"{name}_token": f"<{name}>" for name in _SPECIAL} | {f"{name}_id": i for name, i in _SPECIAL.items()}
        words = [str(i) for i in range(len(_SPECIAL), sizes.vocabulary)]
        vocabulary = Vocabulary(words, SimpleNamespace(**names, sep_token=None, lang_tags=[]))
        config = {"encoder": stack, "decoder": stack, "tied_embeddings": True, "tied_softmax": True}
        self._model: Any = build_model(config, vocabulary, vocabulary)
        for module in self._model.modules():  # it drops in two more places than the paper
            if isinstance(module, MultiHeadedAttention):
                module.dropout.p = 0.0
            if isinstance(module, PositionwiseFeedForward):
                module.pwff_layer[2].p = 0.0  # between its two products
        self.model = self._model.train()

    def _read(self, source: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        mask = padding[:, None]  # (B, 1, S)
        memory, _, _, _ = self._model(return_type="encode", src=source, src_length=padding.sum(1), src_mask=mask)
        return memory, mask

    def logits(self, batch: Batch) -> Tensor:
        assert batch.source is not None
        assert batch.source_padding is not None
        memory, mask = self._read(batch.source, batch.source_padding)
        logits: Tensor = self._model(
            return_type="decode",
            encoder_output=memory,
            encoder_hidden=None,
            src_mask=mask,
            trg_input=batch.target_input,
            unroll_steps=None,
            trg_mask=batch.target_padding[:, None],
        )[0]
        return logits

    def translate(self, source: Tensor, pieces: int) -> list[list[int]]:
        self._model.eval()
        with torch.no_grad():
            memory, mask = self._read(source, torch.ones_like(source, dtype=torch.bool))
            found, _, _ = beam_search(self._model, BEAM, memory, None, mask, pieces, ALPHA, min_output_length=pieces)
        outputs: list[list[int]] = found.tolist()
        return outputs
