"""Where text comes from."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from framework.contracts.plugin import Plugin
from framework.spec import Options


class Pair(NamedTuple):
    """A sentence and its translation, or a question and its answer, as text."""

    source: str
    """Empty where a text stands by itself."""
    target: str


class Corpus(Plugin):
    """Named splits of pairs: `train`, `dev`, and perhaps `test`."""

    def __init__(self, options: Options, base_dir: Path) -> None:
        self.options = options
        self.base_dir = base_dir
        """Folder of the experiment file, which relative paths start from."""

    @abstractmethod
    def splits(self) -> tuple[str, ...]:
        """Name the splits. Raises `MissingCorpus` if a file is not there."""

    @abstractmethod
    def pairs(self, split: str) -> Iterable[Pair]:
        """Give a split's pairs, always in the same order.

        They are asked for several times, and looked at one after the other: a long corpus is better read anew each time
        than kept in memory.
        """

    def fingerprint(self) -> str:
        """Identify the text itself, wherever it lies and however its file is written."""
        digest = hashlib.sha256()
        for split in sorted(self.splits()):
            digest.update(f"{split}:".encode())
            for pair in self.pairs(split):
                for text in pair:
                    content = text.encode()
                    digest.update(b"%d:" % len(content))  # so that no two ways of cutting read alike
                    digest.update(content)
        return digest.hexdigest()


class TextCorpus(Corpus):
    """Named splits of texts that stand by themselves. A text that is too long is cut, not left out."""

    @abstractmethod
    def texts(self, split: str) -> Iterable[str]:
        """Give a split's texts, always in the same order."""

    def pairs(self, split: str) -> Iterable[Pair]:
        """Give each text as what follows nothing."""
        return (Pair("", text) for text in self.texts(split))

    def fingerprint(self) -> str:
        """Identify the texts; pairs that happen to lack sources are something else."""
        return hashlib.sha256(f"texts:{super().fingerprint()}".encode()).hexdigest()
