from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_t

from framework.report.statistics import compare, detectable_differences, judge, relative

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "statistics.json").read_text())
logs = st.floats(0.0, 14.0)


def by_seed(values):
    return dict(enumerate(values, start=1))


def compared(rows, base, confidence=0.95, **more):
    """The differences of rows, each a list of scores by seed."""
    found = compare(
        {"base": by_seed(base), **{row: by_seed(own) for row, own in rows.items()}}, "base", confidence, **more
    )
    return found.differences


def perplexities(row, base, margin=0.02, confidence=0.95):
    """The difference of a row in relative perplexity, and its verdict."""
    scores = {
        name: {seed: math.log(value) for seed, value in own.items()} for name, own in (("base", base), ("row", row))
    }
    found = compare(scores, "base", confidence).differences["row"]
    return relative(found), judge(found.estimate, math.log1p(margin))


@pytest.mark.parametrize("row", GOLDEN["perplexities"]["rows"], ids=lambda row: row["verdict"])
def test_a_row_alone_has_the_paired_interval_of_scipy_and_its_verdict(row):
    """With two rows the additive model is the paired t-test."""
    case = GOLDEN["perplexities"]
    found, verdict = perplexities(row["row"], case["baseline"], case["margin"], case["confidence"])
    assert verdict == row["verdict"]
    interval = (found.estimate.mean, found.estimate.low, found.estimate.high)
    assert interval == pytest.approx([row[name] for name in ("mean", "low", "high")], rel=1e-9)
    assert (found.interval, found.freedom) == ("pooled", 3)


def test_a_metric_of_its_own_unit_has_the_paired_interval_of_scipy():
    case = GOLDEN["bleu"]
    found = compared({"row": case["row"]}, case["baseline"], case["confidence"])["row"].estimate
    interval = (found.mean, found.low, found.high)
    assert interval == pytest.approx([case[name] for name in ("mean", "low", "high")], rel=1e-9)


def test_rows_are_compared_with_a_pooled_residual_and_a_value_for_all_of_them():
    """By hand: the residuals of three rows over three seeds have 4 degrees of freedom."""
    found = compare(
        {"base": by_seed([1.0, 1.0, 1.3]), "a": by_seed([2.0, 2.3, 2.0]), "b": by_seed([3.3, 3.0, 3.0])}, "base", 0.95
    )
    assert (found.rows, found.compared, found.freedom) == (3, 2, 4)
    # Every row lies 0.1, 0.1 and -0.2 off its mean, and seeds' means are alike: 9 · 0.02 over 4.
    assert found.deviation is not None
    assert found.deviation == pytest.approx(math.sqrt(0.18 / 4))
    critical = found.critical
    assert critical is not None
    bound = np.full(2, critical)
    level = multivariate_t.cdf(bound, shape=[[1, 0.5], [0.5, 1]], df=4, lower_limit=-bound, random_state=0)
    assert level == pytest.approx(0.95, abs=0.001)
    half = critical * found.deviation * math.sqrt(2 / 3)
    for row, mean in (("a", 1.0), ("b", 2.0)):
        estimate = found.differences[row].estimate
        assert (estimate.low, estimate.mean, estimate.high) == pytest.approx((mean - half, mean, mean + half))


def test_two_seeds_give_points_and_no_verdict_and_one_gives_its_value():
    found, verdict = perplexities({1: 5.0, 2: 5.1}, {1: 4.9, 2: 4.9})
    assert verdict == "n<3"
    assert found.estimate.values == pytest.approx((5.0 / 4.9 - 1, 5.1 / 4.9 - 1))
    assert (found.estimate.low, found.detectable, found.interval) == (None, None, None)
    found, verdict = perplexities({1: 5.0}, {1: 4.9, 2: 4.9, 3: 5.0})
    assert (verdict, found.estimate.values) == ("n<3", pytest.approx((5.0 / 4.9 - 1,)))


def test_a_row_of_two_seeds_has_no_verdict_beside_rows_that_have_one():
    found = compared({"a": [2.0, 2.1, 1.9], "b": [3.0, 3.2]}, [1.0, 1.1, 1.2])
    assert (found["a"].interval, found["b"].interval) == ("pooled", None)
    assert found["b"].estimate.mean == pytest.approx(2.05)


def test_only_seeds_that_both_rows_have_are_paired():
    found, verdict = perplexities({1: 5.0, 2: 5.0, 9: 1.0}, {1: 5.0, 2: 5.0, 3: 5.0, 4: 9.0})
    assert (found.estimate.n, verdict) == (2, "n<3")
    assert compare({"base": {2: 1.0}, "row": {1: 1.0}}, "base", 0.95).differences == {}
    assert compare({"row": {1: 1.0}}, "base", 0.95).differences == {}


def test_a_row_that_scatters_unlike_the_rest_has_the_interval_of_its_own_pairs():
    rows = {f"row{at}": [at + 0.01, at - 0.01, at + 0.02 * (at % 2)] for at in range(1, 9)}
    found = compare(
        {
            "base": by_seed([0.0, 0.01, 0.0]),
            **{row: by_seed(own) for row, own in rows.items()},
            "wild": by_seed([1.0, 9.0, 2.0]),
        },
        "base",
        0.95,
    )
    assert [each.row for each in found.apart] == ["wild"]
    assert (found.compared, found.rows) == (8, 9)
    wild = found.differences["wild"]
    assert (wild.interval, wild.freedom) == ("own", 2)
    # Student's t(2) has the quantile (2 p - 1) / sqrt(2 p (1 - p)); each of nine comparisons may miss by 0.05 / 9.
    p = 1 - 0.05 / 9 / 2
    pairs = [1.0, 8.99, 2.0]
    mean = sum(pairs) / 3
    error = math.sqrt(sum((value - mean) ** 2 for value in pairs) / 2 / 3)
    assert wild.estimate.half_width == pytest.approx((2 * p - 1) / math.sqrt(2 * p * (1 - p)) * error)
    without = compare(
        {"base": by_seed([0.0, 0.01, 0.0]), **{row: by_seed(own) for row, own in rows.items()}}, "base", 0.95
    )
    assert found.deviation == without.deviation
    assert found.critical is not None
    assert without.critical is not None
    assert found.critical > without.critical, "the nine comparisons share the level"


def test_where_the_baseline_scatters_unlike_the_rest_nothing_is_pooled():
    rows = {f"row{at}": by_seed([at + 0.01, at - 0.01, at + 0.02 * (at % 2)]) for at in range(1, 9)}
    found = compare({"base": by_seed([0.0, 9.0, 1.0]), **rows}, "base", 0.95)
    assert [each.row for each in found.apart] == ["base"]
    assert (found.critical, found.deviation, found.compared) == (None, None, 0)
    assert {each.interval for each in found.differences.values()} == {"own"}


def test_the_trials_of_the_baseline_in_another_row_differ_by_nothing():
    same = [4.9, 5.0, 5.3]
    found = compared({"again": same, "row": [5.0, 5.2, 5.3]}, same, repeats={"again": "base"})
    assert (found["again"].estimate.low, found["again"].estimate.high) == (0.0, 0.0)
    assert judge(found["again"].estimate, 0.001) == "equivalent"
    alone = compared({"row": [5.0, 5.2, 5.3]}, same)
    assert found["row"] == alone["row"], "they count once"


def test_the_trials_of_a_row_in_another_row_have_its_interval():
    base, row = [4.9, 5.0, 5.3], [5.0, 5.2, 5.3]
    found = compared({"row": row, "again": row}, base, repeats={"again": "row"})
    assert found["again"] == found["row"] == compared({"row": row}, base)["row"]


def test_a_difference_within_the_margin_is_equivalent_even_when_it_is_certain():
    found, verdict = perplexities(by_seed([4.91, 4.92, 4.93]), by_seed([4.90, 4.91, 4.92]))
    assert found.estimate.low > 0
    assert verdict == "equivalent"


def test_scores_that_do_not_scatter_are_certain():
    found, verdict = perplexities(by_seed([5.0] * 3), by_seed([4.0] * 3))
    assert (verdict, found.detectable) == ("worse", 0.0)
    assert found.estimate.low == found.estimate.high == pytest.approx(0.25)


def test_perplexities_at_the_end_of_the_floats_still_compare():
    found, verdict = perplexities(by_seed([1e300, 5.0, 5.0]), by_seed([5.0, 5.0, 5.0]))
    assert math.isfinite(found.estimate.high)
    assert verdict == "undecided"


@given(st.lists(st.tuples(logs, logs), min_size=3, max_size=8))
def test_swapping_row_and_baseline_mirrors_the_verdict(pairs):
    row, base = by_seed([mine for mine, _ in pairs]), by_seed([theirs for _, theirs in pairs])
    forth = compare({"base": base, "row": row}, "base", 0.95).differences["row"]
    back = compare({"base": row, "row": base}, "base", 0.95).differences["row"]
    mirrored = {"better": "worse", "worse": "better", "equivalent": "equivalent", "undecided": "undecided"}
    assert judge(back.estimate, 0.02) == mirrored[judge(forth.estimate, 0.02)]
    assert back.detectable == pytest.approx(forth.detectable, rel=1e-6, abs=1e-9)


def test_a_plan_tells_what_its_table_will_find():
    """What a table finds is what its plan said, for the scatter that it then has."""
    scores = {"base": by_seed([1.0, 1.1, 1.3]), "a": by_seed([2.0, 2.3, 2.0]), "b": by_seed([3.3, 3.0, 3.0])}
    found = compare(scores, "base", 0.95)
    assert found.deviation is not None
    planned = detectable_differences({row: own.keys() for row, own in scores.items()}, "base", found.deviation, 0.95)
    assert planned == {row: pytest.approx(each.detectable) for row, each in found.differences.items()}
    assert detectable_differences({"base": (1, 2), "a": (1, 2)}, "base", 1.0, 0.95) == {}


def test_more_seeds_find_smaller_differences():
    found = [
        detectable_differences({row: range(seeds) for row in ("base", "a", "b", "c")}, "base", 0.01, 0.95)["a"]
        for seeds in (3, 4, 6, 12)
    ]
    assert found == sorted(found, reverse=True)
