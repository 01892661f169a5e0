from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from framework.spec import ExperimentSpec, ModelSpec, RowSpec, SiteSpec, Spec
from framework.spec.fields import field_of, spec_at


class Leaf(Spec):
    value: int = 3


class Tree(Spec):
    leaf: Annotated[Leaf, Field(title="one")] | None = None
    by_name: dict[str, Leaf] = Field(default_factory=dict)
    listed: tuple[Leaf, ...] = ()
    either: int | Leaf = 1


@pytest.mark.parametrize("keys", [("leaf",), ("by_name", "any"), ("listed", 7)])
def test_a_spec_is_found_through_optionals_mappings_and_lists(keys):
    assert spec_at(Tree, keys) is Leaf


@pytest.mark.parametrize("keys", [("other",), ("leaf", "value"), ("leaf", "value", "x"), ("by_name",), ("either",)])
def test_where_no_single_spec_stands_there_is_none(keys):
    assert spec_at(Tree, keys) is None


def test_a_field_is_found_with_its_default():
    field = field_of(Tree, ("listed", 0, "value"))
    assert field is not None
    assert field.default == 3
    assert field_of(Tree, ("leaf", "valu")) is None


def test_the_specs_of_an_experiment_are_found():
    assert spec_at(ExperimentSpec, ()) is ExperimentSpec
    assert spec_at(ExperimentSpec, ("model",)) is ModelSpec
    assert spec_at(ExperimentSpec, ("rows", "base")) is RowSpec
    assert spec_at(ExperimentSpec, ("model", "sites", "decoder", "cross")) is SiteSpec
