from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from framework.data.made_up import MADE_UP_WORDS
from framework.errors import SpecError


@pytest.fixture
def copy(registry):
    plugin = registry.plugin("corpus", "copy")
    return lambda **options: plugin(plugin.Options(**options), Path())


def test_the_target_is_the_source(copy):
    assert all(pair.target == pair.source for pair in copy().pairs("train"))


def test_lengths_and_symbols_are_those_asked_for(copy):
    sources = [pair.source.split() for pair in copy(symbols=7, min_length=2, max_length=6).pairs("train")]
    assert {len(source) for source in sources} == {2, 3, 4, 5, 6}
    assert {symbol for source in sources for symbol in source} == set(MADE_UP_WORDS[:7])


def test_the_shortest_cannot_be_longer_than_the_longest(copy):
    with pytest.raises(
        ValidationError, match="max_length 12 is less than min_length 20: raise it, or lower min_length"
    ):
        copy(min_length=20)


def test_there_are_a_hundred_symbols(copy):
    assert next(iter(copy(symbols=100).pairs("dev")))
    with pytest.raises(ValidationError, match="less than or equal to 100"):
        copy(symbols=101)


def test_more_pairs_than_there_are_sequences_are_refused(copy):
    with pytest.raises(SpecError, match=r"train_pairs: 5000 different pairs were asked for, and copy has \d+ for the"):
        list(copy(symbols=3, min_length=1, max_length=5).pairs("train"))
