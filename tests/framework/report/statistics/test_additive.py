"""The model that is solved row by row and seed by seed, against the same model written out in full."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.report.statistics.additive import Fit
from framework.report.statistics.design import Design

SEEDS = {"base": range(6), "a": (0, 1, 2), "b": (2, 3, 4), "c": (1, 4), "d": (5, 0, 3), "e": (3,)}
"""Unbalanced as a table is: a baseline with more seeds, rows with some of them, seeds that diverged."""


def scores_of(seeds, rng):
    return {row: {seed: float(rng.normal(seed + len(row), 1.0)) for seed in own} for row, own in seeds.items()}


def written_out(scores):
    """A column for each row and each seed, a line for each score."""
    rows, seeds = list(scores), sorted({seed for own in scores.values() for seed in own})
    cells = [(row, seed, score) for row, own in scores.items() for seed, score in own.items()]
    matrix = np.zeros((len(cells), len(rows) + len(seeds)))
    for at, (row, seed, _) in enumerate(cells):
        matrix[at, rows.index(row)] = matrix[at, len(rows) + seeds.index(seed)] = 1
    values = np.array([score for *_, score in cells])
    effects = np.linalg.pinv(matrix) @ values
    squares = float(((values - matrix @ effects) ** 2).sum())
    freedom = len(cells) - int(np.linalg.matrix_rank(matrix))
    covariance = np.linalg.pinv(matrix.T @ matrix)
    return dict(zip(rows, effects, strict=False)), squares, freedom, covariance[: len(rows), : len(rows)]


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=6),
)
def test_any_design_gives_the_effects_the_residual_and_the_errors_of_the_model_written_out(seed, rows):
    seeds = {"base": set(range(6)), **{f"row{at}": own for at, own in enumerate(rows)}}
    scores = scores_of(seeds, np.random.default_rng(seed))
    fit, (effects, squares, freedom, covariance) = Fit.of(scores), written_out(scores)
    assert fit.design.freedom == freedom
    assert fit.squares == pytest.approx(squares, abs=1e-9)
    names = list(seeds)
    for row in names[1:]:
        contrast = np.zeros(len(names))
        contrast[names.index(row)], contrast[0] = 1, -1
        assert fit.difference(row, "base") == pytest.approx(effects[row] - effects["base"], abs=1e-9)
        variance = (fit.design.loadings(row, "base") ** 2).sum()
        assert variance == pytest.approx(contrast @ covariance @ contrast, abs=1e-9)


def test_two_rows_are_compared_as_pairs_are():
    """Then the residual variance is half that of the differences, which is what a paired t-test has."""
    fit = Fit.of({"base": {1: 4.0, 2: 4.4, 3: 4.1}, "row": {1: 5.0, 2: 5.1, 3: 5.4}})
    differences = [1.0, 0.7, 1.3]
    assert fit.difference("row", "base") == pytest.approx(1.0)
    assert fit.deviation == pytest.approx(np.std(differences, ddof=1) / np.sqrt(2))
    assert fit.design.freedom == 2


def test_what_all_rows_share_in_a_seed_is_no_scatter():
    level = {1: 0.0, 2: 7.0, 3: -2.0}
    fit = Fit.of(
        {row: {seed: at + shift for seed, shift in level.items()} for at, row in enumerate(("base", "a", "b"))}
    )
    assert (fit.squares, fit.deviation) == (0.0, 0.0)
    assert fit.difference("b", "base") == pytest.approx(2.0)


def test_rounding_is_no_scatter():
    fit = Fit.of({"base": {1: 0.1, 2: 0.3}, "a": {1: 0.1 + 0.2, 2: 0.5}})
    assert fit.squares == 0.0


def test_a_seed_that_one_row_alone_has_tells_nothing_of_a_difference():
    """So that more seeds of the baseline help where other rows have them too, and only there."""
    shared, more, spread = (
        Design.of({"base": range(base), **{f"row{at}": own(at) for at in range(19)}})
        for base, own in (
            (3, lambda at: range(3)),
            (6, lambda at: range(3)),
            (6, lambda at: [(2 * at + step) % 6 for step in range(3)]),
        )
    )
    variances = [(design.loadings("row0", "base") ** 2).sum() for design in (shared, more, spread)]
    assert more.seeds == (0, 1, 2)
    assert variances == pytest.approx([2 / 3, 2 / 3, 0.53], abs=0.005)
    assert [design.freedom for design in (shared, more, spread)] == [38, 38, 38]


def test_rows_that_share_no_seed_have_no_place_in_the_model():
    assert Design.of({"base": (1, 2), "a": (3, 4)}).rows == ()
    assert Design.of({"base": (1, 2), "a": (1, 2), "b": (9,)}).rows == ("base", "a")
