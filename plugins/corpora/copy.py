"""The copy task: say the source again; Graves et al. 2014, Neural Turing Machines, arXiv:1410.5401, section 4.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import framework as fw


class Copy(fw.SymbolCorpus):
    """Say the source again, symbol by symbol: Graves et al. 2014, arXiv:1410.5401, section 4.1.

    "da be ka" is answered by "da be ka". With the default options `tokenizer.vocabulary_size: 283` makes each symbol
    one piece; for other numbers of symbols see `fw.SymbolCorpus`.
    """

    name = "copy"

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"symbols": 3, "min_length": 1, "max_length": 9, "train_pairs": 300})

    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        return symbols


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return Copy
