"""Whether rows scatter alike, so that their residuals may be pooled.

Each row is tested against all others by what its scores add to the residual: an F test, exact for any design, of the
kind that Cochran (1941) made for one outlying variance and 't Lam (2010) for unlike numbers of values, at Bonferroni's
share of the level. Tests of equal variance in general (Bartlett's, Levene's) say less here: with three values a row
they see a single unstable row less often, and would not say which it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scipy.special import fdtrc

from framework.report.statistics.additive import Fit
from framework.report.statistics.design import Numbers, inverse_root

LEVEL: Final = 0.05
"""Of the test that parts rows from the pool, over all rows together."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """How a row's residual compares with that of all others."""

    row: str
    ratio: float
    """Of the variances."""
    p: float
    """Of as large a ratio for some row, were all alike."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows whose residuals are pooled, and those that scatter more than they can have by chance."""

    fit: Fit
    widest: Scatter | None
    """Of the pooled rows; null where there are too few to tell."""
    apart: tuple[Scatter, ...]


def pool(scores: Mapping[str, Mapping[int, float]]) -> Pool:
    """Fit the rows that scatter alike. Rows that do not are taken out until no other shows; scores are finite."""
    apart: list[Scatter] = []
    while True:
        fit = Fit.of({row: own for row, own in scores.items() if row not in {found.row for found in apart}})
        found = scatters(fit)
        wide = [each for each in found if each.p < LEVEL]
        if not wide:
            return Pool(fit, min(found, key=lambda each: (each.p, -each.ratio), default=None), tuple(apart))
        apart += wide


def scatters(fit: Fit) -> list[Scatter]:
    """Every row against the others, where these have a residual of their own."""
    design, squares, freedom = fit.design, fit.squares, fit.design.freedom
    deviations = fit.deviations
    within = (deviations**2).sum(axis=1)  # (R,)
    by_seed = deviations.sum(axis=0)  # (S,)
    roots: dict[bytes, Numbers] = {}  # rows with the same seeds leave the same equations behind
    found = []
    for at, row in enumerate(design.rows):
        cells = design.cells[at]
        if (root := roots.get(key := cells.tobytes())) is None:
            taken = -cells[:, None] * design.shares[at]
            taken[range(len(cells)), range(len(cells))] += cells
            root = roots[key] = inverse_root(design.information - taken)
        rest_freedom = int(design.cells.sum() - design.counts[at]) - (len(design.rows) - 1) - root.shape[1]
        own_freedom = freedom - rest_freedom
        if rest_freedom < 1 or own_freedom < 1:
            continue
        explained = float((((by_seed - deviations[at]) @ root) ** 2).sum())
        rest = fit.beyond_noise(float(within.sum() - within[at]) - explained)
        own = max(0.0, squares - rest)
        ratio = (own / own_freedom) / (rest / rest_freedom) if rest else math.inf if own else 1.0
        found.append((row, ratio, float(fdtrc(own_freedom, rest_freedom, ratio))))
    return [Scatter(row, ratio, min(1.0, p * len(found))) for row, ratio, p in found]
