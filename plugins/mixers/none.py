"""No mixing at this site: the sub-layer goes, with its residual and norm."""

from __future__ import annotations

from typing import NoReturn

import framework as fw


class NoMixing(fw.Mixer):
    name = "none"
    removes_sublayer = True

    def start(self) -> NoReturn:
        raise AssertionError("a removed sub-layer never runs")

    def forward(self, *_: object, **__: object) -> NoReturn:
        raise AssertionError("a removed sub-layer never runs")


@fw.hookimpl
def mixer() -> type[fw.Mixer]:
    return NoMixing
