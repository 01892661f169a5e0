"""No positions at all: what order the model sees comes from its masks (Haviv et al. 2022, arXiv:2203.16634)."""

from __future__ import annotations

import framework as fw


class NoPositions(fw.PositionalScheme):
    name = "none"


@fw.hookimpl
def positional_scheme() -> type[fw.PositionalScheme]:
    return NoPositions
