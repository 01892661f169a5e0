from __future__ import annotations

from plugins.mixers.none import NoMixing


def test_the_sub_layer_goes_and_honours_no_choice():
    assert NoMixing.removes_sublayer
    assert not NoMixing.takes
