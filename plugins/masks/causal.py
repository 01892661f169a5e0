"""Itself and what came before may be seen, in an encoder too: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3.

At a cross site it compares positions of two sequences: target position t sees source positions up to t.
"""

from __future__ import annotations

from torch import Tensor

import framework as fw


class Causal(fw.Mask):
    name = "causal"

    def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return key_positions[:, None, None, :] <= query_positions[:, None, :, None]  # (B|1, 1, Q, K)


@fw.hookimpl
def mask() -> type[fw.Mask]:
    return Causal
