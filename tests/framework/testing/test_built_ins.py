"""Every plugin that comes with the framework keeps its contract."""

from __future__ import annotations

import pytest

from framework.registry import Registry
from framework.testing.verdict import verdicts

BUILT_INS = [entry for entry in Registry.load().entries() if entry.module.__name__.startswith("plugins.")]


@pytest.mark.parametrize("entry", BUILT_INS, ids=lambda entry: f"{entry.kind} {entry.name}")
def test_a_built_in_keeps_every_property(registry, entry):
    assert {verdict.property: verdict.broken for verdict in verdicts(entry, registry) if verdict.broken} == {}


def test_the_built_ins_are_of_every_kind():
    assert len({entry.kind for entry in BUILT_INS}) == 7
