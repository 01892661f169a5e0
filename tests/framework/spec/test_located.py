from __future__ import annotations

import pytest

from framework.errors import Place
from framework.spec.located import joined
from framework.spec.reading import read_text

ROOT = read_text("a: {b: [1, {c: x}]}\nd:\n", "x.yaml")


@pytest.mark.parametrize(
    ("keys", "value", "beyond"),
    [
        ((), {"a": {"b": [1, {"c": "x"}]}, "d": None}, ()),
        (("a", "b", 1, "c"), "x", ()),
        (("a", "b", 2), [1, {"c": "x"}], (2,)),
        (("a", "b", "0"), [1, {"c": "x"}], ("0",)),
        (("a", "z", "y"), {"b": [1, {"c": "x"}]}, ("z", "y")),
        (("d", "e"), None, ("e",)),
    ],
)
def test_following_keys_goes_as_far_as_there_are_entries(keys, value, beyond):
    node, left = ROOT.follow(keys)
    assert (node.plain(), left) == (value, beyond)


def test_moving_changes_every_place_and_nothing_else():
    moved = ROOT.moved(Place("--set a=1"))
    assert moved.plain() == ROOT.plain()
    for keys in ((), ("a",), ("a", "b", 1, "c")):
        assert str(moved.follow(keys)[0].place) == "--set a=1"
        assert moved.follow(keys)[0].path == ROOT.follow(keys)[0].path


def test_list_positions_are_joined_in_brackets():
    assert joined("", "a", 0, "b", "c") == "a[0].b.c"
    assert joined("rows.x", "y") == "rows.x.y"
    assert joined("") == ""
