from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from framework.errors import SpecError
from framework.hookspecs import CONTRACTS
from framework.registry import Registry
from framework.spec import ModelSpec
from framework.spec.component import KINDS
from framework.spec.load import read, validate

MINIMAL = "name: x\ndata: {corpus: toy_translation}\n"


def test_the_kinds_of_components_are_the_kinds_of_plugins():
    assert list(CONTRACTS) == list(KINDS)


@pytest.mark.parametrize("written", ["kernel", {"name": "kernel"}, {"name": "kernel", "options": {}}])
def test_short_and_long_form_are_equal(make, written):
    assert (
        make(ModelSpec, attention_score=written).attention_score
        == make(ModelSpec, attention_score="kernel").attention_score
    )


def test_options_are_validated_by_the_plugin_s_own_class(make, registry):
    score = make(ModelSpec, attention_score={"name": "kernel", "options": {"bandwidth": 2}}).attention_score
    assert type(score.options) is registry.options("attention_score", "kernel")
    assert score.options.bandwidth == 2.0


def test_a_component_reads_as_its_name_and_what_was_set(make):
    assert str(make(ModelSpec).attention_score) == "dot_product"
    set_ = make(ModelSpec, attention_score={"name": "kernel", "options": {"bandwidth": 2}}).attention_score
    assert str(set_) == "kernel(bandwidth=2.0)"


def test_a_component_cannot_be_changed(make):
    score = make(ModelSpec, attention_score="kernel").attention_score
    with pytest.raises(ValidationError, match="Instance is frozen"):
        score.options.bandwidth = 3.0


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("null", "3:9: model.attention_score: expected an attention score: its name, or a mapping with the keys name "
         "and options; this is null"),
        ("3", "3:9: model.attention_score: expected an attention score: its name, or a mapping with the keys name and "
         "options; this is 3"),
        ("true", "3:9: model.attention_score: expected an attention score: its name, or a mapping with the keys name "
         "and options; this is true (true or false, not a number)"),
        ("[kernel]", "3:9: model.attention_score: expected an attention score: its name, or a mapping with the keys "
         "name and options; this is a list"),
        ("{options: {}}", "3:9: model.attention_score.name: an attention score needs a name, as text"),
        ("{name: 3}", "3:27: model.attention_score.name: an attention score needs a name, as text"),
        ("{name: kernel, option: {}}", "3:41: model.attention_score.option: unknown key 'option': an attention score "
         "takes name and options; did you mean 'options'?"),
        ("{kernel: {bandwidth: 2}}", "3:27: model.attention_score.kernel: unknown key 'kernel': an attention score "
         "takes name and options"),
        ("{name: kernel, options: 3}", "3:41: model.attention_score.options: options is a mapping of the plugin's own "
         "settings"),
        ("{name: kernel, options: null}", "3:41: model.attention_score.options: options is a mapping of the plugin's "
         "own settings"),
        ("{name: kernel, options: {sigm: 2}}", "3:51: model.attention_score.options.sigm: unknown key 'sigm'; known "
         "here: bandwidth, learned"),
        ("{name: kernel, options: {bandwidth: 0}}", "3:51: model.attention_score.options.bandwidth: expected more than "
         "0; this is 0"),
        ("{name: kernel, options: {bandwidth: -1}}", "3:51: model.attention_score.options.bandwidth: expected more "
         "than 0; this is -1"),
        ("{name: kernel, options: {learned: true}}", "3:51: model.attention_score.options.learned: expected 'no', "
         "'shared' or 'per_head'; this is true (true or false, not a number)"),
        ("kernell", "3:9: model.attention_score: no attention score is named 'kernell'; did you mean 'kernel'? There "
         "are: additive, bilinear, cosine, dot_product, kernel"),
        ("{name: foo, options: {a: {b: 1}}}", "3:9: model.attention_score: no attention score is named 'foo'; there "
         "are: additive, bilinear, cosine, dot_product, kernel"),
    ],
)  # fmt: skip
def test_a_mistake_in_one_component_gives_exactly_one_error(faults, written, words):
    assert faults(f"{MINIMAL}model: {{attention_score: {written}}}\n") == [f"x.yaml:{words}"]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{}", "3:9: model.positional_scheme.name: a positional scheme needs a name, as text"),
        ("null", "3:9: model.positional_scheme: expected a positional scheme: its name, or a mapping with the keys "
         "name and options; this is null"),
        ("off", "3:9: model.positional_scheme: no positional scheme is named 'off'; there are: "),
        ("false", "3:9: model.positional_scheme: expected a positional scheme: its name, or a mapping with the keys "
         "name and options; this is false (true or false, not a number)"),
    ],
)  # fmt: skip
def test_positions_are_never_left_out_by_leaving_their_name_out(faults, written, words):
    (told,) = faults(f"{MINIMAL}model: {{positional_scheme: {written}}}\n")
    assert told.startswith(f"x.yaml:{words}")


@pytest.mark.parametrize(("written", "name"), [("{}", "sinusoidal"), ("{positional_scheme: none}", "none")])
def test_a_resolved_experiment_says_which_positions_it_has(tmp_path, registry, written, name):
    (tmp_path / "x.yaml").write_text(f"{MINIMAL}model: {written}\n")
    spec = validate(read(tmp_path / "x.yaml"), registry).rows["base"].spec
    assert json.loads(spec.model_dump_json())["model"]["positional_scheme"]["name"] == name


def test_an_objective_has_another_article(faults):
    assert faults(f"{MINIMAL}train: {{objective: 3}}\n") == [
        "x.yaml:3:9: train.objective: expected an objective: its name, or a mapping with the keys name and options; "
        "this is 3"
    ]


FRAGILE = '''
"""A score for tests."""
from pathlib import Path

from pydantic import field_validator

import framework as fw


class Fragile(fw.AttentionScore):
    name = "fragile"

    class Options(fw.Options):
        width: int = 1

        @field_validator("width", mode="before")
        @classmethod
        def _known(cls, width):
            return {1: 1, 3: Path("three")}[width]

    def forward(self, query, key): ...


@fw.hookimpl
def attention_score():
    return Fragile
'''


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (
            2,
            "x.yaml:3:42: model.attention_score.options: "
            "the options of the attention score 'fragile' fail: KeyError: 2",
        ),
        (3, 'x.yaml:3:52: model.attention_score.options.width: expected a whole number; this is "three"'),
    ],
)
def test_whatever_a_plugin_s_options_raise_is_one_sentence(tmp_path, monkeypatch, width, words):
    monkeypatch.chdir(tmp_path)
    Path("fragile.py").write_text(FRAGILE)
    score = f"{{name: fragile, options: {{width: {width}}}}}"
    Path("x.yaml").write_text(f"{MINIMAL}model: {{attention_score: {score}}}\n")
    with pytest.raises(SpecError) as caught:
        validate(read(Path("x.yaml")), Registry.load([Path("fragile.py")]))
    assert str(caught.value) == words
