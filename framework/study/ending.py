"""How a trial came to its end, read from its folder for the study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from framework.journal import TrialFolder
from framework.spec import TrialSpec

_CURVE: Final = "dev/perplexity"


@dataclass(frozen=True, slots=True)
class Ending:
    """What the study is told of a trial."""

    status: Literal["done", "diverged", "failed"]
    reason: str | None = None
    """Why there are no scores."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The scores, by full name."""
    curve: tuple[tuple[int, float], ...] = ()
    """(step, dev perplexity), in order of steps."""
    value: float | None = None
    """What the study minimises: the perplexity that was measured, or the curve's last where only other scores
    were asked for; None where there is neither."""


def ending_of(trial: TrialSpec, home: Path) -> Ending | None:
    """How a trial ended; None while something is left to do for it."""
    if trial.train_key is None or trial.evaluate_key is None:
        return None
    folder = TrialFolder(home, trial.train_key)
    if (evaluation := folder.evaluation(trial.evaluate_key)) is not None:
        points = folder.curves.points()
        curve = tuple((point.step, point.values[_CURVE]) for point in points if _CURVE in point.values)
        value = evaluation.metrics.get(f"{trial.evaluate.split}/perplexity")
        if value is None and curve:
            value = curve[-1][1]
        return Ending("done", None, evaluation.metrics, curve, value)
    training = folder.training()
    if training is not None and training.status == "diverged":
        return Ending("diverged", str(training.reason))
    return None
