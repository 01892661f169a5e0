"""Many sequences of ids in two flat tensors, so that millions of them are cheap to hold, map and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import torch
from torch import Tensor

from framework.data.tokenizer import Tokenizer

_TEXTS_AT_ONCE: Final = 10_000
"""The tokenizer's results are much larger than the ids in them."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """N sequences, end to end."""

    ids: Tensor
    """int32, of all sequences."""
    starts: Tensor
    """int64 `(N + 1,)`: where each begins, and the end of the last."""

    @classmethod
    def encode(cls, texts: Sequence[str], tokenizer: Tokenizer) -> Sequences:
        """Cut texts into pieces."""
        ids, lengths = [torch.empty(0, dtype=torch.int32)], [torch.zeros(1, dtype=torch.int64)]
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            encoded = tokenizer.encode_batch(texts[start : start + _TEXTS_AT_ONCE])
            ids.append(torch.tensor(list(chain.from_iterable(encoded)), dtype=torch.int32))
            lengths.append(torch.tensor(list(map(len, encoded))))
        return cls(torch.cat(ids), torch.cat(lengths).cumsum(0))

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
        starts = torch.cat([self.starts[:1], self.lengths[kept].cumsum(0)])
        return Sequences(self.ids[kept.repeat_interleave(self.lengths)], starts)
