"""What a model can be measured by: names of metrics, and which of them an experiment asks for."""

from __future__ import annotations

from typing import Final

import torch

from framework.contracts import SPECIAL_PIECES, Objective
from framework.errors import PluginError, SpecError
from framework.evaluate.text_metrics import TEXT_METRICS, text_metric
from framework.spec import EvaluateSpec
from framework.spec.suggest import did_you_mean

GENERATED: Final = (*TEXT_METRICS, "exact_match")
"""Metrics of what the model generates for a source."""

PERPLEXITIES: Final = ("perplexity", "smoothed_perplexity", "word_perplexity")
"""Metrics that are made of the loss."""

MADE_HERE: Final = ("loss", *PERPLEXITIES, *GENERATED)
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
    known = (*PERPLEXITIES, *GENERATED, *own)
    for name in offered:
        if name not in known:
            raise PluginError(
                f"objective {objective.name!r} declares the metric {name!r}, which its per_token does not give; "
                f"there are: {', '.join(known)}"
            )
    for name in spec.metrics or ():
        if name not in offered:
            raise SpecError(
                f"objective {objective.name!r} has no metric {name!r}; it has: {', '.join(offered)}"
                + did_you_mean(name, offered),
                "evaluate.metrics",
            )
    chosen = objective.metrics if spec.metrics is None else spec.metrics
    for name in chosen:
        if name in TEXT_METRICS:
            text_metric(name, spec.moses_language)
    return chosen


def _measured_per_token(objective: Objective) -> tuple[str, ...]:
    """The names that an objective gives, found on an example of one piece."""
    piece = torch.tensor([SPECIAL_PIECES])
    batch = objective.batch([piece], [piece], torch.Generator().manual_seed(0))
    logits = torch.zeros(*batch.target_output.shape, SPECIAL_PIECES + 1)  # (1, T, V)
    return tuple(objective.per_token(logits, batch))
