"""A plan as text. What a whole plan says is tested where the command line is."""

from __future__ import annotations

import csv
import io
import json

import pytest
from rich.console import Console

from framework.report.plan_table import changes_text, render_plan
from framework.spec import ExperimentSpec
from framework.survey import Surveyed


@pytest.fixture
def surveyed(trial):
    """`surveyed("h1", model.num_heads=1)`: a line of a plan that was looked at."""

    def build(row, parameters=65_000_000, derived=None, **changes):
        return Surveyed(trial(row, 1, changes=changes), parameters, "to do", derived or {})

    return build


@pytest.fixture
def drawn(experiment):
    def draw(*lines, spec=experiment):
        return render_plan(spec, lines, "table", Console(file=io.StringIO()))

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
    assert "64,500,001         65   to do" in base
    assert "1          –   to do" in h1
    assert "81,000,000       80 ≠   to do" in n8
    assert text.endswith(
        "Parameters against the reference: 2 compared, 1 match.\n"
        "Mismatch: N8 has 81.000 million here, the reference prints 80.\n"
    )


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


def test_a_terminal_gets_its_own_width(surveyed, experiment):
    console = Console(file=io.StringIO(), force_terminal=True, width=60, color_system=None)
    text = render_plan(experiment, [surveyed("h1", **{"model.num_heads": 1})], "table", console)
    assert max(map(len, text.splitlines()[:-2])) <= 60


def test_csv_and_json_carry_the_same_plan(surveyed, experiment):
    lines = [surveyed("base"), surveyed("h1", derived={"d_k": 64}, **{"model.num_heads": 1})]
    console = Console(file=io.StringIO())
    plain = json.loads(render_plan(experiment, lines, "json", console))
    flat = list(csv.DictReader(io.StringIO(render_plan(experiment, lines, "csv", console))))
    assert list(plain[0]) == list(flat[0])
    for name in ("row", "seed", "status", "train_key", "evaluate_key", "parameters"):
        assert [str(line[name]) for line in plain] == [line[name] for line in flat]
    assert (plain[1]["derived"], flat[1]["derived"]) == ({"d_k": 64}, "d_k=64")
