"""The model, loss and search of this project."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import torch
from torch import Tensor

from framework.contracts import EOS, Batch, Objective
from framework.evaluate.generate import generate
from framework.model import EncoderDecoder, StackState, assemble, initialize
from framework.registry import Registry
from framework.spec import DataSpec, EvaluateSpec, ModelSpec
from tests.framework.train.systems.system import ALPHA, BEAM, LABEL_SMOOTHING, Sizes, Translator


class Endless(EncoderDecoder):
    """Never says the end of its own accord: what random weights say ends anywhere."""

    def decode(self, *given: Any) -> tuple[Tensor, StackState | None]:
        logits, states = super().decode(*given)
        logits[..., EOS] = -1e9  # finite: the end is still possible where it has to come
        return logits, states


class Ours(Translator):
    name: ClassVar[str] = "this project"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        registry = Registry.load()

        def spec(kind: Any, **fields: Any) -> Any:
            return kind.model_validate_json(json.dumps(fields), context={"catalog": registry})

        tokenizer = {"vocabulary_size": sizes.vocabulary}
        self._model = assemble(
            spec(
                ModelSpec,
                d_model=sizes.d_model,
                d_ff=sizes.d_ff,
                num_heads=sizes.num_heads,
                num_layers=sizes.num_layers,
                dropout=sizes.dropout,
            ),
            spec(DataSpec, corpus="toy_translation", tokenizer=tokenizer),
            registry,
        )
        initialize(self._model, seed=0)
        self.model = self._model.train()
        objective = registry.plugin("objective", "translation")
        self._objective: Objective = objective(objective.Options())

    def logits(self, batch: Batch) -> Tensor:
        logits: Tensor = self._model(batch)
        return logits

    def loss(self, batch: Batch) -> Tensor:
        summed, tokens = self._objective.loss(self.logits(batch), batch, LABEL_SMOOTHING)
        return summed / tokens

    def translate(self, source: Tensor, pieces: int) -> list[list[int]]:
        assert isinstance(self._model, EncoderDecoder)
        endless = Endless(self._model.encoder, self._model.decoder, self._model.source_table)
        spec = EvaluateSpec(
            beam_size=BEAM,
            length_penalty=ALPHA,
            max_extra_tokens=pieces - source.size(1),
            batch_tokens=2 * source.numel(),  # all in one batch, their ends included
        )
        return generate(endless, self._objective, list(torch.unbind(source)), spec).pieces
