from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.seeds import derived_seed

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/seeds.json").read_text())["seeds"]
PARTS = st.lists(st.text("ab/.", min_size=1) | st.integers(0, 2**32), min_size=1, max_size=3)


@pytest.mark.parametrize("golden", GOLDEN)
def test_a_seed_is_the_same_on_every_machine(golden):
    assert derived_seed(*golden["parts"]) == golden["seed"]


@given(PARTS, PARTS)
@settings(deadline=None)
def test_other_parts_give_another_seed_of_64_bits(one, other):
    assert 0 <= derived_seed(*one) < 2**64
    assert (derived_seed(*one) == derived_seed(*other)) == (list(map(str, one)) == list(map(str, other)))


def test_parts_do_not_run_into_one_another():
    assert derived_seed("ab", "c") != derived_seed("a", "bc")
    assert derived_seed(1, 23) != derived_seed(12, 3)
