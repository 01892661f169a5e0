"""Lengths of time, read and written."""

from __future__ import annotations

import pytest

from framework.cost import duration, seconds_of
from framework.errors import SpecError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45s", 45), ("90m", 5400), ("2h", 7200), ("1h30m", 5400), ("1d", 86_400), ("1d2h3m4s", 93_784), (" 2h ", 7200)],
)
def test_a_length_of_time_is_read(text, seconds):
    assert seconds_of(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "2 hours", "1.5h", "-1h", "30m1h", "0h", "2h2h", "1w"])
def test_anything_else_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(SpecError) as refused:
        seconds_of(text, "--budget")
    assert str(refused.value) == (f"--budget: {text!r} is no length of time: write such as 90m, 2h, 1h30m or 1d")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0s"), (0.4, "0.4s"), (9.9, "9.9s"), (9.96, "10s"), (59.4, "59s"), (59.7, "1m"), (60, "1m"),
        (90, "1m30s"), (3599.6, "1h"), (5400, "1h30m"), (7170, "2h"), (86_400, "1d"), (86_399, "1d"), (180_000, "2d2h"),
    ],
)  # fmt: skip
def test_seconds_are_written_in_their_two_largest_units(seconds, text):
    assert duration(seconds) == text
