"""Nothing that a person writes is ignored, and nothing that was validated changes."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import framework
from framework.registry import Registry
from framework.spec import Options, Spec

for found in pkgutil.walk_packages(framework.__path__, "framework."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
PLUGIN_OPTIONS = {entry.plugin.Options for entry in Registry.load().entries()}


def below(kind):
    return {kind}.union(*map(below, kind.__subclasses__()))


WRITTEN_BY_PEOPLE = ("framework.spec.", "framework.contracts.", "framework.data.", "plugins.")
SPECS = sorted((kind for kind in below(Spec) if kind.__module__.startswith(WRITTEN_BY_PEOPLE)), key=str)
OURS = sorted((kind for kind in below(Spec) if kind.__module__.startswith("framework.") and kind not in SPECS), key=str)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.__module__}.{spec.__qualname__}")
def test_a_spec_is_closed_frozen_and_strict_at_every_depth(spec):
    assert spec.model_config["extra"] == "forbid"
    assert spec.model_config["frozen"]
    assert spec.model_config["strict"]
    assert spec.model_config["allow_inf_nan"] is False


@pytest.mark.parametrize("record", OURS, ids=lambda record: record.__qualname__)
def test_what_the_program_reads_back_is_frozen_and_may_come_from_a_newer_version(record):
    assert record.model_config["extra"] == "ignore"
    assert record.model_config["frozen"]
    assert record.model_config["allow_inf_nan"] is False


def test_the_specs_above_are_all_that_an_experiment_is_made_of():
    assert len(SPECS) > 20
    assert set(SPECS) >= PLUGIN_OPTIONS
    assert all(issubclass(options, Options) for options in PLUGIN_OPTIONS)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.__module__}.{spec.__qualname__}")
def test_no_field_holds_what_can_be_changed_in_place_but_a_mapping(spec):
    kinds = {str(field.annotation) for field in spec.model_fields.values()}
    assert not [kind for kind in kinds if kind.startswith(("list", "set", "typing.List"))]
