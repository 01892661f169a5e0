"""Batches of examples of similar length, within a budget of padded positions per side: arXiv:1706.03762, section 5.1.

The order of the data is a function of the seed and the epoch alone, so that rows of a table see the same
batches, and a resumed trial goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final, NamedTuple

import torch
from torch import Tensor

from framework.seeds import derived_seed

POOL_SIZE: Final = 1 << 16
"""Examples that are sorted by length together: enough for little padding, few enough to meet new batch mates."""


class Position(NamedTuple):
    """How far training data has been read: `index` batches of an epoch."""

    epoch: int = 0
    index: int = 0  # type: ignore[assignment]  # the tuple's own method of that name is no loss


class TrainingBatches:
    """Endless batches: each epoch holds every example once, in an order of its own."""

    def __init__(self, lengths: Tensor, batch_tokens: int, seed: int) -> None:
        """Lengths are integers `(N,)`, the positions of each example's longer side; N is at least 1.

        A batch holds as many examples as fit: longest · examples <= `batch_tokens`.
        """
        assert len(lengths) > 0
        self._lengths = lengths
        self._batch_tokens = batch_tokens
        self._seed = seed

    def epoch(self, number: int) -> list[Tensor]:
        """Give the batches of an epoch in order, as indices of examples."""
        generator = torch.Generator().manual_seed(derived_seed("data", self._seed, number))
        order = torch.randperm(len(self._lengths), generator=generator)
        # The sort is stable, so examples of one length keep their random order: chance decides who shares a batch.
        pools = [pool[self._lengths[pool].argsort(stable=True)] for pool in torch.split(order, POOL_SIZE)]
        batches = _cut(torch.cat(pools), self._lengths, self._batch_tokens)
        return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]

    def after(self, position: Position) -> Iterator[tuple[Position, Tensor]]:
        """Give the batches that follow a position, for ever, each with the position once it has been used."""
        start = position.index
        for number in count(position.epoch):
            for index, batch in enumerate(self.epoch(number)[start:], start=start + 1):
                yield Position(number, index), batch
            start = 0


def length_sorted_batches(lengths: Tensor, batch_tokens: int) -> list[Tensor]:
    """Cut sequences of `lengths (N,)` into batches from short to long, each once, as indices.

    The budget is that of training; a sequence that is longer than it stands alone.
    """
    return _cut(lengths.argsort(stable=True), lengths, batch_tokens)


def _cut(order: Tensor, lengths: Tensor, batch_tokens: int) -> list[Tensor]:
    """Cut `order` where one more sequence would not fit."""
    sizes = []
    size = longest = 0
    for length in lengths[order].tolist():
        longest = max(longest, length)
        if size and longest * (size + 1) > batch_tokens:
            sizes.append(size)
            size, longest = 0, length
        size += 1
    return list(torch.split(order, [*sizes, size])) if size else []
