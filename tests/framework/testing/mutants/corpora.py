"""A right corpus, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator

import framework as fw


class Right(fw.Corpus):
    """A few pairs of numbers, made for a test."""

    name = "right"

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev")

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        first = {"train": 0, "dev": 50}[split]
        return [fw.Pair(str(number), str(number + 1)) for number in range(first, first + 20)]


class Overlaps(Right):
    """Has examples of train in dev, which is told and no mistake."""

    name = "overlaps"

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return list(super().pairs("train"))[: 20 if split == "train" else 5]


class NoDev(Right):
    """Lacks the split that all is measured on."""

    name = "no_dev"

    def splits(self) -> tuple[str, ...]:
        return ("train", "valid")


class NamesTwice(Right):
    """Names a split twice over."""

    name = "names_twice"

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev", "dev")


class EmptySplit(Right):
    """Has a split of nothing."""

    name = "empty_split"

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return super().pairs(split) if split == "train" else []


class Numbers(Right):
    """Gives numbers instead of text."""

    name = "numbers"

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return [fw.Pair(int(pair.source), int(pair.target)) for pair in super().pairs(split)]  # type: ignore[arg-type]


class Shuffles(Right):
    """Comes in another order each time."""

    name = "shuffles"

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return random.sample(list(super().pairs(split)), 20)


class UsedUp(Right):
    """Gives each pair once."""

    name = "used_up"

    def __init__(self, *settings: object) -> None:
        super().__init__(*settings)  # type: ignore[arg-type]
        self._left: dict[str, Iterator[fw.Pair]] = {}

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return self._left.setdefault(split, iter(super().pairs(split)))


class ByTime(Right):
    """Has another fingerprint each time."""

    name = "by_time"

    def fingerprint(self) -> str:
        return f"{super().fingerprint()}/{time.time_ns()}"


class DrawsAnOrder(Right):
    """Draws the order of its pairs when it is made."""

    name = "draws_an_order"

    def __init__(self, *settings: object) -> None:
        super().__init__(*settings)  # type: ignore[arg-type]
        self._seed = random.random()

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return random.Random(self._seed).sample(list(super().pairs(split)), 20)


class TextWithSource(fw.TextCorpus):
    """Texts by themselves that come with a source."""

    name = "text_with_source"

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev")

    def texts(self, split: str) -> Iterable[str]:
        return [split]

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return [fw.Pair("so", text) for text in self.texts(split)]


@fw.hookimpl
def corpus() -> tuple[type[fw.Corpus], ...]:
    return (
        Right, Overlaps, NoDev, NamesTwice, EmptySplit, Numbers, Shuffles, UsedUp, ByTime, DrawsAnOrder, TextWithSource,
    )  # fmt: skip
