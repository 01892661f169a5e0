"""Corpora that are made up on the spot, of the same text on every machine.

Chance is made of `Random.random` alone, the only method of `Random` that promises the same numbers in every version
of Python for a seed.
"""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from random import Random
from typing import Annotated, ClassVar, Final, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from framework import spec
from framework.contracts import Corpus, Pair
from framework.errors import SpecError
from framework.spec.base import misfit

T = TypeVar("T")

MADE_UP_WORDS: Final = tuple(consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou")
"""100 words of two letters: ba, be, bi, bo, bu, ca, …

Learned from text of the first n of them alone, each there twice or more, a tokenizer of `vocabulary_size`
259 + n + n / 5, rounded up, makes every word one piece, and no larger one can be learned: these are 3 special pieces,
256 bytes, a piece for a space with each first letter, and one for each word.
"""

_PATIENCE: Final = 10_000
"""Draws without anything new after which a split counts as exhausted."""


class Dice:
    """Draws from a seed that are the same in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def below(self, bound: int) -> int:
        """Give a number from 0 to `bound` - 1."""
        return int(self._random.random() * bound)

    def between(self, lowest: int, highest: int) -> int:
        """Give a number from `lowest` to `highest`, both included."""
        return lowest + self.below(highest - lowest + 1)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def sample(self, choices: Sequence[T], number: int) -> list[T]:
        """Give `number` of the choices in random order, none twice."""
        left = list(choices)
        return [left.pop(self.below(len(left))) for _ in range(number)]


class MadeUpCorpus(Corpus):
    """A corpus whose pairs are drawn one by one.

    A source belongs to one split for good, by its hash: six of eight to train, one each to dev and test. So no source
    of dev or test is in train, and a split keeps its first pairs when it is made longer.
    """

    repeats: ClassVar[bool] = False
    """True where a split may hold a pair more than once, as real text does."""

    class Options(spec.Options):
        train_pairs: PositiveInt = 5_000
        dev_pairs: PositiveInt = 200
        test_pairs: PositiveInt = 200
        seed: NonNegativeInt = 1
        """Of the text; unlike the experiment's seeds, the same for every trial."""

    options: Options

    @abstractmethod
    def draw(self, dice: Dice) -> Pair:
        """Draw one pair. A source has one target, however often it is drawn."""

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev", "test")

    def pairs(self, split: str) -> Iterator[Pair]:
        """Draw a split's pairs. Raises `SpecError` if there are not as many different ones as are asked for."""
        wanted: int = getattr(self.options, f"{split}_pairs")
        dice = Dice(f"{self.options.seed}/{split}")
        given = in_vain = 0
        known: set[str] = set()
        while given < wanted:
            pair = self.draw(dice)
            if _split_of(pair.source) == split and pair.source not in known:
                yield pair
                given, in_vain = given + 1, 0
                if not self.repeats:
                    known.add(pair.source)
            elif (in_vain := in_vain + 1) == _PATIENCE:
                raise SpecError(
                    f"{wanted} different pairs were asked for, and {self.name} has {given} for the split {split}: "
                    "lower it to that, or give the corpus more to draw from",
                    f"data.corpus.options.{split}_pairs",
                )


class SymbolCorpus(MadeUpCorpus):
    """A made-up corpus in which a sequence of symbols is answered by another.

    Each symbol is a word of two letters, and one piece if `tokenizer.vocabulary_size` is 259 + symbols + symbols / 5,
    rounded up (283 for 20 symbols), the largest that the text yields.
    """

    class Options(MadeUpCorpus.Options):
        symbols: Annotated[int, Field(ge=1, le=len(MADE_UP_WORDS))] = 20
        """Different symbols."""
        min_length: PositiveInt = 4
        max_length: PositiveInt = 12
        """Symbols of the longest source; a source's length is drawn from `min_length` to `max_length`, all alike."""

        @model_validator(mode="after")
        def _some_length(self) -> SymbolCorpus.Options:
            if self.min_length > self.max_length:
                raise misfit(
                    f"max_length {self.max_length} is less than min_length {self.min_length}: raise it, "
                    "or lower min_length",
                    "max_length",
                )
            return self

    options: Options

    @abstractmethod
    def answer(self, symbols: Sequence[str]) -> Sequence[str]:
        """Give the target of a source."""

    def draw(self, dice: Dice) -> Pair:
        words = MADE_UP_WORDS[: self.options.symbols]
        source = [dice.pick(words) for _ in range(dice.between(self.options.min_length, self.options.max_length))]
        return Pair(" ".join(source), " ".join(self.answer(source)))


def _split_of(source: str) -> str:
    return {0: "dev", 1: "test"}.get(zlib.crc32(source.encode()) % 8, "train")
