"""Which row has which seeds: all that decides, without a score, how exactly rows can be compared.

The model is that of randomised blocks (Fisher 1935): score = row + seed + residual, where seeds are the blocks and some
cells are empty. Rows are eliminated first, which leaves equations in the seeds alone: few, however many rows there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
"""Shapes below: R rows, S seeds."""


@dataclass(frozen=True, eq=False)
class Design:
    """The cells that are filled. A seed that one row alone has is none of them: it tells nothing of a difference."""

    rows: tuple[str, ...]
    seeds: tuple[int, ...]
    cells: Numbers
    """(R, S), 1 where the row has the seed and 0 elsewhere."""

    @classmethod
    def of(cls, seeds: Mapping[str, Collection[int]]) -> Design:
        """Of rows and the seeds that each has a score of."""
        shared = {seed for seed, rows in Counter(chain.from_iterable(map(set, seeds.values()))).items() if rows > 1}
        rows = tuple(row for row, own in seeds.items() if not shared.isdisjoint(own))
        columns = {seed: column for column, seed in enumerate(sorted(shared))}
        cells = np.zeros((len(rows), len(columns)))
        for line, row in enumerate(rows):
            cells[line, [columns[seed] for seed in seeds[row] if seed in columns]] = 1
        return cls(rows, tuple(columns), cells)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Where each row stands."""
        return {row: at for at, row in enumerate(self.rows)}

    @cached_property
    def counts(self) -> Numbers:
        """(R,) seeds of each row."""
        return self.cells.sum(axis=1)

    @cached_property
    def shares(self) -> Numbers:
        """(R, S) what each seed is of a row's mean."""
        return self.cells / self.counts[:, None]

    @cached_property
    def information(self) -> Numbers:
        """(S, S) the matrix of the equations in the seeds, divided by the residual variance."""
        return np.diag(self.cells.sum(axis=0)) - self.cells.T @ self.shares

    @cached_property
    def root(self) -> Numbers:
        """(S, rank) times its transpose: the covariance of the seeds' effects for a residual variance of 1."""
        return inverse_root(self.information)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the residual: filled cells less what rows and seeds take."""
        return int(self.cells.sum()) - len(self.rows) - self.root.shape[1]

    def loadings(self, row: str, baseline: str) -> Numbers:
        """(2 + rank,) the error of a row's difference to `baseline`, by the independent parts it is the sum of.

        The row's own mean comes first; the rest (the baseline's mean, then the seeds) is shared with other rows. The
        squares add up to the variance of the difference, for a residual variance of 1.
        """
        at, base = self.place[row], self.place[baseline]
        by_seed = (self.shares[at] - self.shares[base]) @ self.root
        return np.concatenate(([self.counts[at] ** -0.5, self.counts[base] ** -0.5], by_seed))


def inverse_root(information: Numbers) -> Numbers:
    """(S, rank) the root of the pseudo-inverse, without what the design cannot tell: the level, at least."""
    values, vectors = np.linalg.eigh(information)
    kept = values > 1e-9 * len(values)
    return vectors[:, kept] / np.sqrt(values[kept])
