"""What is true of every corpus."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.contracts import Corpus, Pair, TextCorpus
from framework.errors import PluginError
from framework.spec import Options
from framework.testing.property import Property
from framework.testing.subject import Subject

_LOOKED_AT: Final = 1000
"""Pairs of each split that are compared: the first ones."""


@dataclass(frozen=True)
class CorpusSubject(Subject):
    """A corpus with its options."""

    tried_on: ClassVar[str] = "its own sample"

    options: Options
    folder: Path

    def build(self) -> Corpus:
        corpus: Corpus = self.plugin(self.options, self.folder)
        return corpus


def splits(subject: CorpusSubject) -> None:
    """There are a `train` and a `dev` split, each once and none empty."""
    corpus = subject.build()
    names: Any = corpus.splits()
    if not (isinstance(names, tuple) and all(isinstance(name, str) for name in names)):
        raise PluginError(f"splits gives {names!r}, and must give a tuple of names")
    if missing := {"train", "dev"} - set(names):
        raise PluginError(
            f"splits gives {', '.join(names)} and lacks {' and '.join(sorted(missing))}: trials need both"
        )
    if len(set(names)) < len(names):
        raise PluginError(f"splits gives a name twice: {', '.join(names)}")
    for name in names:
        if next(iter(corpus.pairs(name)), None) is None:
            raise PluginError(f"the split {name!r} is empty: leave its name out, or give it a pair")


def text(subject: CorpusSubject) -> None:
    """Every example is a `Pair` of str, and a text by itself has an empty source."""
    corpus = subject.build()
    for split in corpus.splits():
        for number, pair in enumerate(_first(corpus, split)):
            given: Any = pair
            if not (isinstance(given, Pair) and all(isinstance(side, str) for side in given)):
                raise PluginError(f"{_road(corpus)} of {split!r} gives {given!r} at {number}, and must give str")
            if isinstance(corpus, TextCorpus) and given.source:
                raise PluginError(f"a text corpus gives the source {given.source!r} in {split!r}: texts have none")


def order(subject: CorpusSubject) -> None:
    """Examples come in the same order each time, from the same object and from a new one."""
    corpus, new = subject.build(), subject.build()
    for split in corpus.splits():
        first, second, third = _first(corpus, split), _first(corpus, split), _first(new, split)
        if not first == second == third:
            lengths = {len(first), len(second), len(third)}
            differing = (at for at, pairs in enumerate(zip(first, second, third, strict=False)) if len(set(pairs)) > 1)
            number = next(differing, min(lengths))
            raise PluginError(
                f"{_road(corpus)} of {split!r} gives other examples the second time, from number {number} on: seed "
                "what is random from the options, read files in a fixed order, and give no iterator that is used up"
            )


def fingerprint(subject: CorpusSubject) -> None:
    """The fingerprint is text that is the same each time and for each object: trials are told apart by it."""
    found: list[Any] = [corpus.fingerprint() for corpus in (subject.build(), subject.build())]
    if not (isinstance(found[0], str) and found[0]):
        raise PluginError(f"fingerprint gives {found[0]!r}, and must give text that identifies what is in the corpus")
    if found[0] != found[1]:
        raise PluginError(
            "fingerprint gives something else for the same corpus each time, so that no trial would ever be found "
            "again: make it of the text alone, with no time, path or hash() in it"
        )


def disjoint(subject: CorpusSubject) -> str | None:
    """How many examples of other splits are in `train` too is told; real text repeats itself, so none is too many."""
    corpus = subject.build()
    train = set(corpus.pairs("train"))
    told = []
    for split in corpus.splits():
        if split != "train":
            pairs = list(corpus.pairs(split))
            if shared := sum(pair in train for pair in pairs):
                told.append(f"{shared} of {len(pairs)} of {split} are in train as well")
    return "; ".join(told) or None


def _first(corpus: Corpus, split: str) -> list[Pair]:
    return list(islice(corpus.pairs(split), _LOOKED_AT))


def _road(corpus: Corpus) -> str:
    return "texts" if isinstance(corpus, TextCorpus) else "pairs"


PROPERTIES: Final = (
    Property(splits, founding=True),
    Property(text),
    Property(order),
    Property(fingerprint),
    Property(disjoint),
)
