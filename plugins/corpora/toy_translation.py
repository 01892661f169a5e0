"""A small made-up language pair, written on the spot, that cannot be translated word by word."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import Field, PositiveInt

import framework as fw

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


class ToyTranslation(fw.MadeUpCorpus):
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

    Sentences may repeat within a split; none of dev or test is in train.
    """

    name = "toy_translation"

    repeats: ClassVar[bool] = True

    class Options(fw.MadeUpCorpus.Options):
        train_pairs: PositiveInt = 10_000
        max_clauses: Annotated[int, Field(ge=1, le=8)] = 1
        """Clauses of the longest sentences; with 1 a model of width 64 and 2 layers needs some 400 steps."""

    options: Options

    def draw(self, dice: fw.Dice) -> fw.Pair:
        sentence = _sentence(dice, 1 + dice.below(self.options.max_clauses))
        return fw.Pair(sentence.source, sentence.target)


def _sentence(dice: fw.Dice, clauses: int) -> Phrase:
    first = _clause(dice)
    if clauses == 1:
        return first
    rest = _sentence(dice, clauses - 1)
    if dice.chance(0.5):
        return Phrase(f"{first.source} and {rest.source}", f"{first.target} kaj {rest.target}")
    return Phrase(f"{first.source} because {rest.source}", f"{rest.target} do {first.target}")


def _clause(dice: fw.Dice) -> Phrase:
    subject = _noun_phrase(dice)
    never, ne = ("never ", " ne") if dice.chance(0.25) else ("", "")
    agreement = "os" if subject.plural else "as"
    if dice.chance(0.25):
        adjective = _adjective(dice, "i" if subject.plural else "")
        return Phrase(
            f"{subject.source} {never}seemed {adjective.source}",
            f"{subject.target} {adjective.target} sem{agreement}{ne}",
        )
    verb, stem = dice.pick(_VERBS)
    object_ = _noun_phrase(dice, case="n")
    return Phrase(
        f"{subject.source} {never}{verb} {object_.source}", f"{subject.target} {object_.target} {stem}{agreement}{ne}"
    )


def _noun_phrase(dice: fw.Dice, case: str = "") -> Phrase:
    head = _noun(dice, case, described=dice.chance(0.4))
    if not dice.chance(0.25):
        return head
    preposition, postposition = dice.pick(_PREPOSITIONS)
    place = _noun(dice, case="", described=False)
    return Phrase(
        f"{head.source} {preposition} {place.source}", f"{place.target} {postposition} {head.target}", head.plural
    )


def _noun(dice: fw.Dice, case: str, described: bool) -> Phrase:
    noun, stem = dice.pick(_NOUNS)
    plural, definite = dice.chance(0.5), dice.chance(0.7)
    ending = f"i{case}" if plural else case
    article = "the" if definite else "some" if plural else "a"
    adjective = _adjective(dice, ending) if described else Phrase("", "")
    source = [article, adjective.source, f"{noun}s" if plural else noun]
    target = ["" if definite else "iu", stem + ending, adjective.target]
    return Phrase(" ".join(filter(None, source)), " ".join(filter(None, target)), plural)


def _adjective(dice: fw.Dice, ending: str) -> Phrase:
    adjective, stem = dice.pick(_ADJECTIVES)
    if dice.chance(0.25):
        return Phrase(f"not {adjective}", f"{stem}{ending} ne")
    return Phrase(adjective, f"{stem}{ending}")


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return ToyTranslation
