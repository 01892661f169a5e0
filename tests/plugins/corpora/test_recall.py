from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from framework.data.made_up import MADE_UP_WORDS


@pytest.fixture(scope="module")
def recall(registry):
    plugin = registry.plugin("corpus", "recall")
    return lambda **options: plugin(plugin.Options(**options), Path())


@pytest.fixture(scope="module")
def sources(recall):
    """Keys, values, the key asked for, and the target."""
    read = []
    for pair in recall().pairs("train"):
        *memory, asked = pair.source.split()
        read.append((memory[::2], memory[1::2], asked, pair.target))
    return read


def test_the_target_is_the_value_of_the_key_asked_for(sources):
    assert all(values[keys.index(asked)] == target for keys, values, asked, target in sources)


def test_no_key_is_there_twice_and_each_has_a_value(sources):
    assert all(len(set(keys)) == len(keys) == len(values) for keys, values, _, _ in sources)


def test_keys_and_values_are_as_many_as_asked_for_and_have_no_word_in_common(sources):
    assert {key for keys, _, _, _ in sources for key in keys} == set(MADE_UP_WORDS[:20])
    assert {value for _, values, _, _ in sources for value in values} == set(MADE_UP_WORDS[20:40])


def test_the_associations_are_from_fewest_to_most(sources, recall):
    assert {len(keys) for keys, _, _, _ in sources} == set(range(2, 9))
    fixed = recall(min_associations=3, max_associations=3, dev_pairs=50).pairs("dev")
    assert {len(pair.source.split()) for pair in fixed} == {7}


def test_every_place_is_asked_for_alike(recall):
    """So that neither the first nor the last association is a good guess."""
    sources = [pair.source.split() for pair in recall(min_associations=8).pairs("train")]
    asked = Counter(source.index(source[-1]) // 2 for source in sources)
    assert len(asked) == 8
    assert all(abs(count - 625) < 100 for count in asked.values())  # sd 23


def test_a_target_cannot_be_told_without_the_memory(sources):
    counts = Counter(target for *_, target in sources)
    assert max(counts.values()) < 1.5 * min(counts.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": 60, "values": 50}, "keys and values are 110 words together, and there are 100: lower one of them"),
        ({"keys": 5}, "max_associations 8 is more than keys 5, and no key is in a source twice: lower it, or raise"),
        ({"min_associations": 9}, "min_associations 9 is more than max_associations 8: lower it, or raise max_asso"),
    ],
)
def test_what_cannot_be_is_refused(recall, options, message):
    with pytest.raises(ValidationError, match=message):
        recall(**options)
