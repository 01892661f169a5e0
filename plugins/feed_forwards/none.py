"""No feed-forward: the sub-layer goes, with its residual and norm (Dong et al. 2021, arXiv:2103.03404)."""

from __future__ import annotations

from typing import NoReturn

from torch import Tensor

import framework as fw


class NoFeedForward(fw.FeedForward):
    name = "none"
    removes_sublayer = True

    def forward(self, x: Tensor) -> NoReturn:
        raise AssertionError("a removed sub-layer never runs")


@fw.hookimpl
def feed_forward() -> type[fw.FeedForward]:
    return NoFeedForward
