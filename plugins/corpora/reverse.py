"""The reversal task: say the source backwards; Grefenstette et al. 2015, arXiv:1506.02516, section 4.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import framework as fw


class Reverse(fw.SymbolCorpus):
    """Say the source backwards, symbol by symbol: Grefenstette et al. 2015, arXiv:1506.02516, section 4.1.

    "da be ka" is answered by "ka be da". A set of symbols is no help: an encoder of attention alone, under a full mask
    and without positions, cannot learn it, while one that reads in order, such as a recurrent one, needs none. With
    the default options `tokenizer.vocabulary_size: 283` makes each symbol one piece; for other numbers of symbols see
    `fw.SymbolCorpus`.
    """

    name = "reverse"

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"symbols": 3, "min_length": 1, "max_length": 9, "train_pairs": 300})

    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        return symbols[::-1]


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return Reverse
