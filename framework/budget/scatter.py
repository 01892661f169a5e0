"""How far scores of one row scatter over its seeds: what decides which differences a design can detect."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from framework.journal import TrialFolder
from framework.plan import Plan
from framework.report.statistics.additive import Fit


@dataclass(frozen=True, slots=True)
class Scatter:
    """The standard deviation of log-perplexity that neither rows nor seeds explain, and how well it is known."""

    deviation: float
    freedom: int
    trials: int


def scatter_so_far(plan: Plan, home: Path) -> Scatter | None:
    """Estimate it from the planned trials that are done, or give None where these are too few."""
    scores: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for trial in plan:
        if trial.train_key is None or trial.evaluate_key is None:
            continue
        evaluation = TrialFolder(home, trial.train_key).evaluation(trial.evaluate_key)
        perplexity = evaluation and evaluation.metrics.get(f"{trial.evaluate.split}/perplexity")
        if perplexity:
            scores[trial.row][trial.seed] = math.log(perplexity)
    fit = Fit.of(scores)
    if not fit.deviation:
        return None
    return Scatter(fit.deviation, fit.design.freedom, sum(map(len, scores.values())))
