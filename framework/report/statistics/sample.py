"""The scores of one row over its seeds: a mean and Student's interval (1908), mean ± t(n - 1) · s / √n."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from scipy.special import stdtrit

FEWEST: Final = 3
"""Values below which no interval is given and no verdict passed."""


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


def finite(values: Iterable[float | None]) -> tuple[float, ...]:
    """The values that are numbers: a diverged seed's score is no score, neither best nor worst."""
    return tuple(value for value in values if value is not None and math.isfinite(value))


def estimate(values: Iterable[float | None], confidence: float) -> Estimate | None:
    """The mean and its interval at `confidence`, or None without a finite value."""
    kept = finite(values)
    if not kept:
        return None
    mean, n = fmean(kept), len(kept)
    if n < FEWEST:
        return Estimate(kept, mean, None, None)
    half = t_quantile(n - 1, (1 + confidence) / 2) * stdev(kept) / math.sqrt(n)
    return Estimate(kept, mean, mean - half, mean + half)


def t_quantile(freedom: float, probability: float) -> float:
    """Of Student's distribution with `freedom` degrees of freedom."""
    return float(stdtrit(freedom, probability))
