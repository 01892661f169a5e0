from __future__ import annotations

from pathlib import Path

import pytest

from framework.contracts import Corpus, Pair, TextCorpus
from framework.spec import Options

TEXT = {"train": [("a", "b"), ("c", "d")], "dev": [("e", "f")]}


class Fixed(Corpus):
    """Pairs that a test gives."""

    def __init__(self, text, base_dir=Path()):
        super().__init__(Options(), base_dir)
        self.text = text

    def splits(self):
        return tuple(self.text)

    def pairs(self, split):
        return [Pair(*pair) for pair in self.text[split]]


def test_a_fingerprint_is_of_the_text_alone():
    reordered = {"dev": TEXT["dev"], "train": TEXT["train"]}
    assert Fixed(TEXT).fingerprint() == Fixed(reordered, Path("elsewhere")).fingerprint()


@pytest.mark.parametrize(
    "other",
    [
        {"train": [("a", "b"), ("c", "D")], "dev": [("e", "f")]},
        {"train": [("c", "d"), ("a", "b")], "dev": [("e", "f")]},
        {"train": [("a", "b")], "dev": [("c", "d"), ("e", "f")]},
        {"train": [("a", "b"), ("c", "d")], "test": [("e", "f")]},
        {"train": [("a", "b"), ("c", "d")], "dev": [("e", "f")], "test": []},
        {"train": [("ab", ""), ("c", "d")], "dev": [("e", "f")]},
        {"train": [("b", "a"), ("c", "d")], "dev": [("e", "f")]},
        {"train": [("a\nc", "b\nd")], "dev": [("e", "f")]},
        {"train": [], "dev": []},
    ],
)
def test_another_text_order_or_split_has_another_fingerprint(other):
    assert Fixed(other).fingerprint() != Fixed(TEXT).fingerprint()


class Texts(TextCorpus):
    """Texts that a test gives."""

    def splits(self):
        return ("train", "dev")

    def texts(self, split):
        return [f"{split} one", f"{split} two"]


def test_a_text_by_itself_follows_nothing():
    assert list(Texts(Options(), Path()).pairs("dev")) == [Pair("", "dev one"), Pair("", "dev two")]


def test_texts_and_pairs_without_sources_are_not_the_same():
    texts = Texts(Options(), Path())
    pairs = Fixed({split: list(texts.pairs(split)) for split in texts.splits()})
    assert texts.fingerprint() != pairs.fingerprint()
    assert texts.fingerprint() == Texts(Options(), Path("elsewhere")).fingerprint()
