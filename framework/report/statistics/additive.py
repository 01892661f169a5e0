"""score = row + seed + residual, by least squares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from framework.report.statistics.design import Design, Numbers

NOISE = 1e-12
"""Residuals of this share of the scores are what rounding leaves, not scatter."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The model fitted to the scores of a design. Only differences of rows mean something."""

    design: Design
    scores: Numbers
    """(R, S), 0 where there is none."""

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[int, float]]) -> Fit:
        """Fit finite scores, by row and seed."""
        design = Design.of(scores)
        filled = [[scores[row].get(seed, 0.0) for seed in design.seeds] for row in design.rows]
        return cls(design, np.array(filled).reshape(design.cells.shape))

    @cached_property
    def means(self) -> Numbers:
        """(R,) of each row over its seeds."""
        return self.scores.sum(axis=1) / self.design.counts

    @cached_property
    def deviations(self) -> Numbers:
        """(R, S) of the scores from their row's mean."""
        return (self.scores - self.means[:, None]) * self.design.cells

    @cached_property
    def seeds(self) -> Numbers:
        """(S,) the effects of the seeds."""
        root = self.design.root
        return root @ (root.T @ self.deviations.sum(axis=0))

    @cached_property
    def rows(self) -> Numbers:
        """(R,) the effects of the rows."""
        return self.means - self.design.shares @ self.seeds

    @cached_property
    def squares(self) -> float:
        """The sum of squared residuals; what rounding leaves counts as none."""
        residuals = (self.scores - self.rows[:, None] - self.seeds) * self.design.cells
        return self.beyond_noise(float((residuals**2).sum()))

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the residual, pooled over all rows."""
        freedom = self.design.freedom
        return math.sqrt(self.squares / freedom) if freedom > 0 else None

    def difference(self, row: str, baseline: str) -> float:
        """Between the effects of two rows that share seeds."""
        place = self.design.place
        return float(self.rows[place[row]] - self.rows[place[baseline]])

    def beyond_noise(self, squares: float) -> float:
        """A sum of squares, or 0 where it is not more than rounding leaves."""
        largest = float(np.abs(self.scores).max(initial=0.0))
        return squares if squares > self.scores.size * (NOISE * largest) ** 2 else 0.0
