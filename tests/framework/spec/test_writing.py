from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.plan import plan
from framework.spec import ExperimentSpec, Spec
from framework.spec.load import read, validate
from framework.spec.reading import read_text
from framework.spec.writing import short_yaml, to_yaml

TRICKY = (
    "1e-4", "1e4", "no", "on", "null", "~", "", ".inf", "-.INF", ".nan", ".5", "0x1", "0o7", "1_000", "1:30", "true",
    "2024-01-01", "- a", "a: b", "#", "a #b", "é", "\u2028", "\x85", "\ufeff", "\t", " a ", "a\nb", "a\r\nb", "'", '"',
    "!x", "&a", "*a", "?", "|", ">", "%", "@", "`", "{", "[", "<<", "=", "💡", "\x00", "\\",
)  # fmt: skip
TEXT = st.sampled_from(TRICKY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


class Anything(Spec):
    value: Any


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_what_is_written_reads_back_as_the_same_value_of_the_same_type(value):
    back = read_text(to_yaml(Anything(value=value)), "x.yaml").plain()
    assert repr(back) == repr({"value": value})


@pytest.mark.parametrize("text", TRICKY)
def test_text_that_looks_like_something_else_reads_back_as_text(text):
    assert read_text(to_yaml(Anything(value={text: text})), "x.yaml").plain() == {"value": {text: text}}


def test_what_a_person_reads_is_plain():
    assert to_yaml(Anything(value={"a": 0.1, "b": 1e-9, "c": "text", "d": None, "é": [1, True]})) == (
        "value:\n  a: 0.1\n  b: 1.0e-09\n  c: text\n  d: null\n  é:\n  - 1\n  - true\n"
    )


@given(st.dictionaries(TEXT, VALUES, max_size=3))
@settings(max_examples=100, deadline=None)
def test_what_is_written_shortly_reads_back_as_well(values):
    assert repr(read_text(short_yaml(values), "x.yaml").plain() or {}) == repr(values)


def test_what_holds_nothing_further_stands_on_one_line():
    assert short_yaml({"a": {"b": [1, 2]}, "c": {"d": 1}}) == "a:\n  b: [1, 2]\nc: {d: 1}\n"


EXPERIMENT = """\
name: x
data: {{corpus: {{name: toy_translation, options: {{train_pairs: 40, dev_pairs: 3, test_pairs: 3}}}}}}
model: {{attention_score: {{name: kernel, options: {{learned: no, bandwidth: 1e-4}}}}}}
train: {{adam_epsilon: 1e-9, gradient_clip: null}}
seeds: [1, 2]
rows:
  base: {{}}
  "{name}": {{label: {label}, group: "{name}", change: {{model.dropout: 1e-1, model.d_k: null}}}}
"""


@pytest.mark.parametrize("name", ["1e-4", "no", "null", "0x1", "010", "1.5", "2024-01-01"])
def test_a_resolved_experiment_reads_back_with_equal_values_and_equal_keys(load, name, registry):
    loaded = load(EXPERIMENT.format(name=name, label="'# - a: b, é'"))
    Path("again.yaml").write_text(to_yaml(loaded.experiment), encoding="utf-8")
    again = validate(read(Path("again.yaml")), registry)
    assert again.experiment == loaded.experiment
    assert plan(again, registry) == plan(loaded, registry)
    assert list(again.experiment.rows) == ["base", name]


@given(label=TEXT)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_label_reads_back(make, label):
    spec = make(ExperimentSpec, name="x", data={"corpus": "toy_translation"}, rows={"base": {"label": label}})
    assert read_text(to_yaml(spec), "x.yaml").plain() == spec.model_dump(mode="json")
