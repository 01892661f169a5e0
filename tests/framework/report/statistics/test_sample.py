from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.report.statistics import estimate, finite

STUDENT = json.loads((Path(__file__).parents[3] / "golden" / "statistics.json").read_text())["student_1908"]


def estimated(values, confidence=0.95):
    found = estimate(values, confidence)
    assert found is not None
    return found


def test_interval_is_the_one_that_student_published():
    result = estimated(STUDENT["values"], STUDENT["confidence"])
    expected = (STUDENT["mean"], STUDENT["low"], STUDENT["high"])
    assert (result.mean, result.low, result.high) == pytest.approx(expected, abs=1e-7)


def test_one_value_stands_alone():
    result = estimated([4.92])
    assert (result.n, result.mean, result.low, result.half_width) == (1, 4.92, None, None)


def test_nan_and_null_are_never_counted():
    """NaN and null sort above every number in a table, and make a mean NaN."""
    assert finite([25.8, math.nan, 24.9, None, math.inf]) == (25.8, 24.9)
    assert estimated([25.8, math.nan, 24.9, None]).mean == pytest.approx(25.35)
    assert estimate([math.nan, None], 0.95) is None


@given(st.lists(st.floats(1.0, 100.0), min_size=3, max_size=8))
def test_more_confidence_means_a_wider_interval_around_the_same_mean(values):
    narrow, wide = estimated(values, 0.9), estimated(values, 0.99)
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high
