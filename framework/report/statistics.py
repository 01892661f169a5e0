"""What a few seeds can and cannot say. Pure functions of numbers.

Intervals are Student's (1908): mean ± t(n - 1) · s / √n. Rows are compared by seed, on the differences of
pairs, because the seeds of all rows share their initialisation and data order. Perplexities are compared
as logarithms, so that a difference is a ratio and a margin means the same at every level. Equivalence is
claimed only when the whole interval lies inside the margin (Schuirmann 1987), never from a difference
that was merely not found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

from scipy.special import stdtrit

FEWEST: int = 3
"""Values below which no interval is given and no verdict passed."""

Verdict = Literal["better", "worse", "equivalent", "undecided", "n<3"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds and its interval, which fewer than three values do not have."""

    values: tuple[float, ...]
    mean: float
    low: float | None
    high: float | None

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Difference:
    """A row's perplexity against the baseline's over the seeds that both have: 0.02 is two percent more."""

    estimate: Estimate
    verdict: Verdict
    detectable: float | None
    """The smallest difference that a design with this scatter and these pairs could tell from none."""


def finite(values: Sequence[float | None]) -> tuple[float, ...]:
    """The values that are numbers: a diverged seed's score is no score, neither best nor worst."""
    return tuple(value for value in values if value is not None and math.isfinite(value))


def estimate(values: Sequence[float | None], confidence: float) -> Estimate | None:
    """The mean and its interval at `confidence`, or None without a finite value."""
    kept = finite(values)
    if not kept:
        return None
    mean, n = fmean(kept), len(kept)
    if n < FEWEST:
        return Estimate(kept, mean, None, None)
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * stdev(kept) / math.sqrt(n)
    return Estimate(kept, mean, mean - half, mean + half)


def compare_perplexities(
    row: Mapping[int, float | None], baseline: Mapping[int, float | None], confidence: float, margin: float
) -> Difference | None:
    """Compare by seed on log-perplexities; equivalent means inside ±log(1 + margin)."""
    logs = estimate([math.log(mine / theirs) for mine, theirs in _pairs(row, baseline)], confidence)
    if logs is None:
        return None
    ratio = Estimate(
        tuple(map(_relative, logs.values)),
        _relative(logs.mean),
        None if logs.low is None else _relative(logs.low),
        None if logs.high is None else _relative(logs.high),
    )
    half = logs.half_width
    return Difference(ratio, _verdict(logs, math.log1p(margin)), None if half is None else _relative(half))


def compare_means(
    row: Mapping[int, float | None], baseline: Mapping[int, float | None], confidence: float
) -> Estimate | None:
    """Compare by seed, in the metric's own unit. No margin is declared for it, so no verdict is passed."""
    return estimate([mine - theirs for mine, theirs in _pairs(row, baseline)], confidence)


def order_agreement(rows: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Of all pairs of rows, how many stand in the same order by both figures, and of how many.

    Pairs that either figure ties are not counted, as in Goodman and Kruskal's gamma (1954).
    """
    signs = [(a - c) * (b - d) for (a, b), (c, d) in combinations(rows, 2) if a != c and b != d]
    return sum(sign > 0 for sign in signs), len(signs)


def _pairs(row: Mapping[int, float | None], baseline: Mapping[int, float | None]) -> list[tuple[float, float]]:
    both = [finite((row[seed], baseline[seed])) for seed in sorted(row.keys() & baseline.keys())]
    return [(pair[0], pair[1]) for pair in both if len(pair) == 2]


def _relative(log_ratio: float) -> float:
    """A logarithm of a ratio as a relative difference; e^700 is the most that a float can hold."""
    return math.expm1(min(log_ratio, 700.0))


def _verdict(change: Estimate, margin: float) -> Verdict:
    """Judge a change of something of which less is better."""
    if change.low is None or change.high is None:
        return "n<3"
    if -margin <= change.low and change.high <= margin:
        return "equivalent"
    if change.high < 0:
        return "better"
    if change.low > 0:
        return "worse"
    return "undecided"
