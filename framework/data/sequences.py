"""Many sequences of ids in two flat tensors, so that millions of them are cheap to hold, map and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from framework.data.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Sequences:
    """N sequences, end to end."""

    ids: Tensor
    """int32, of all sequences."""
    starts: Tensor
    """int64 `(N + 1,)`: where each begins, and the end of the last."""

    @classmethod
    def of(cls, ids: Tensor, lengths: Tensor) -> Sequences:
        """Give the sequences of these lengths, integers `(N,)`, that lie end to end in `ids`."""
        return cls(ids, torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]))

    @classmethod
    def encode(cls, texts: Sequence[str], tokenizer: Tokenizer) -> Sequences:
        """Cut texts into pieces."""
        encoded = tokenizer.encode_batch(texts)
        ids = torch.tensor(list(chain.from_iterable(encoded)), dtype=torch.int32)
        return cls.of(ids, torch.tensor(list(map(len, encoded)), dtype=torch.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Tensor:
        """int64 `(N,)`"""
        return self.starts.diff()

    def take(self, indices: Tensor) -> list[Tensor]:
        """Give some sequences, a 1-D int64 tensor each."""
        begins, ends = self.starts[indices].tolist(), self.starts[indices + 1].tolist()
        return [self.ids[begin:end].long() for begin, end in zip(begins, ends, strict=True)]

    def cut(self, longest: int) -> Sequences:
        """Cut each sequence into as few as have at most `longest` ids, in order."""
        cuts = [
            start + offset
            for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=False)
            for offset in range(0, max(length, 1), longest)
        ]
        return Sequences(self.ids, torch.tensor([*cuts, len(self.ids)]))

    def keep(self, kept: Tensor) -> Sequences:
        """Give those sequences whose entry in `kept`, boolean `(N,)`, is true."""
        return Sequences.of(self.ids[kept.repeat_interleave(self.lengths)], self.lengths[kept])
