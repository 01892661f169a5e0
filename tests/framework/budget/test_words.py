"""A budget as text, and the experiment in it."""

from __future__ import annotations

import math

import pytest

from framework.budget import Scatter, budget_of, budget_text
from framework.cost import Pace, RowCost, TypicalBatch
from framework.errors import SpecError
from framework.experiment import load
from tests.framework.tiny_experiment import write

ROWS = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}, "long": {"change": {"train.steps": 36}}}


def cost(steps=12, update=1.0, timed=True):
    pace = Pace(update=update, point=0.0, evaluation=0.0, source="probe") if timed else None
    return RowCost(steps, 6, TypicalBatch(12, 30, 30, True), None, None, pace)


@pytest.fixture
def proposed(tmp_path):
    """`proposed(216)`: the experiment, its budget of so many seconds on a worker, and its costs."""

    def build(seconds, rows=ROWS, chosen=(), **sections):
        experiment = load(write(tmp_path, rows, **sections), home=tmp_path / "home", rows=chosen)
        costs = {row: cost(36 if row == "long" else 12) for row in rows if not chosen or row in chosen}
        found = budget_of(experiment.spec, experiment.plan(), experiment.home, costs, seconds, 1)
        return experiment, found, costs

    return build


def test_a_budget_says_what_fits_and_what_it_rests_on(proposed):
    experiment, found, costs = proposed(216)  # 6 · 12 + 3 · 12 + 3 · 36
    text = budget_text(found, experiment.spec, costs, "tiny.yaml").splitlines()
    three, five, *_ = found.designs
    finds = [
        f"{math.expm1(d.detectable * 0.01):.1%} of perplexity ({d.detectable:.1f} deviations)" for d in (three, five)
    ]
    assert text[0] == "Within 3m36s on 1 worker:"
    assert text[1].split("  ")[1:3] == ["seeds", "base"]
    assert [" ".join(line.split()) for line in text[2:4]] == [
        f"3 6 12 3m36s {finds[0]}",
        f"5 10 7 of 12 3m30s {finds[1]}",
    ]
    assert "at a residual's standard deviation of 1%, which is assumed: no trials are done here that tell." in "".join(
        text
    )


def test_scatter_that_is_known_is_used_and_named(proposed):
    experiment, found, costs = proposed(216)
    known = type(found)(found.seconds, 4, found.designs, Scatter(0.005, 6, 12))
    text = budget_text(known, experiment.spec, costs, "tiny.yaml")
    assert text.startswith("Within 3m36s on 4 workers:\n")
    assert f"{math.expm1(found.designs[0].detectable * 0.005):.1%} of perplexity" in text
    assert "standard deviation of 0.50%, as in the 12 trials that are done (6 degrees of freedom)." in text


def test_what_is_to_be_pasted_runs_the_first_design(proposed, tmp_path):
    experiment, found, costs = proposed(108, train={"warmup_steps": 4})
    text = budget_text(found, experiment.spec, costs, experiment.loaded.path.name)
    head, pasted = text.split("to be written beside tiny.yaml:\n\n")
    pasted, warning = pasted.split("\n\n")
    assert warning == "Of these steps train.warmup_steps=4 would be most or all: lower it as well.\n"
    (tmp_path / "short.yaml").write_text(pasted)
    short = load(tmp_path / "short.yaml", home=tmp_path)
    assert {(trial.row, trial.seed): trial.train.steps for trial in short.plan()} == {
        **{("base", seed): 6 for seed in range(1, 7)},
        **{("one-head", seed): 6 for seed in range(1, 4)},
        **{("long", seed): 18 for seed in range(1, 4)},
    }
    assert "  3 " in head


def test_one_row_is_compared_with_nothing(proposed):
    experiment, found, costs = proposed(1000, {"base": {}})
    assert "nothing: one row" in budget_text(found, experiment.spec, costs, "tiny.yaml")


def test_a_row_without_a_time_is_refused_by_name(proposed):
    experiment, _, costs = proposed(216)
    costs["long"] = cost(timed=False)
    with pytest.raises(SpecError) as refused:
        budget_of(experiment.spec, experiment.plan(), experiment.home, costs, 216, 1)
    assert str(refused.value) == (
        "--budget: row 'long' could not be timed: leave it out with --row, which names the others"
    )


def test_rows_without_their_baseline_are_refused(proposed):
    with pytest.raises(SpecError) as refused:
        proposed(216, chosen=("one-head",))
    assert str(refused.value) == ("--row: a budget compares rows with the baseline 'base': choose that too, --row base")
