"""A small made-up language pair, written on the spot, that cannot be translated word by word."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import Annotated, Final, NamedTuple, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

import framework as fw

T = TypeVar("T")

_NOUNS: Final = (
    ("dog", "kelu"), ("bird", "pivo"), ("horse", "tarna"), ("king", "rego"), ("doctor", "medu"), ("teacher", "lurano"),
    ("farmer", "bano"), ("sailor", "mirale"), ("boy", "fisu"), ("girl", "fela"), ("singer", "kanto"), ("cook", "dolma"),
)  # fmt: skip
_ADJECTIVES: Final = (
    ("good", "zamo"), ("small", "eti"), ("old", "veka"), ("wise", "saji"), ("quick", "rapu"), ("brave", "kuro"),
    ("quiet", "silo"), ("happy", "gaju"),
)  # fmt: skip
_VERBS: Final = (
    ("saw", "vid"), ("heard", "orel"), ("followed", "sekv"), ("helped", "help"), ("loved", "amor"), ("feared", "tim"),
    ("called", "vok"), ("found", "trov"),
)  # fmt: skip
_PREPOSITIONS: Final = (("near", "apud"), ("behind", "post"))


class Phrase(NamedTuple):
    """Words of both languages, and whether what they name is many."""

    source: str
    target: str
    plural: bool = False


class ToyTranslation(fw.Corpus):
    """A made-up language pair in which order, scope and agreement carry the meaning; made for this project.

    The source has the order of English: subject, verb, object. The target has case, agreement and the verb last:

    - "the dog saw the king" is "kelu regon vidas", "the king saw the dog" is "rego kelun vidas": the object, noun
      and adjective, ends in -n, the plural in -i, and "the" goes unsaid; "a" and "some" are "iu".
    - Adjectives follow their noun, and a place comes first, its preposition last:
      "the old dog near the king" is "rego apud kelu veka".
    - The verb agrees with the head of its subject (-as one, -os many), however far away; the source verb does not
      show it: "the dogs near the king saw a bird" is "rego apud kelui iu pivon vidos".
    - "ne" follows what it denies: "the king seemed not good" is "rego zamo ne semas", "the king never seemed good"
      is "rego zamo semas ne".
    - Between clauses (`max_clauses` of 2 and more), "A and B" is "A kaj B", but "A because B" is "B do A".

    Each sentence belongs to one split for good, by its hash, so no sentence of dev or test is in train; and a
    split keeps its first pairs when it is made longer.
    """

    name = "toy_translation"

    class Options(fw.Options):
        train_pairs: PositiveInt = 10_000
        dev_pairs: PositiveInt = 200
        test_pairs: PositiveInt = 200
        max_clauses: Annotated[int, Field(ge=1, le=8)] = 1
        """Clauses of the longest sentences; with 1 a model of width 64 and 2 layers needs some 400 steps."""
        seed: NonNegativeInt = 1
        """Of the sentences; unlike the experiment's seeds, the same for every trial."""

    options: Options

    def splits(self) -> tuple[str, ...]:
        return ("train", "dev", "test")

    def pairs(self, split: str) -> Iterator[fw.Pair]:
        wanted: int = getattr(self.options, f"{split}_pairs")
        random = Random(f"{self.options.seed}/{split}")
        while wanted:
            sentence = _sentence(random, 1 + _below(random, self.options.max_clauses))
            if _split_of(sentence.source) == split:
                yield fw.Pair(sentence.source, sentence.target)
                wanted -= 1


def _split_of(source: str) -> str:
    return {0: "dev", 1: "test"}.get(zlib.crc32(source.encode()) % 8, "train")


def _sentence(random: Random, clauses: int) -> Phrase:
    first = _clause(random)
    if clauses == 1:
        return first
    rest = _sentence(random, clauses - 1)
    if _chance(random, 0.5):
        return Phrase(f"{first.source} and {rest.source}", f"{first.target} kaj {rest.target}")
    return Phrase(f"{first.source} because {rest.source}", f"{rest.target} do {first.target}")


def _clause(random: Random) -> Phrase:
    subject = _noun_phrase(random)
    never, ne = ("never ", " ne") if _chance(random, 0.25) else ("", "")
    agreement = "os" if subject.plural else "as"
    if _chance(random, 0.25):
        adjective = _adjective(random, "i" if subject.plural else "")
        return Phrase(
            f"{subject.source} {never}seemed {adjective.source}",
            f"{subject.target} {adjective.target} sem{agreement}{ne}",
        )
    verb, stem = _pick(random, _VERBS)
    object_ = _noun_phrase(random, case="n")
    return Phrase(
        f"{subject.source} {never}{verb} {object_.source}", f"{subject.target} {object_.target} {stem}{agreement}{ne}"
    )


def _noun_phrase(random: Random, case: str = "") -> Phrase:
    head = _noun(random, case, described=_chance(random, 0.4))
    if not _chance(random, 0.25):
        return head
    preposition, postposition = _pick(random, _PREPOSITIONS)
    place = _noun(random, case="", described=False)
    return Phrase(
        f"{head.source} {preposition} {place.source}", f"{place.target} {postposition} {head.target}", head.plural
    )


def _noun(random: Random, case: str, described: bool) -> Phrase:
    noun, stem = _pick(random, _NOUNS)
    plural, definite = _chance(random, 0.5), _chance(random, 0.7)
    ending = f"i{case}" if plural else case
    article = "the" if definite else "some" if plural else "a"
    adjective = _adjective(random, ending) if described else Phrase("", "")
    source = [article, adjective.source, f"{noun}s" if plural else noun]
    target = ["" if definite else "iu", stem + ending, adjective.target]
    return Phrase(" ".join(filter(None, source)), " ".join(filter(None, target)), plural)


def _adjective(random: Random, ending: str) -> Phrase:
    adjective, stem = _pick(random, _ADJECTIVES)
    if _chance(random, 0.25):
        return Phrase(f"not {adjective}", f"{stem}{ending} ne")
    return Phrase(adjective, f"{stem}{ending}")


# Only `Random.random` gives the same numbers in every version of Python.


def _chance(random: Random, probability: float) -> bool:
    return random.random() < probability


def _below(random: Random, bound: int) -> int:
    return int(random.random() * bound)


def _pick(random: Random, choices: Sequence[T]) -> T:
    return choices[_below(random, len(choices))]


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return ToyTranslation
