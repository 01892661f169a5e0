from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def reverse(registry):
    plugin = registry.plugin("corpus", "reverse")
    return lambda **options: plugin(plugin.Options(**options), Path())


def test_the_target_is_the_source_backwards(reverse):
    pairs = list(reverse().pairs("train"))
    assert all(pair.target.split() == pair.source.split()[::-1] for pair in pairs)
    assert sum(pair.target != pair.source for pair in pairs) > 4_900


def test_its_sources_are_those_of_the_copy_task(reverse, registry):
    copy = registry.plugin("corpus", "copy")
    copied = copy(copy.Options(), Path())
    assert [pair.source for pair in reverse().pairs("dev")] == [pair.source for pair in copied.pairs("dev")]
