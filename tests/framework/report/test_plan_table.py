"""A plan as text. What a whole plan says is tested where the command line is."""

from __future__ import annotations

import csv
import io
import json

import pytest
from rich.console import Console

from framework.cost import Count, Pace, RowCost, TypicalBatch
from framework.report.plan_table import changes_text, render_plan
from framework.spec import ExperimentSpec
from framework.survey import Surveyed


@pytest.fixture
def surveyed(trial):
    """`surveyed("h1", model.num_heads=1)`: a line of a plan that was looked at."""

    def build(row, parameters=65_000_000, derived=None, **changes):
        return Surveyed(trial(row, 1, changes=changes), parameters, "to do", derived or {})

    return build


COUNT = Count(flops=9_500_000_000_000, state_bytes=1_000_000_000, activation_bytes=15_100_000_000)


def cost(steps=400, pairs=800, count=COUNT, uncounted=None, pace=None):
    return RowCost(steps, 100, TypicalBatch(pairs, 30, 28, False), count, uncounted, pace)


@pytest.fixture
def drawn(experiment):
    """`drawn(line, h1=cost(…))`: lines as a table; a row costs the same as others unless said otherwise."""

    def draw(*lines, spec=experiment, console=None, **costs):
        by_row = {line.trial.row: costs.get(line.trial.row, cost()) for line in lines}
        return render_plan(spec, lines, by_row, "table", console or Console(file=io.StringIO()))

    return draw


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, ""),
        ({"model.num_heads": 1, "train.label_smoothing": 0.0}, "num_heads=1, train.label_smoothing=0.0"),
        (
            {"model.tie_embeddings": False, "train.gradient_clip": None},
            "tie_embeddings=false, train.gradient_clip=null",
        ),
        ({"model.positional_scheme": "learned"}, "positional_scheme=learned"),
        ({"model.attention_score": {"name": "kernel"}}, "attention_score=kernel"),
        (
            {"model.attention_score": {"name": "kernel", "options": {"sigma": 2.0, "learned": True}}},
            "attention_score=kernel(sigma=2.0, learned=true)",
        ),
        ({"evaluate.metrics": ["bleu"]}, 'evaluate.metrics=["bleu"]'),
    ],
)
def test_changes_are_said_in_short(surveyed, changes, text):
    assert changes_text(surveyed("h1", **changes)) == text


def test_derived_sizes_stand_in_brackets(surveyed, drawn):
    text = drawn(surveyed("base"), surveyed("h1", derived={"d_k": 64, "d_v": 64}, **{"model.num_heads": 1}))
    assert "num_heads=1 [d_k=64, d_v=64]" in text


def test_brackets_of_a_value_are_no_markup(surveyed, drawn):
    assert 'evaluate.metrics=["bleu"]' in drawn(surveyed("h1", **{"evaluate.metrics": ["bleu"]}))


def test_a_count_is_compared_as_the_publication_rounded_it(surveyed, drawn):
    text = drawn(surveyed("base", 64_500_001), surveyed("h1", 1), surveyed("N8", 81_000_000))
    base, h1, n8 = (next(line for line in text.splitlines() if f" {row} " in line) for row in ("base", "h1", "N8"))
    assert "64,500,001         65   3.8e15   16.1 GB   to do" in base
    assert "1          –   3.8e15   16.1 GB   to do" in h1
    assert "81,000,000       80 ≠   3.8e15   16.1 GB   to do" in n8
    assert (
        "\nParameters against the reference: 2 compared, 1 match.\n"
        "Mismatch: N8 has 81.000 million here, the reference prints 80.\n"
    ) in text


def test_costs_are_told_with_what_they_were_counted_for(surveyed, drawn):
    text = drawn(surveyed("base"), surveyed("h1"), surveyed("N8"), N8=cost(steps=800, pairs=400))
    assert "time" not in text
    assert "Left to do" not in text
    assert "7.6e15   16.1 GB   to do" in text
    assert text.endswith(
        "FLOPs: products of the whole training. Memory: weights, gradients, Adam, and about what the backward pass "
        "needs, in float32.\n"
        "Counted for batches of 800 pairs of 30 and 28 pieces.\n"
        "Rows N8: of 400 pairs of 30 and 28 pieces.\n"
    )


def test_a_row_that_is_not_counted_says_why(surveyed, drawn):
    text = drawn(surveyed("base"), surveyed("h1"), h1=cost(count=None, uncounted="RuntimeError: no numbers"))
    assert "–         –   to do" in text
    assert text.endswith("Not counted: row h1, which cannot be put through without numbers: RuntimeError: no numbers\n")


def test_times_have_a_column_where_there_are_any_and_are_summed_over_what_is_left(surveyed, drawn, trial):
    pace = Pace(update=1.0, point=5.0, evaluation=80.0, source="probe")
    done = Surveyed(trial("base", 2), 1, "done", {})
    text = drawn(surveyed("base"), done, base=cost(pace=pace))
    assert "3.8e15   16.1 GB   8m20s   to do" in text  # 400 · 1 + 4 · 5 + 80
    assert text.endswith("Left to do: 8m20s of one worker.\n")
    text = drawn(surveyed("base"), surveyed("h1"), base=cost(pace=pace))
    assert "16.1 GB       –   to do" in text
    assert text.endswith("Left to do: 8m20s of one worker (1 more are not timed).\n")


def test_little_memory_is_told_in_megabytes(surveyed, drawn):
    assert "2.5 MB" in drawn(surveyed("base"), base=cost(count=Count(1, 2_000_000, 500_000)))


def test_without_references_nothing_is_compared(surveyed, drawn, experiment, make):
    from tests.framework.report.conftest import SECTIONS

    plain = make(ExperimentSpec, name="plain", **SECTIONS, rows={"base": {}})
    text = drawn(surveyed("base"), spec=plain)
    assert text.startswith("plain, trials: 1\n")
    assert "ref." not in text
    assert "reference" not in text


def test_keys_are_cut_to_what_the_eye_needs(surveyed, drawn, trial):
    line = Surveyed(trial("base", 1, train_key="0123456789abcdef", evaluate_key=None), 1, "no corpus", {})
    assert "no corpus   01234567    –" in drawn(line)


def test_a_terminal_gets_its_own_width(surveyed, drawn):
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    text = drawn(surveyed("h1", **{"model.num_heads": 1}), console=console)
    table, _, _ = text.rpartition("FLOPs: ")
    assert max(map(len, table.splitlines())) <= 80


def test_csv_and_json_carry_the_same_plan(surveyed, experiment):
    lines = [surveyed("base"), surveyed("h1", derived={"d_k": 64}, **{"model.num_heads": 1})]
    console = Console(file=io.StringIO())
    costs = {"base": cost(pace=Pace(update=1.0, point=5.0, evaluation=80.0, source="trials")), "h1": cost(count=None)}
    plain = json.loads(render_plan(experiment, lines, costs, "json", console))
    flat = list(csv.DictReader(io.StringIO(render_plan(experiment, lines, costs, "csv", console))))
    assert list(plain[0]) == list(flat[0])
    for name in ("row", "seed", "status", "train_key", "evaluate_key", "parameters"):
        assert [str(line[name]) for line in plain] == [line[name] for line in flat]
    figures = {
        "training_flops": 3_800_000_000_000_000,
        "update_flops": 9_500_000_000_000,
        "state_bytes": 1_000_000_000,
        "activation_bytes": 15_100_000_000,
        "update_seconds": 1.0,
        "evaluation_seconds": 80.0,
        "seconds": 500.0,
        "seconds_from": "trials",
    }
    assert {name: plain[0][name] for name in figures} == figures
    assert [flat[0][name] for name in figures] == list(map(str, figures.values()))
    assert {plain[1][name] for name in figures} == {None}
    assert {flat[1][name] for name in figures} == {""}
    assert (plain[1]["derived"], flat[1]["derived"]) == ({"d_k": 64}, "d_k=64")
