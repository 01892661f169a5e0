"""The scores of a model, by full name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from framework.contracts import Objective
from framework.data.prepared import PreparedData
from framework.errors import PluginError, SpecError
from framework.evaluate.bleu import bleu
from framework.evaluate.decode import translate
from framework.evaluate.perplexity import loss_per_token
from framework.model.transformer import Transformer
from framework.spec import EvaluateSpec
from framework.spec.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Measurement:
    """Finite numbers by full name, such as `dev/perplexity`, and what a reader needs to judge them."""

    metrics: dict[str, float] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)


def chosen_metrics(objective: Objective, spec: EvaluateSpec) -> tuple[str, ...]:
    """Give the names of what is to be measured. Raises `SpecError`, so ask before training."""
    for name in objective.metrics:
        if name not in _MEASURES:
            known = ", ".join(_MEASURES)
            raise PluginError(f"objective {objective.name!r} declares the metric {name!r}; there are: {known}")
    if spec.metrics is None:
        return objective.metrics
    for name in spec.metrics:
        if name not in objective.metrics:
            raise SpecError(
                f"objective {objective.name!r} has no metric {name!r}; it has: {', '.join(objective.metrics)}"
                + did_you_mean(name, objective.metrics),
                "evaluate.metrics",
            )
    return spec.metrics


def measure(model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec) -> Measurement:
    """Measure a trained model on `spec.split`, in float32 whatever it was trained in. Leaves it in evaluation mode.

    Details by name: `SPLIT/bleu` is the signature alone, so that rows scored alike have it alike, and
    `SPLIT/bleu_doubts` what makes that score doubtful; `SPLIT/cut_off` counts translations that had to end; and
    `SPLIT/perplexity` says why there is none.

    Raises `SpecError` for a metric or a split that there is not, `Unmeasurable` where the model's outputs are
    not finite.
    """
    metrics: dict[str, float] = {}
    details: dict[str, str] = {}
    for name in chosen_metrics(objective, spec):
        part = _MEASURES[name](model, objective, data, spec)
        metrics |= part.metrics
        details |= part.details
    return Measurement(metrics, details)


def _perplexity(model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec) -> Measurement:
    loss = loss_per_token(model, objective, data.split(spec.split), spec.batch_tokens)
    measured = Measurement({f"{spec.split}/loss": loss})
    try:
        measured.metrics[f"{spec.split}/perplexity"] = math.exp(loss)
    except OverflowError:
        measured.details[f"{spec.split}/perplexity"] = f"too large for a number: the loss is {loss:.1f} nats per token"
    return measured


def _bleu(model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec) -> Measurement:
    split = data.split(spec.split)
    translations = translate(model, objective, split.sources(torch.arange(len(split))), spec)
    hypotheses = [data.target_tokenizer.decode(pieces) for pieces in translations.pieces]
    score, signature, doubts = bleu(hypotheses, split.target_texts)
    measured = Measurement({f"{spec.split}/bleu": score}, {f"{spec.split}/bleu": signature})
    if doubts:
        measured.details[f"{spec.split}/bleu_doubts"] = "; ".join(doubts)
    if translations.cut_off:
        measured.details[f"{spec.split}/cut_off"] = (
            f"{translations.cut_off} of {len(split)} translations end at the model's last position"
        )
    return measured


_MEASURES: dict[str, Callable[[Transformer, Objective, PreparedData, EvaluateSpec], Measurement]] = {
    "perplexity": _perplexity,
    "bleu": _bleu,
}
