"""A task, a model and a training so small that a test can run them to the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from framework.contracts import Corpus, Objective, Pair
from framework.data.prepare import prepare
from framework.data.prepared import PreparedData
from framework.model.assemble import assemble, initialize
from framework.model.transformer import Transformer
from framework.registry import Registry
from framework.spec import Component, DataSpec, ModelSpec, TokenizerSpec, TrainSpec
from framework.train.loop import Training
from plugins.objectives.translation import Translation


class Copying(Corpus):
    """Sixteen lines that are their own translation; one has a ligature that NFKC would rewrite, one is empty."""

    name = "copying"

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev")

    def pairs(self, split: str) -> Iterable[Pair]:
        letters = random.Random(0)
        lines = ["the ﬁrst of many lines", ""]
        lines += ["".join(letters.choice("abcdefgh ") for _ in range(letters.randint(3, 12))) for _ in range(14)]
        return [Pair(line, line) for line in lines]


class Workshop:
    """Makes what a test needs, all of it from one data set and one base spec."""

    def __init__(self, folder: Path, make: Callable[..., Any], registry: Registry) -> None:
        self.registry = registry
        self._make = make
        corpus = Copying(Copying.Options(), folder)
        component = Component.model_construct(name=corpus.name, options=corpus.options)
        self.data_spec = DataSpec(corpus=component, tokenizer=TokenizerSpec(vocabulary_size=260), max_pieces=40)
        self.data: PreparedData = prepare(self.data_spec, corpus, folder / "data")
        self.objective: Objective = Translation(Translation.Options())

    def model(self, seed: int = 1, **fields: Any) -> Transformer:
        base = {"d_model": 32, "d_ff": 64, "num_layers": 1, "num_heads": 2}
        spec: ModelSpec = self._make(ModelSpec, **(base | fields))
        model = assemble(spec, self.data_spec, self.registry)
        initialize(model, seed)
        return model

    def train_spec(self, **fields: Any) -> TrainSpec:
        base = {"steps": 200, "batch_tokens": 128, "warmup_steps": 40, "learning_rate_factor": 0.3}
        spec: TrainSpec = self._make(TrainSpec, **(base | fields))
        return spec

    def training(self, model: Transformer | None = None, seed: int = 1, **fields: Any) -> Training:
        return Training(
            model or self.model(), self.objective, self.train_spec(**fields), 32, self.data.split("train"), seed
        )
