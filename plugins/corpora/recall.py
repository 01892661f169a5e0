"""Associative recall over key-value pairs: Ba et al. 2016, arXiv:1610.06258, section 4.1; Arora et al. 2023."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import PositiveInt, model_validator

import framework as fw


class Recall(fw.MadeUpCorpus):
    """Find the value of a key: Ba et al. 2016, arXiv:1610.06258, section 4.1; Arora et al. 2023, arXiv:2312.04927.

    A source is key value key value … key, no key twice but the last, which asks for the value that stands with it
    before: "da lo be vu ka lo be" is answered by "vu". Keys and values have no word in common. The answer is one
    word, which `exact_match` and `accuracy` measure; BLEU, which counts four in a row, is always 0.

    Each word is one piece if `tokenizer.vocabulary_size` is 259 + keys + values + (keys + values) / 5, rounded up,
    307 with the default options; it is the largest that the text yields.
    """

    name = "recall"

    class Options(fw.MadeUpCorpus.Options):
        keys: PositiveInt = 20
        """Different keys."""
        values: PositiveInt = 20
        """Different values."""
        min_associations: PositiveInt = 2
        """Keys with a value in the shortest source …"""
        max_associations: PositiveInt = 8
        """… and in the longest; every number between is drawn alike."""

        @model_validator(mode="after")
        def _possible(self) -> Recall.Options:
            words = self.keys + self.values
            if words > len(fw.MADE_UP_WORDS):
                raise ValueError(
                    f"keys and values are {words} words together, and there are {len(fw.MADE_UP_WORDS)}: "
                    "lower one of them"
                )
            if self.max_associations > self.keys:
                raise ValueError(
                    f"max_associations {self.max_associations} is more than keys {self.keys}, "
                    "and no key is in a source twice: lower it, or raise keys"
                )
            if self.min_associations > self.max_associations:
                raise ValueError(
                    f"min_associations {self.min_associations} is more than max_associations "
                    f"{self.max_associations}: lower it, or raise max_associations"
                )
            return self

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        return ({}, {"keys": 8, "values": 4, "min_associations": 3, "max_associations": 3, "train_pairs": 300})

    def draw(self, dice: fw.Dice) -> fw.Pair:
        options = self.options
        words = fw.MADE_UP_WORDS[: options.keys + options.values]
        keys, values = words[: options.keys], words[options.keys :]
        number = dice.between(options.min_associations, options.max_associations)
        memory = {key: dice.pick(values) for key in dice.sample(keys, number)}
        asked = dice.pick(list(memory))
        return fw.Pair(" ".join((*(word for pair in memory.items() for word in pair), asked)), memory[asked])


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return Recall
