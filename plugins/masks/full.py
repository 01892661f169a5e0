"""Everything may be seen, up to padding and the decoder's causality: Vaswani et al. 2017, arXiv:1706.03762."""

from __future__ import annotations

from torch import Tensor

import framework as fw


class Full(fw.Mask):
    name = "full"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return None


@fw.hookimpl
def mask() -> type[fw.Mask]:
    return Full
