"""An interval → a verdict.

Perplexities are compared as logarithms, so that a difference is a ratio and a margin means the same at every level.
Equivalence is claimed only when the whole interval lies inside the margin (Schuirmann 1987), never from a difference
that was merely not found.
"""

from __future__ import annotations

import math
from typing import Literal

from framework.report.statistics.comparison import Difference
from framework.report.statistics.sample import Estimate

Verdict = Literal["better", "worse", "equivalent", "undecided", "n<3"]


def judge(change: Estimate, margin: float) -> Verdict:
    """Judge a change of something of which less is better; `margin` in the same unit."""
    if change.low is None or change.high is None:
        return "n<3"
    if -margin <= change.low and change.high <= margin:
        return "equivalent"
    if change.high < 0:
        return "better"
    if change.low > 0:
        return "worse"
    return "undecided"


def relative(logs: Difference) -> Difference:
    """Of log-perplexities, as a share of the baseline's perplexity: 0.02 is two percent more."""
    found = logs.estimate
    low, high = (None if bound is None else _ratio(bound) for bound in (found.low, found.high))
    estimate = Estimate(tuple(map(_ratio, found.values)), _ratio(found.mean), low, high)
    detectable = None if logs.detectable is None else _ratio(logs.detectable)
    return Difference(estimate, logs.interval, logs.freedom, detectable)


def _ratio(log: float) -> float:
    """e^700 is the most that a float can hold."""
    return math.expm1(min(log, 700.0))
