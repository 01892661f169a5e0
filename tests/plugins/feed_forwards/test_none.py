from __future__ import annotations

from plugins.feed_forwards.none import NoFeedForward


def test_the_sub_layer_goes():
    assert NoFeedForward.removes_sublayer
