"""How many standard errors wide the intervals must be for all comparisons with one baseline to hold together.

Dunnett (1955) for comparisons that are correlated as they happen to be: the two-sided equicoordinate quantile of their
multivariate t distribution. Comparisons share the baseline's error and those of the seeds, and are independent given
these, so that the probability is an integral over few dimensions (as Curnow and Dunnett 1962 have it for one shared
error), and one more for the standard deviation of the residual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from framework.report.statistics.design import Design
from framework.report.statistics.sample import t_quantile

POINTS: Final = 12
"""The integral is a mean over 2^12 points of a Sobol sequence: the level is met to about 0.0002."""


def critical_value(design: Design, baseline: str, rows: Sequence[str], confidence: float) -> float:
    """The value that no |difference of `rows` to `baseline`| / standard error exceeds, with this probability."""
    if len(rows) == 1:
        return t_quantile(design.freedom, (1 + confidence) / 2)
    patterns = Counter(tuple(design.loadings(row, baseline).tolist()) for row in rows)
    return _equicoordinate(tuple(sorted(patterns.items())), design.freedom, confidence)


@lru_cache(maxsize=256)  # metrics of one table share their design
def _equicoordinate(patterns: tuple[tuple[tuple[float, ...], int], ...], freedom: int, confidence: float) -> float:
    # Imported here, because together they take more time than a report without such comparisons.
    from scipy.optimize import brentq
    from scipy.stats.qmc import Sobol

    loadings = np.array([loading for loading, _ in patterns])  # (P, parts)
    counts = np.array([count for _, count in patterns])
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    own, shared = loadings[:, 0], loadings[:, 1:]
    _, sizes, directions = np.linalg.svd(shared, full_matrices=False)
    shared = shared @ directions[sizes > 1e-9].T  # (P, dimensions), no more of these than are needed
    points = Sobol(1 + shared.shape[1], rng=0).random_base2(POINTS)
    deviation = np.sqrt(chdtri(freedom, points[:, :1]) / freedom)  # (points, 1)
    centre = ndtri(points[:, 1:]) @ shared.T  # (points, P)

    def excess(critical: float) -> float:
        held = ndtr((critical * deviation - centre) / own) - ndtr((-critical * deviation - centre) / own)
        return float(np.prod(held**counts, axis=1).mean()) - confidence

    # Between a single comparison and Bonferroni's inequality, a little wider for what the mean over points misses.
    single, bonferroni = ((1 + confidence) / 2, 1 - (1 - confidence) / (2 * counts.sum()))
    return float(brentq(excess, 0.9 * t_quantile(freedom, single), 1.1 * t_quantile(freedom, bonferroni), xtol=1e-6))
