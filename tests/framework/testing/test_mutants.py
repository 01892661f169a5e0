"""Each deliberately broken plugin is caught, by the name of the property that it breaks; those that are right pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.registry import Entry, Registry
from framework.testing import settings
from framework.testing.kinds import PROPERTIES
from framework.testing.verdict import verdicts
from tests.framework.testing.told import corpora, feed_forwards, masks, mixers, objectives, schemes, scores

MUTANTS = Path(__file__).parent / "mutants"

RIGHT = {
    "attention_score": ("right", "gated", "needs_one_width"),
    "positional_scheme": ("right",),
    "mask": ("right", "sees_the_prefix"),
    "mixer": ("right", "attends"),
    "feed_forward": ("right", "grouped"),
    "objective": ("right", "translates"),
    "corpus": ("right", "overlaps"),
}

BROKEN = [
    (kind, *told)
    for kind, table in {
        "attention_score": scores.BROKEN,
        "positional_scheme": schemes.BROKEN,
        "mask": masks.BROKEN,
        "mixer": mixers.BROKEN,
        "feed_forward": feed_forwards.BROKEN,
        "objective": objectives.BROKEN,
        "corpus": corpora.BROKEN,
    }.items()
    for told in table
]
"""Kind, mutant, the property that it breaks, what is said of it, and what else is broken by it."""


@pytest.fixture(scope="module")
def mutants() -> tuple[dict[tuple[str, str], Entry], Registry]:
    registry = Registry.load([MUTANTS])
    assert not registry.broken
    files = {str(file) for file in MUTANTS.glob("*.py")}
    return {(entry.kind, entry.name): entry for entry in registry.entries() if entry.origin in files}, registry


def broken(mutants, kind, name):
    entries, registry = mutants
    return {verdict.property: verdict.broken for verdict in verdicts(entries[kind, name], registry) if verdict.broken}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in RIGHT.items() for name in names])
def test_a_right_plugin_keeps_every_property(mutants, kind, name):
    assert broken(mutants, kind, name) == {}


@pytest.mark.parametrize(("kind", "name", "tried", "words", "besides"), BROKEN)
def test_a_mutant_is_caught_by_the_property_that_it_breaks(mutants, kind, name, tried, words, besides):
    found = broken(mutants, kind, name)
    assert set(found) == {tried, *besides}
    assert any(words in said for said in found[tried]), found[tried]


def test_every_mutant_is_in_the_table(mutants):
    entries, _ = mutants
    told = {(kind, name) for kind, name, *_ in BROKEN} | {(kind, name) for kind in RIGHT for name in RIGHT[kind]}
    assert told == set(entries)
    assert len(told) > 80


def test_every_property_catches_a_mutant_of_each_kind_that_it_is_made_for():
    """One that several kinds share catches a mutant of one of them."""
    caught = {(kind, tried) for kind, _, tried, _, _ in BROKEN}
    kinds_of: dict[object, tuple[str, list[str]]] = {}
    for kind, properties in PROPERTIES.items():
        for tried in properties:
            kinds_of.setdefault(tried.check, (tried.name, []))[1].append(kind)
    told_only = {"disjoint"}  # a note, no judgement
    for name, kinds in kinds_of.values():
        assert name in told_only or {(kind, name) for kind in kinds} & caught, (name, kinds)
    assert {tried.name for tried in settings.PROPERTIES} <= {tried for _, tried in caught}
