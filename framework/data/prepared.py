"""A corpus cut into pieces, as it lies on disk and is read from there.

source_tokenizer.json, target_tokenizer.json    or one tokenizer.json for both
SPLIT.source.safetensors, SPLIT.target.safetensors    ids, and how long each sequence is
SPLIT.parquet                                   the texts of pairs, which outputs are compared with; not of train
counts.json                                     pairs kept and left out, by split
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Final

import polars as pl
from torch import Tensor

from framework.data.id_files import open_id_file
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec.suggest import did_you_mean

LAYOUT: Final = 2
"""Of the files of prepared data; raised when they change, so that those of an earlier version are not misread."""

NOTHING_SCORED: Final = (
    "no token of the split {split!r} enters the loss: its mask or its objective leaves all of them out"
)
"""Why a split can neither be learned from nor measured."""


class PreparedSplit:
    """The examples of a split that are kept, in the corpus's order; N of them."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._texts_path = folder / f"{name}.parquet"
        self._sources = open_id_file(folder / f"{name}.source.safetensors")
        self._targets = open_id_file(folder / f"{name}.target.safetensors")

    def __len__(self) -> int:
        return len(self._sources)

    def sources(self, indices: Tensor) -> list[Tensor]:
        """Give the source ids of some examples, without special pieces: a 1-D int64 tensor each."""
        return self._sources.take(indices)

    def targets(self, indices: Tensor) -> list[Tensor]:
        """Give the target ids of some examples, without special pieces: a 1-D int64 tensor each."""
        return self._targets.take(indices)

    @property
    def source_lengths(self) -> Tensor:
        """Pieces of each source: int64 `(N,)`."""
        return self._sources.lengths

    @property
    def target_lengths(self) -> Tensor:
        """Pieces of each target: int64 `(N,)`."""
        return self._targets.lengths

    @cached_property
    def source_texts(self) -> list[str]:
        """The sources of pairs as they were read; of any split but `train`, which nothing is compared with."""
        return self._texts("source")

    @cached_property
    def target_texts(self) -> list[str]:
        """The targets of pairs as they were read; of any split but `train`, which nothing is compared with."""
        return self._texts("target")

    def _texts(self, side: str) -> list[str]:
        return pl.read_parquet(self._texts_path, columns=[side])[side].to_list()


class PreparedData:
    """The splits of a corpus as ids, and the tokenizers that made them."""

    def __init__(self, folder: Path, source: Tokenizer, target: Tokenizer, counts: dict[str, int]) -> None:
        self._folder = folder
        self.source_tokenizer = source
        self.target_tokenizer = target
        """The same object as the source's if the vocabulary is shared."""
        self.counts = counts
        """Such as `{"train/pairs": 29000, "train/left_out": 64}`; of texts, how many and into how many parts."""

    @classmethod
    def open(cls, folder: Path) -> PreparedData:
        """Read what `prepare` has written."""
        counts = json.loads((folder / "counts.json").read_bytes())
        if (shared := folder / "tokenizer.json").exists():
            tokenizer = _read_tokenizer(shared)
            return cls(folder, tokenizer, tokenizer, counts)
        source, target = (_read_tokenizer(folder / f"{side}_tokenizer.json") for side in ("source", "target"))
        return cls(folder, source, target, counts)

    def split(self, name: str) -> PreparedSplit:
        """Open a split. Raises `SpecError` if the corpus has none of that name."""
        names = list(dict.fromkeys(key.partition("/")[0] for key in self.counts))
        if name not in names:
            hint = did_you_mean(name, names)
            raise SpecError(f"the corpus has no split {name!r}{hint}; there are: {', '.join(names)}", "data.corpus")
        return PreparedSplit(self._folder, name)


def _read_tokenizer(path: Path) -> Tokenizer:
    return Tokenizer.from_json(path.read_text(encoding="utf-8"))
