"""What is said of a publication's figures below the table."""

from __future__ import annotations

import pytest

from framework.report import Report
from framework.spec import ExperimentSpec
from tests.framework.report.conftest import SECTIONS

PRINTED = {"base": 4.92, "one": 5.12, "two": 4.66, "three": 4.91, "same": 4.92, "none": None}


@pytest.fixture
def notes(make, trial, finish, tmp_path):
    """The notes of a table of which these are the perplexities, by row and seed."""

    def of(threshold, perplexities, printed=PRINTED):
        rows = {row: {"reference": {"perplexity": printed[row]}} for row in perplexities}
        rules = {"reference_threshold": threshold}
        experiment = make(ExperimentSpec, name="t", **SECTIONS, rows=rows, report=rules)
        plan = tuple(trial(row, seed) for row, own in perplexities.items() for seed in range(1, len(own) + 1))
        for each in plan:
            finish(each, perplexities[each.row][each.seed - 1])
        return Report.build(experiment, plan, tmp_path).notes

    return of


def test_rows_are_counted_and_named_that_lie_on_the_references_side(notes):
    found = notes(0.2, {"base": [10.0], "one": [11.0], "two": [10.5], "three": [9.0], "same": [9.0], "none": [8.0]})
    assert (
        "direction: 1 of 2 rows whose reference differs from its baseline by at least 0.2 in perplexity lie on the "
        "reference's side of ours (one); not two; 0 of the 0 that are found better or worse"
    ) in found


@pytest.mark.parametrize("printed", [5.12, 4.72])
def test_printed_figures_differ_by_what_they_say_in_decimals(notes, printed):
    """5.12 - 4.92 is a little more than 0.2 in binary, and 4.92 - 4.72 may be a little less."""
    found = " ".join(notes(0.2, {"base": [10.0], "one": [9.0]}, {"base": 4.92, "one": printed}))
    assert f"direction: {int(printed < 4.92)} of 1 rows" in found


def test_without_a_threshold_every_row_counts_whose_reference_differs(notes):
    found = notes(0.0, {"base": [10.0], "one": [11.0], "three": [9.0], "same": [9.0]})
    assert (
        "direction: 2 of 2 rows whose reference differs from its baseline in perplexity lie on the reference's side of "
        "ours (one, three); 0 of the 0 that are found better or worse"
    ) in found


def test_rows_found_better_or_worse_are_counted_among_them(notes):
    base = [10.0, 10.01, 10.02]
    found = " ".join(notes(0.0, {"base": base, "one": [11.0, 11.01, 11.02], "two": [12.0, 12.01, 12.03]}))
    assert "direction: 1 of 2 rows" in found
    assert "; not two; 1 of the 2 that are found better or worse" in found


def test_the_order_of_all_rows_is_kendalls_tau_with_its_number_of_rows(notes):
    """By hand, with the baseline: 5 of 6 pairs in order and one against it are (5 - 1) / 6."""
    found = notes(0.2, {"base": [10.0], "one": [11.0], "two": [9.0], "three": [10.5], "none": [3.0]})
    assert "order: Kendall's tau-b between the reference's perplexities and ours is 0.67 over 4 rows" in found


def test_ties_count_as_ties(notes):
    """By hand: two pairs in order, and one that the reference alone ties: 2 / √(2 · 3)."""
    found = notes(0.2, {"base": [10.0], "one": [11.0], "same": [9.0]})
    assert "order: Kendall's tau-b between the reference's perplexities and ours is 0.82 over 3 rows" in found


def test_rows_without_a_reference_stay_out(notes):
    found = " ".join(notes(0.2, {"base": [10.0], "none": [11.0]}))
    assert "direction" not in found
    assert "order" not in found


def test_rows_that_are_all_alike_have_no_order(notes):
    assert "order" not in " ".join(notes(0.2, {"base": [10.0], "one": [10.0], "two": [10.0]}))
