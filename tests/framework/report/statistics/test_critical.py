from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_t, t

from framework.report.statistics.critical import critical_value
from framework.report.statistics.design import Design

DUNNETT = json.loads((Path(__file__).parents[3] / "golden" / "statistics.json").read_text())["dunnett_1964"]


def table(rows, seeds, base=None):
    """A baseline and rows that all have the same seeds."""
    return Design.of({"base": range(base or seeds), **{f"row{at}": range(seeds) for at in range(rows)}})


@pytest.mark.parametrize("case", DUNNETT["values"], ids=lambda case: f"{case['rows']} rows {case['freedom']} df")
def test_values_are_those_that_dunnett_printed(case):
    """A complete design of k rows and a baseline over n seeds has k (n - 1) degrees of freedom, correlations of 1/2."""
    design = table(case["rows"], case["freedom"] // case["rows"] + 1)
    assert design.freedom == case["freedom"]
    found = critical_value(design, "base", design.rows[1:], DUNNETT["confidence"])
    assert found == pytest.approx(case["value"], abs=0.006)


def test_unlike_seeds_are_correlated_as_they_are():
    """Against SciPy's integral of the multivariate t distribution, for correlations that no table has."""
    seeds = {"base": range(6), "a": (0, 1, 2), "b": (1, 2, 3, 4), "c": (3, 4, 5), "d": (0, 5, 2), "e": (0, 1, 2)}
    design = Design.of(seeds)
    rows = list(seeds)[1:]
    loadings = np.array([design.loadings(row, "base") for row in rows])
    # What comes first is each row's own, the rest they share.
    covariance = loadings[:, 1:] @ loadings[:, 1:].T + np.diag(loadings[:, 0] ** 2)
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    assert len(np.unique(correlation.round(3))) > 4
    critical = critical_value(design, "base", rows, 0.95)
    bound = np.full(len(rows), critical)
    level = multivariate_t.cdf(
        bound, shape=correlation, df=design.freedom, lower_limit=-bound, maxpts=200_000, random_state=0
    )
    assert level == pytest.approx(0.95, abs=0.001)


def test_one_comparison_is_students():
    assert critical_value(table(1, 3), "base", ["row0"], 0.95) == pytest.approx(4.302652729749464)


def test_more_comparisons_reach_farther_and_never_beyond_bonferroni():
    design = table(40, 3)
    found = [critical_value(design, "base", design.rows[1 : 1 + k], 0.95) for k in (1, 2, 5, 10, 20, 40)]
    bonferroni = [float(t.ppf(1 - 0.025 / k, design.freedom)) for k in (1, 2, 5, 10, 20, 40)]
    assert found == sorted(found)
    assert all(mine <= theirs * 1.0001 for mine, theirs in zip(found, bonferroni, strict=True))


def test_the_same_design_gives_the_same_bits():
    one, other = table(7, 3), table(7, 3)
    assert critical_value(one, "base", one.rows[1:], 0.9) == critical_value(other, "base", other.rows[1:][::-1], 0.9)


def test_a_large_table_takes_no_time():
    """Cost goes with the kinds of rows that a design has, not with their number."""
    design = table(3000, 3, base=6)
    start = time.perf_counter()
    critical_value(design, "base", design.rows[1:], 0.95)
    assert time.perf_counter() - start < 2
