"""What the test kit tries a plugin with leaves out no way that it computes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

import pytest

from framework.registry import Entry, Registry
from framework.spec import Options

SAME = {("mixer", "recurrent", "bidirectional", True), ("corpus", "hub", "folder", None)}
"""Values that compute nothing of their own: the first is what null means in the one place where it is allowed, the
other asks the hub itself, which no test can."""


def choices(annotation: Any) -> Iterator[Any]:
    """Give the values that a type names one by one: those of a `Literal`, of `bool`, and `None`."""
    if annotation is bool:
        yield from (False, True)
    elif annotation is types.NoneType:
        yield None
    elif get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif get_origin(annotation) in (Union, types.UnionType):
        for part in get_args(annotation):
            yield from choices(part)


def named_values() -> Iterator[Any]:
    """Every such value of every option of a built-in."""
    for entry in Registry.load().entries():
        if entry.module.__name__.startswith("plugins."):
            for option, field in entry.plugin.Options.model_fields.items():
                for value in choices(field.annotation):
                    if (entry.kind, entry.name, option, value) not in SAME:
                        yield pytest.param(entry, option, value, id=f"{entry.kind}-{entry.name}-{option}-{value}")


@pytest.mark.parametrize(("entry", "option", "value"), list(named_values()))
def test_every_value_that_an_option_names_is_in_a_sample(tmp_path, entry: Entry, option, value):
    plugin = entry.plugin
    tried: list[Options] = [plugin.Options.model_validate(sample) for sample in plugin.samples(tmp_path)]
    assert any(getattr(options, option) is value or getattr(options, option) == value for options in tried)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int | float, []),
        (bool | float, [False, True]),
        (Literal["a", "b"] | None, ["a", "b", None]),
    ],
)
def test_a_type_names_values_one_by_one_or_none(annotation, expected):
    assert list(choices(annotation)) == expected


def test_no_exemption_is_left_over(registry: Registry):
    for kind, name, option, value in SAME:
        assert value in choices(registry.plugin(kind, name).Options.model_fields[option].annotation)
