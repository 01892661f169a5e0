"""The recipes that experiments extend: what each decides, and the experiment that ablates the decisions themselves."""

from __future__ import annotations

import json
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

import framework as fw
from framework.spec import ResolvedSpec
from framework.spec.base import Spec
from framework.spec.load import Loaded, read, validate
from tests.experiments.shipped import EXPERIMENTS, PROFILES

DECISIONS = json.loads((Path(__file__).parents[1] / "golden/table3.json").read_text(encoding="utf-8"))["profiles"]
FIDELITY = EXPERIMENTS / "fidelity.yaml"
WHOLE = ("t2t-2017", "t2t-v2", "t2t-v3")


@pytest.fixture(scope="module")
def fidelity(registry) -> Loaded:
    return validate(read(FIDELITY), registry)


@pytest.fixture(scope="module")
def profile(registry, tmp_path_factory):
    def profile(name: str) -> ResolvedSpec:
        """A profile as an experiment extends it, on the corpus of fidelity.yaml."""
        folder = tmp_path_factory.mktemp("profile")
        corpus = read(FIDELITY).root.follow(("data", "corpus"))[0].plain()
        text = {"name": "one", "extends": str(PROFILES / f"{name}.yaml"), "data": {"corpus": corpus}}
        file = folder / "one.yaml"
        file.write_text(yaml.safe_dump(text), encoding="utf-8")
        return validate(read(file), registry).rows["base"].spec

    return profile


def at(spec: Spec, dotted: str) -> Any:
    return reduce(getattr, dotted.split("."), spec)


def test_the_profiles_are_those_that_are_known():
    assert {file.stem for file in PROFILES.glob("*.yaml")} == DECISIONS.keys()


@pytest.mark.parametrize("name", DECISIONS)
def test_a_profile_decides_as_its_source(name, profile):
    spec = profile(name)
    assert {dotted: at(spec, dotted) for dotted in DECISIONS[name]} == DECISIONS[name]


@pytest.mark.parametrize("dotted", DECISIONS["paper-2017"])
def test_a_decision_is_a_field_that_cites_paper_and_code(dotted, profile):
    above, _, name = dotted.rpartition(".")
    cited = type(at(profile("paper-2017"), above)).model_fields[name].description
    assert re.search("[Ss]ection|[Pp]aper|arXiv", cited)
    assert re.search("tensor2tensor|transformer_base|authors' code", cited)


@pytest.mark.parametrize("name", DECISIONS)
def test_a_profile_by_itself_is_no_experiment(name, registry):
    with pytest.raises(fw.SpecError) as refused:
        validate(read(PROFILES / f"{name}.yaml"), registry)
    assert [(problem.path, problem.message) for problem in refused.value.problems] == [
        ("name", "is required"),
        ("data.corpus", "is required"),
    ]


@pytest.mark.parametrize("name", ["table3", "fidelity"])
def test_experiments_at_the_paper_s_scale_start_from_the_paper_s_recipe(name, profile, registry):
    base = validate(read(EXPERIMENTS / f"{name}.yaml"), registry).rows["base"].spec
    assert base == profile("paper-2017")


@pytest.mark.parametrize("name", ["t2t-2017", "t2t-v2"])
def test_a_whole_row_of_fidelity_is_its_profile(name, fidelity, profile):
    assert fidelity.rows[name].spec == profile(name)


def test_the_third_version_of_the_code_s_base_changes_one_thing_more(fidelity):
    second, third = fidelity.rows["t2t-v2"].spec, fidelity.rows["t2t-v3"].spec
    assert third == second.model_copy(update={"train": second.train.model_copy(update={"adam_beta2": 0.997})})


@pytest.mark.parametrize("whole", WHOLE)
def test_every_decision_of_a_profile_has_a_row_of_its_own(whole, fidelity):
    base = fidelity.rows["base"].spec
    singles = {name: row.spec for name, row in fidelity.rows.items() if name not in (*WHOLE, "base")}
    for dotted in differences(base, fidelity.rows[whole].spec):
        value = at(fidelity.rows[whole].spec, dotted)
        assert any(at(spec, dotted) == value for spec in singles.values()), f"no row has {dotted}={value}"


def test_a_row_of_fidelity_takes_one_decision(fidelity):
    base = fidelity.rows["base"].spec
    changed = {name: differences(base, row.spec) for name, row in fidelity.rows.items() if name not in (*WHOLE, "base")}
    # A rate and its warm-up are one decision: the peak hangs on both.
    assert changed.pop("schedule") == ["train.warmup_steps", "train.learning_rate_factor"]
    assert {name: len(dotted) for name, dotted in changed.items()} == dict.fromkeys(changed, 1)


def differences(one: Spec, other: Spec, above: str = "") -> list[str]:
    """Dotted fields in which two specs of one shape differ."""
    found = []
    for name in type(one).model_fields:
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, Spec) and type(a) is type(b):
            found += differences(a, b, f"{above}{name}.")
        elif a != b:
            found.append(f"{above}{name}")
    return found
