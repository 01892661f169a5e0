"""What the intervals and verdicts claim, held against thousands of made-up tables of which the truth is known.

A table has 20 rows over 3 seeds and a baseline over 6, as Table 3 does at small scale; score = row + seed + residual. A
design fixes the intervals but for their centre and the residual's standard deviation, so that all tables are made at
once; `test_tables_are_judged_as_compare_judges_them` ties that to what a report does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pytest

from framework.report.statistics import FEWEST, POWER, compare, detectable_differences, judge
from framework.report.statistics.additive import Fit
from framework.report.statistics.critical import critical_value
from framework.report.statistics.design import Design, Numbers
from framework.report.statistics.sample import t_quantile

TABLES = 4000
CONFIDENCE = 0.95
ROWS = [f"row{at}" for at in range(19)]
PLANS: dict[str, dict[str, Collection[int]]] = {
    "the same three seeds": {"base": range(6), **{row: range(3) for row in ROWS}},
    "three of the baseline's six": {
        "base": range(6),
        **{row: [(2 * at + step) % 6 for step in range(3)] for at, row in enumerate(ROWS)},
    },
    "seeds lost": {"base": (0, 1, 2, 3, 5), **{row: range(3 + at % 3) for at, row in enumerate(ROWS)}, "row4": (0, 1)},
}


@dataclass
class Tables:
    """The differences to the baseline that each table shows, (tables, rows), and how far they are known."""

    differences: Numbers
    deviation: Numbers
    """(tables,) the pooled standard deviation of the residual."""
    errors: Numbers
    """(rows,) the standard errors, for a residual of 1."""
    critical: float
    freedom: int

    @property
    def held(self) -> Numbers:
        """(tables, rows) how many estimated standard errors each difference is off zero."""
        return np.abs(self.differences) / (self.deviation[:, None] * self.errors)


def make(plan, rng, deviations=None):
    """Tables of a plan in which no row differs from the baseline; the residual's standard deviation is 1, or by row."""
    design = Design.of(plan)
    fit = Fit(design, np.zeros(design.cells.shape))
    cells = np.argwhere(design.cells)
    # The model is linear: what it makes of each cell alone is all there is to know of it.
    parts = []
    for at, seed in cells:
        scores = np.zeros(design.cells.shape)
        scores[at, seed] = 1
        fit = Fit(design, scores)
        residual = (scores - fit.rows[:, None] - fit.seeds) * design.cells
        parts.append((fit.rows[1:] - fit.rows[0], residual[tuple(cells.T)]))
    differences, residuals = (np.array(each) for each in zip(*parts, strict=True))
    rows = [row for row in design.rows[1:] if len(set(plan[row]) & set(plan["base"])) >= FEWEST]
    judged = [design.place[row] - 1 for row in rows]
    scale = (
        np.ones(len(design.rows)) if deviations is None else np.array([deviations.get(row, 1) for row in design.rows])
    )
    scores = rng.normal(size=(TABLES, len(cells))) * scale[cells[:, 0]]
    scores += 3 * rng.normal(size=(TABLES, len(design.seeds)))[:, cells[:, 1]]
    return Tables(
        (scores @ differences)[:, judged],
        np.sqrt(((scores @ residuals) ** 2).sum(axis=1) / design.freedom),
        np.array([np.linalg.norm(design.loadings(row, "base")) for row in rows]),
        critical_value(design, "base", rows, CONFIDENCE),
        design.freedom,
    )


def finds_something(scores):
    """Whether any row is judged better or worse."""
    found = [judge(each.estimate, 1e-9) for each in compare(scores, "base", CONFIDENCE).differences.values()]
    return "better" in found or "worse" in found


def within(share, of, tables=TABLES):
    """Three standard errors of a share of tables."""
    return abs(share - of) <= 3 * np.sqrt(of * (1 - of) / tables)


@pytest.mark.parametrize("plan", PLANS)
def test_one_table_in_twenty_finds_a_difference_where_there_is_none(plan):
    """The family-wise rate: any false verdict among all rows of a table."""
    tables = make(PLANS[plan], np.random.default_rng(1))
    assert within((tables.held > tables.critical).any(axis=1).mean(), 1 - CONFIDENCE)


@pytest.mark.parametrize("plan", PLANS)
def test_intervals_cover_the_truth_as_often_as_they_say(plan):
    """Of one comparison alone by Student's value, and of all together by the critical value."""
    tables = make(PLANS[plan], np.random.default_rng(2))
    single = t_quantile(tables.freedom, (1 + CONFIDENCE) / 2)
    assert all(within((tables.held[:, at] <= single).mean(), CONFIDENCE) for at in range(tables.held.shape[1]))
    assert within((tables.held <= tables.critical).all(axis=1).mean(), CONFIDENCE)


@pytest.mark.parametrize("plan", PLANS)
def test_a_detectable_difference_is_found_eight_times_in_ten(plan):
    tables = make(PLANS[plan], np.random.default_rng(3))
    detectable = detectable_differences(PLANS[plan], "base", 1.0, CONFIDENCE)
    for at, true in enumerate(detectable.values()):
        low = tables.differences[:, at] + true - tables.critical * tables.deviation * tables.errors[at]
        assert within((low > 0).mean(), POWER)


def test_equivalence_is_claimed_of_a_row_at_the_margin_once_in_forty_tables_at_most():
    """The whole interval inside the margin is two one-sided tests (Schuirmann 1987), here stricter than either."""
    tables = make(PLANS["the same three seeds"], np.random.default_rng(4))
    for margin in (2.5, 4.0, 8.0):
        half = tables.critical * tables.deviation * tables.errors[0]
        difference = tables.differences[:, 0] + margin
        equivalent = (difference + half <= margin) & (difference - half >= -margin)
        assert equivalent.mean() <= (1 - CONFIDENCE) / 2


def test_tables_are_judged_as_compare_judges_them():
    """With `compare` itself, which in one table of twenty sets a row apart by chance."""
    rng = np.random.default_rng(5)
    plan, tables = PLANS["the same three seeds"], 300
    wrong = 0
    for _ in range(tables):
        seeds = rng.normal(0, 3, 6)
        scores = {row: {seed: float(seeds[seed] + rng.normal()) for seed in own} for row, own in plan.items()}
        wrong += finds_something(scores)
    assert within(wrong / tables, 1 - CONFIDENCE, tables)


def test_a_row_ten_times_as_unstable_makes_no_false_verdicts_once_it_is_set_apart():
    """Pooled with the others it would, in every third table."""
    rng = np.random.default_rng(6)
    plan, wild = PLANS["the same three seeds"], {"row7": 10.0}
    pooled = make(plan, rng, wild)
    assert (pooled.held > pooled.critical).any(axis=1).mean() > 0.3
    tables, wrong = 300, 0
    for _ in range(tables):
        scores = {row: {seed: float(rng.normal(0, wild.get(row, 1.0))) for seed in own} for row, own in plan.items()}
        wrong += finds_something(scores)
    assert wrong / tables < 0.15
