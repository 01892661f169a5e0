"""How fast a row's trials would go on this machine: a few real updates, and a few sentences decoded."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Final

import torch

from framework.contracts import Objective
from framework.cost.pace import Pace, forward_seconds
from framework.data.prepared import PreparedData, PreparedSplit
from framework.evaluate.generate import generate
from framework.evaluate.metrics import GENERATED, chosen_metrics
from framework.model.assemble import assemble, initialize
from framework.model.transformer import GenerativeTransformer, Transformer
from framework.registry import Registry
from framework.spec import EvaluateSpec, TrialSpec
from framework.train.loop import Training
from framework.trial import data_folder

UPDATES: Final = 10
"""Timed at most, behind one that is not."""
SECONDS: Final = 3.0
"""Spent on one size of batch, unless a single update takes longer, and on decoding likewise."""
FIRST_TOKENS: Final = 1000
"""The batch to begin with: on a slow machine a whole one might take minutes, and more memory than there is."""
GROWTH: Final = 5
FIRST_SENTENCES: Final = 4


def probe(spec: TrialSpec, registry: Registry, home: Path, device: torch.device) -> Pace:
    """Measure a row in this process, on prepared data: some ten seconds, less for a small model.

    Batches grow up to the row's own while that takes seconds; from a smaller one the time is scaled up by its tokens.
    Decoding is timed with outputs as long as their sources, for an untrained model would go on to the limit. Raises
    whatever training does.
    """
    objective: Objective = registry.plugin("objective", spec.train.objective.name)(spec.train.objective.options)
    data = PreparedData.open(data_folder(home, str(spec.data_key)))
    model = assemble(spec.model, spec.data, registry)
    initialize(model, spec.seed)
    model.to(device)
    update = _update_seconds(model, objective, spec, data.split("train"))
    names, evaluation = set(chosen_metrics(objective, spec.evaluate)), 0.0
    if names - set(GENERATED):
        evaluation += forward_seconds(update, spec, objective, home, spec.evaluate.split)
    if names & set(GENERATED):
        assert isinstance(model, GenerativeTransformer), "the survey has refused metrics that do not fit"
        evaluation += _decoding_seconds(model, objective, data.split(spec.evaluate.split), spec.evaluate)
    point = forward_seconds(update, spec, objective, home, "dev")
    return Pace(update=update, point=point, evaluation=evaluation, source="probe")


def _update_seconds(model: Transformer, objective: Objective, spec: TrialSpec, split: PreparedSplit) -> float:
    whole = spec.train.batch_tokens
    tokens = min(FIRST_TOKENS, whole)
    while True:
        train = spec.train.model_copy(update={"batch_tokens": tokens})
        training = Training(model, objective, train, spec.model.d_model, split, spec.seed)
        seconds = _median_seconds(training)
        following = min(tokens * GROWTH, whole)
        if tokens == whole or seconds * following / tokens > SECONDS:
            return seconds * whole / tokens
        tokens = following


def _median_seconds(training: Training) -> float:
    training.update()  # the first one orders the data, and compiles what is to be compiled
    taken: list[float] = []
    while len(taken) < UPDATES and sum(taken) < SECONDS:
        started = time.perf_counter()
        training.update()
        taken.append(time.perf_counter() - started)
    return median(taken)


def _decoding_seconds(
    model: GenerativeTransformer, objective: Objective, split: PreparedSplit, spec: EvaluateSpec
) -> float:
    spec = spec.model_copy(update={"max_extra_tokens": 1})  # the end piece
    number = FIRST_SENTENCES
    while True:
        chosen = torch.arange(0, len(split), max(1, len(split) // number))
        started = time.perf_counter()
        generate(model, objective, split.sources(chosen), spec)
        seconds = time.perf_counter() - started
        if len(chosen) == len(split) or seconds * GROWTH > SECONDS:
            return seconds * len(split) / len(chosen)
        number *= GROWTH
