from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.report import statistics
from framework.report.statistics import finite, order_agreement

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "statistics.json").read_text())
perplexities = st.floats(1.0, 1e6)


def found(value):
    assert value is not None
    return value


def estimate(values, confidence):
    return found(statistics.estimate(values, confidence))


def compare_perplexities(row, baseline, confidence, margin):
    return found(statistics.compare_perplexities(row, baseline, confidence, margin))


def compare_means(row, baseline, confidence):
    return found(statistics.compare_means(row, baseline, confidence))


def by_seed(values):
    return dict(enumerate(values, start=1))


def test_interval_is_the_one_that_student_published():
    case = GOLDEN["student_1908"]
    result = estimate(case["values"], case["confidence"])
    assert (result.mean, result.low, result.high) == pytest.approx((case["mean"], case["low"], case["high"]), abs=1e-7)


@pytest.mark.parametrize("row", GOLDEN["perplexities"]["rows"], ids=lambda row: row["verdict"])
def test_paired_perplexities_give_the_interval_of_scipy_and_its_verdict(row):
    case = GOLDEN["perplexities"]
    result = compare_perplexities(row["row"], case["baseline"], case["confidence"], case["margin"])
    assert result.verdict == row["verdict"]
    interval = (result.estimate.mean, result.estimate.low, result.estimate.high, result.detectable)
    assert interval == pytest.approx([row[name] for name in ("mean", "low", "high", "detectable")], rel=1e-9)


def test_paired_bleu_gives_the_interval_of_scipy():
    case = GOLDEN["bleu"]
    row, base = by_seed(case["row"]), by_seed(case["baseline"])
    result = compare_means(row, base, case["confidence"])
    interval = (result.mean, result.low, result.high)
    assert interval == pytest.approx([case[name] for name in ("mean", "low", "high")], rel=1e-9)


def test_one_value_stands_alone():
    result = estimate([4.92], 0.95)
    assert (result.n, result.mean, result.low, result.half_width) == (1, 4.92, None, None)


def test_two_seeds_give_points_and_no_verdict():
    result = compare_perplexities({1: 5.0, 2: 5.1}, {1: 4.9, 2: 4.9}, 0.95, 0.02)
    assert result.verdict == "n<3"
    assert result.estimate.values == pytest.approx((5.0 / 4.9 - 1, 5.1 / 4.9 - 1))
    assert result.detectable is None


def test_only_seeds_that_both_rows_have_are_paired():
    result = compare_perplexities({1: 5.0, 2: 5.0, 3: None, 9: 1.0}, {1: 5.0, 2: 5.0, 3: 5.0, 4: 9.0}, 0.95, 0.02)
    assert result.estimate.n == 2
    assert statistics.compare_perplexities({1: 5.0}, {2: 5.0}, 0.95, 0.02) is None


def test_nan_and_null_are_never_counted():
    """NaN and null sort above every number in a table, and make a mean NaN."""
    assert finite([25.8, math.nan, 24.9, None, math.inf]) == (25.8, 24.9)
    assert estimate([25.8, math.nan, 24.9, None], 0.95).mean == pytest.approx(25.35)
    assert statistics.estimate([math.nan, None], 0.95) is None


def test_a_difference_within_the_margin_is_equivalent_even_when_it_is_certain():
    result = compare_perplexities(by_seed([4.91, 4.92, 4.93]), by_seed([4.90, 4.91, 4.92]), 0.95, 0.02)
    assert result.estimate.low > 0
    assert result.verdict == "equivalent"


def test_the_same_trials_in_two_rows_are_equivalent():
    same = by_seed([4.9, 5.0, 5.3])
    result = compare_perplexities(same, same, 0.95, 0.001)
    assert (result.verdict, result.detectable) == ("equivalent", 0.0)


def test_perplexities_at_the_end_of_the_floats_still_compare():
    result = compare_perplexities(by_seed([1e300, 5.0, 5.0]), by_seed([5.0, 5.0, 5.0]), 0.95, 0.02)
    assert math.isfinite(result.estimate.high)
    assert result.verdict == "undecided"


@given(st.lists(st.tuples(perplexities, perplexities), min_size=3, max_size=8))
def test_swapping_row_and_baseline_mirrors_the_verdict(pairs):
    row, base = by_seed([mine for mine, _ in pairs]), by_seed([theirs for _, theirs in pairs])
    mirrored = {"better": "worse", "worse": "better", "equivalent": "equivalent", "undecided": "undecided"}
    forth = compare_perplexities(row, base, 0.95, 0.02)
    back = compare_perplexities(base, row, 0.95, 0.02)
    assert back.verdict == mirrored[forth.verdict]
    assert back.detectable == pytest.approx(forth.detectable, rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(1.0, 100.0), min_size=3, max_size=8))
def test_more_confidence_means_a_wider_interval_around_the_same_mean(values):
    narrow, wide = estimate(values, 0.9), estimate(values, 0.99)
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high


def test_order_agreement_counts_pairs_that_neither_figure_ties():
    assert order_agreement([(1.0, 10.0), (2.0, 20.0), (3.0, 15.0), (3.0, 99.0)]) == (4, 5)
    assert order_agreement([(1.0, 1.0)]) == (0, 0)
