"""The few largest of many numbers, in rows: what beam search asks of every row of the vocabulary's scores."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

BLOCK: Final = 64
"""Numbers whose largest is found first. A maximum takes one quick pass over memory, a sort several slow ones."""


def largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Give the `count` largest of each row of `scores (N, V)` and where they stand: `(N, count)` each, as `topk`.

    They stand in those `count` blocks whose maxima are largest, so that only these are sorted. Equal numbers may come
    in another order than from `topk`. A NaN counts as larger than any number.
    """
    size = scores.size(1)
    blocks = size // BLOCK
    if blocks <= count:
        return scores.topk(count)
    whole = scores[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK))  # (N, blocks, BLOCK), a view
    chosen = whole.amax(2).topk(count).indices  # (N, count)
    inside = whole.gather(1, chosen[..., None].expand(-1, -1, BLOCK)).flatten(1)  # (N, count·BLOCK)
    rest = scores[:, blocks * BLOCK :]  # (N, fewer than BLOCK)
    top, index = torch.cat((inside, rest), dim=1).topk(count)  # (N, count)
    block = chosen.gather(1, (index // BLOCK).clamp(max=count - 1))  # (N, count)
    behind = index - count * BLOCK  # (N, count), at least 0 in the rest
    return top, torch.where(behind < 0, block * BLOCK + index % BLOCK, blocks * BLOCK + behind)
