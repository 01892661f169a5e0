from __future__ import annotations

import numpy as np
import pytest

from framework.report.statistics.scatter import LEVEL, pool, scatters


def scores(deviations, seeds=3, rng=None):
    rng = rng or np.random.default_rng(0)
    return {row: dict(enumerate(rng.normal(0, own, seeds).tolist())) for row, own in deviations.items()}


def test_a_row_is_tested_by_what_it_adds_to_the_residual():
    """Three rows: what is left without one is the pair test of the other two, of which the figures are by hand."""
    found = {
        each.row: each
        for each in scatters(
            pool({"base": {1: 0.0, 2: 0.0, 3: 0.0}, "a": {1: 1.0, 2: -1.0, 3: 0.0}, "b": {1: 3.0, 2: 3.0, 3: -6.0}}).fit
        )
    }
    # Without b: base and a over three seeds leave 1/2 · (1 + 1) = 1 over 2 degrees of freedom. All three leave
    # 54 + 2 less 3 · (16 + 4 + 36) / 9 = 112/3 over 4. So b adds 109/3 over 2.
    assert found["b"].ratio == pytest.approx(109 / 3)
    # The upper tail of F(2, 2) is 1 / (1 + F), for each of three rows.
    assert found["b"].p == pytest.approx(3 / (1 + 109 / 3))
    assert found["a"].p == 1.0


def test_a_row_that_is_unstable_is_set_apart_and_the_others_are_pooled_without_it():
    deviations = {"base": 0.01, **{f"row{at}": 0.01 for at in range(8)}, "wild": 1.0}
    found = pool(scores(deviations))
    assert [each.row for each in found.apart] == ["wild"]
    assert found.apart[0].p < 0.001
    assert found.fit.deviation == pytest.approx(0.01, rel=0.4)
    assert found.widest is not None
    assert found.widest.p >= LEVEL


def test_several_unstable_rows_are_found_one_behind_the_other():
    deviations = {**{f"row{at}": 0.01 for at in range(10)}, "wild": 1.0, "wilder": 100.0}
    assert {each.row for each in pool(scores(deviations)).apart} == {"wild", "wilder"}


def test_two_rows_cannot_tell_which_scatters():
    found = pool(scores({"base": 0.01, "row": 5.0}))
    assert (found.widest, found.apart) == (None, ())


def test_no_scatter_at_all_is_alike():
    level = {row: dict.fromkeys(range(3), at) for at, row in enumerate(("base", "a", "b"))}
    found = pool(level)
    assert (found.fit.squares, found.apart) == (0.0, ())


def test_one_row_that_scatters_among_rows_that_do_not_is_set_apart():
    level = {row: dict.fromkeys(range(3), float(at)) for at, row in enumerate(("base", "a", "b", "c"))}
    assert [each.row for each in pool({**level, "d": {0: 1.0, 1: 2.0, 2: 4.0}}).apart] == ["d"]


def test_rows_that_scatter_alike_are_seldom_set_apart():
    rng = np.random.default_rng(1)
    alike = {f"row{at}": 1.0 for at in range(8)}
    tables = 400
    parted = sum(bool(pool(scores(alike, 3, rng)).apart) for _ in range(tables))
    assert parted / tables <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / tables)
