"""The scores of a model, by full name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

from framework.contracts import SPECIAL_PIECES, Objective
from framework.data.prepared import PreparedData, PreparedSplit
from framework.errors import PluginError, SpecError
from framework.evaluate.bleu import bleu
from framework.evaluate.exact_match import exact_match
from framework.evaluate.generate import generate
from framework.evaluate.token_means import token_means
from framework.model.transformer import GenerativeTransformer, Transformer
from framework.spec import EvaluateSpec
from framework.spec.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Measurement:
    """Finite numbers by name, such as `dev/perplexity`, and what a reader needs to judge them."""

    metrics: dict[str, float] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)


GENERATED: Final = ("bleu", "exact_match")
"""Metrics of what the model generates for a source."""

MADE_HERE: Final = ("loss", "perplexity", *GENERATED)
"""What no objective measures itself."""


def chosen_metrics(objective: Objective, spec: EvaluateSpec) -> tuple[str, ...]:
    """Give the names of what is to be measured. Raises `SpecError`, so ask before training."""
    offered = (*objective.metrics, *objective.further_metrics)
    own = _measured_per_token(objective)
    for name in own:
        if name in MADE_HERE:
            raise PluginError(
                f"objective {objective.name!r} gives {name!r} in per_token, which is the framework's own measure: "
                "choose another name"
            )
    known = ("perplexity", *GENERATED, *own)
    for name in offered:
        if name not in known:
            raise PluginError(
                f"objective {objective.name!r} declares the metric {name!r}, which its per_token does not give; "
                f"there are: {', '.join(known)}"
            )
    if spec.metrics is None:
        return objective.metrics
    for name in spec.metrics:
        if name not in offered:
            raise SpecError(
                f"objective {objective.name!r} has no metric {name!r}; it has: {', '.join(offered)}"
                + did_you_mean(name, offered),
                "evaluate.metrics",
            )
    return spec.metrics


def _measured_per_token(objective: Objective) -> tuple[str, ...]:
    """The names that an objective gives, found on an example of one piece."""
    piece = torch.tensor([SPECIAL_PIECES])
    batch = objective.batch([piece], [piece], torch.Generator().manual_seed(0))
    logits = torch.zeros(*batch.target_output.shape, SPECIAL_PIECES + 1)  # (1, T, V)
    return tuple(objective.per_token(logits, batch))


def measure(model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec) -> Measurement:
    """Measure a trained model on `spec.split`, in float32 whatever it was trained in. Leaves it in evaluation mode.

    Details by name: `SPLIT/scored` tells which tokens the means are over, alike for rows whose figures compare, and
    `SPLIT/perplexity` why there is none; `SPLIT/bleu` is the signature alone, so that rows scored alike have it
    alike, and `SPLIT/bleu_doubts` what makes that score doubtful; `SPLIT/cut_off` counts outputs that had to end.

    Raises `SpecError` for a metric or a split that there is not, `Unmeasurable` where the model's outputs are
    not finite.
    """
    names = chosen_metrics(objective, spec)
    parts = []
    if set(names) - set(GENERATED):
        parts.append(_of_tokens(model, objective, data.split(spec.split), spec, names))
    if set(names) & set(GENERATED):
        parts.append(_of_outputs(model, objective, data, spec, names))
    metrics = {f"{spec.split}/{name}": value for part in parts for name, value in part.metrics.items()}
    return Measurement(
        metrics, {f"{spec.split}/{name}": words for part in parts for name, words in part.details.items()}
    )


def _of_tokens(
    model: Transformer, objective: Objective, split: PreparedSplit, spec: EvaluateSpec, names: Sequence[str]
) -> Measurement:
    own = [name for name in names if name not in MADE_HERE]
    means = token_means(model, objective, split, spec.batch_tokens, own)
    metrics, details = {"loss": means.loss, **means.metrics}, {"scored": means.scored}
    if "perplexity" in names:
        try:
            metrics["perplexity"] = math.exp(means.loss)
        except OverflowError:
            details["perplexity"] = f"too large for a number: the loss is {means.loss:.1f} nats per token"
    return Measurement(metrics, details)


def _of_outputs(
    model: Transformer, objective: Objective, data: PreparedData, spec: EvaluateSpec, names: Sequence[str]
) -> Measurement:
    assert isinstance(model, GenerativeTransformer), "the survey has refused metrics that do not fit"
    split = data.split(spec.split)
    outputs = generate(model, objective, split.sources(torch.arange(len(split))), spec)
    hypotheses = [data.target_tokenizer.decode(pieces) for pieces in outputs.pieces]
    measured = Measurement()
    if "bleu" in names:
        measured.metrics["bleu"], measured.details["bleu"], doubts = bleu(hypotheses, split.target_texts)
        if doubts:
            measured.details["bleu_doubts"] = "; ".join(doubts)
    if "exact_match" in names:
        measured.metrics["exact_match"] = exact_match(hypotheses, split.target_texts)
    if outputs.cut_off:
        measured.details["cut_off"] = f"{outputs.cut_off} of {len(split)} outputs end at the model's last position"
    return measured
