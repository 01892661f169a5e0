"""What is said of the intervals below the table."""

from __future__ import annotations

import pytest

STEADY = {"base": (4.90, 4.95, 4.92), "h1": (5.21, 5.30, 5.22), "N8": (4.85, 4.85, 4.90)}
WILD = {**STEADY, "N8": (5.05, 4.25, 5.10)}


@pytest.fixture
def notes(report, plan, finish):
    """The notes of a table of which these are the perplexities."""

    def of(perplexities):
        for trial in plan:
            finish(trial, perplexities[trial.row][trial.seed - 1])
        return report(plan).notes

    return of


def test_the_model_its_residual_and_the_number_of_comparisons_are_stated(notes):
    found = notes(STEADY)
    assert (
        "log-perplexity = row + seed by least squares, the residual pooled over 3 rows: standard deviation 0.0066, 4 "
        "degrees of freedom; 2 comparisons with base at 3.31 standard errors (Dunnett)"
    ) in found
    assert (
        "no pooled row scatters more than by chance: N8 the most, with 6.6 times the variance of the others (p = 0.4; "
        "F test, Bonferroni over rows)"
    ) in found
    assert "smallest true difference in perplexity that such a table finds 8 times in 10: 2.4%" in found


def test_a_row_that_scatters_unlike_the_rest_is_named_and_what_follows(notes):
    found = notes(WILD)
    (apart,) = [note for note in found if "more variance than" in note]
    assert apart.startswith("more variance than the other rows' can have by chance: N8 (")
    assert apart.endswith(
        "; they are not pooled and have intervals of their own pairs of seeds (Student's t at Bonferroni's share of "
        "the level)"
    )
    assert any("pooled over 2 rows" in note and "1 comparison with base at 6.21 standard" in note for note in found)
    assert "too few rows to tell whether they scatter alike, which pooling takes for granted" in found
    assert any("% (median over rows; " in note for note in found if note.startswith("smallest true difference"))


def test_a_baseline_that_scatters_unlike_the_rest_leaves_nothing_to_pool(notes):
    found = notes({"base": (3.9, 5.95, 4.92), "h1": (5.21, 5.22, 5.23), "N8": (4.85, 4.86, 4.87)})
    (apart,) = [note for note in found if "more variance than" in note]
    assert "base (" in apart
    assert "; nothing is pooled, and every row has the interval of its own pairs of seeds" in apart
    assert not any("pooled over" in note for note in found)


def test_two_seeds_rest_on_nothing_and_nothing_is_said(report, plan, finish):
    for trial in plan:
        if trial.seed < 3:
            finish(trial, 4.9 + trial.seed / 10)
    said = " ".join(report(plan).notes)
    assert "least squares" not in said
    assert "smallest true" not in said


def test_a_baseline_with_few_seeds_is_told(notes):
    assert (
        "fewer than twice the seeds of other rows: base; every difference leans on its baseline, so that more seeds of "
        "it, which the rows share in sets that overlap, make all intervals narrower"
    ) in notes(STEADY)


def test_seeds_that_the_baseline_has_alone_are_told(report, plan, trial):
    found = report(plan + tuple(trial("base", seed) for seed in (4, 5, 6))).notes
    assert (
        "seeds that say nothing of any difference, because no other row has them: 4, 5, 6 of base; share them out "
        "among the rows in sets that overlap"
    ) in found
    assert not any("fewer than twice" in note for note in found)


def test_rows_that_spread_over_the_baselines_seeds_need_no_advice(report, trial):
    own = {"base": range(1, 7), "h1": (1, 2, 3), "N8": (4, 5, 6)}
    found = " ".join(report(tuple(trial(row, seed) for row, seeds in own.items() for seed in seeds)).notes)
    assert "fewer than twice" not in found
    assert "say nothing of any difference" not in found


def test_what_the_intervals_rest_on_stands_in_the_lines_of_rows(report, plan, finish):
    for trial in plan:
        finish(trial, WILD[trial.row][trial.seed - 1])
    rows = report(plan).rows
    assert rows["interval"].to_list() == [None, "pooled", "own"]
    assert rows["degrees_of_freedom"].to_list() == [None, 2, 2]
    low, mean, high = (rows[f"perplexity_difference{end}"].to_list()[1] for end in ("_low", "", "_high"))
    assert low < mean < high
    assert rows["detectable"].to_list()[1] < rows["detectable"].to_list()[2]


def test_the_same_trials_in_two_rows_count_once(report, plan, trial, finish):
    """A row that changes nothing has the baseline's keys, and so its trials."""
    again = tuple(
        trial(each.row, each.seed, train_key=f"base-{each.seed}", evaluate_key=f"base-{each.seed}-scores")
        if each.row == "N8"
        else each
        for each in plan
    )
    for each in again:
        finish(each, STEADY["base" if each.row == "N8" else each.row][each.seed - 1])
    found, without = report(again).rows, report(plan[:6]).rows
    assert found["verdict"].to_list() == ["baseline", "worse", "equivalent"]
    assert found["perplexity_difference_high"].to_list() == [*without["perplexity_difference_high"].to_list(), 0.0]
