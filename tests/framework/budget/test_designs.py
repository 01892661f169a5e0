"""What fits into a length of time."""

from __future__ import annotations

import pytest

from framework.budget import Row, propose
from framework.cost import Pace
from framework.errors import SpecError
from framework.report.statistics import detectable_differences


def row(steps=100, update=1.0, point=0.0, evaluation=0.0, seeds=None):
    return Row(Pace(update=update, point=point, evaluation=evaluation, source="probe"), steps, 50, seeds)


def fitting(rows, seconds, workers=1, seeds=(1,), done=()):
    return propose(rows, "base", seeds, done, seconds, workers, 0.95, None).designs


TWO = {"base": row(), "other": row()}


def test_all_steps_and_the_most_seeds_that_need_no_fewer_come_first():
    """3 seeds of a row and 6 of base are 9 trials of 100 s; 5 are 15, 10 are 30, 20 are 60."""
    designs = fitting(TWO, 1500)
    assert [(design.number, design.share) for design in designs] == [(5, 1.0), (10, 0.5), (20, 0.25)]
    assert [design.seconds for design in designs] == [1500, 1500, 1500]
    assert designs[0].seeds == {"base": tuple(range(1, 11)), "other": (1, 2, 3, 4, 5)}


def test_too_little_for_all_steps_gives_fewer_in_two_digits():
    rows = {"base": row(steps=12_345), "other": row(steps=12_345)}
    designs = fitting(rows, 9 * 4567)
    assert designs[0].number == 3
    assert designs[0].share == 4500 / 12_345
    assert designs[0].seconds == pytest.approx(9 * 4500)


def test_every_row_keeps_its_share_of_steps():
    rows = {"base": row(), "big": row(steps=300)}
    (first, *_) = fitting(rows, 750)  # 6 of base and 3 of three times the steps: 15 to a step of base
    assert (first.share, first.seconds) == (0.5, 6 * 50 + 3 * 150)


def test_measuring_takes_time_whatever_the_steps():
    rows = {"base": row(point=2.0, evaluation=10.0), "other": row(point=2.0, evaluation=10.0)}
    (first, *_) = fitting(rows, 9 * (100 + 4 + 10))
    assert first.share == 1
    (first, *_) = fitting(rows, 9 * (40 + 2 + 10))
    assert first.share == 0.4


def test_workers_share_the_trials_and_the_last_one_may_come_late():
    """Nine trials of 100 s on two workers end after 500 s; the bound for any order is 450 + 50."""
    (first, *_) = fitting(TWO, 500, workers=2)
    assert (first.number, first.share, first.seconds) == (3, 1, 500)
    (first, *_) = fitting(TWO, 499, workers=2)
    assert first.share < 1


def test_what_is_done_needs_no_time_with_all_steps_and_is_worth_nothing_with_fewer():
    done = {("base", seed) for seed in range(1, 7)}
    (first, *_) = fitting(TWO, 300, done=done)
    assert (first.number, first.share, first.seconds) == (3, 1, 300)
    (first, *_) = fitting(TWO, 299, done=done)
    assert (first.share, first.seconds) == (0.33, 297)


def test_the_experiment_s_seeds_come_first_and_a_row_keeps_its_own():
    rows = {**TWO, "big": row(seeds=(7,))}
    (first, *_) = fitting(rows, 1000, seeds=(4, 2))
    assert first.seeds == {"base": (4, 2, 1, 3, 5, 6), "other": (4, 2, 1), "big": (7,)}


def test_a_design_finds_what_the_report_says_that_it_finds():
    for design in fitting(TWO, 1500):
        expected = detectable_differences(design.seeds, "base", 1.0, 0.95)
        assert design.detectable == expected["other"]
    one = fitting({"base": row()}, 10_000)
    assert one[0].detectable is None


def test_more_seeds_find_smaller_differences():
    found = [design.detectable for design in fitting(TWO, 900)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found) > 2


def test_a_time_that_is_too_short_is_refused_with_what_would_be_needed():
    with pytest.raises(SpecError) as refused:
        fitting({"base": row(evaluation=10.0), "other": row(evaluation=10.0)}, 54, workers=2)
    assert str(refused.value) == (
        "--budget: 54s on 2 workers is too short: 3 seeds of a single step would take up to 55s; "
        "allow more time or workers, or choose fewer rows with --row"
    )
