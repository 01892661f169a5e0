"""Text ↔ pieces, by byte-pair encoding: Sennrich et al. 2016, arXiv:1508.07909.

Over bytes (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2), so that no
text is unknown and none is rewritten: decoding gives back what was encoded, to the byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

# A trial's worker owns one thread; must be set before the library encodes for the first time.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from framework.contracts import SPECIAL_PIECES
from framework.errors import SpecError
from framework.spec import TokenizerSpec

_MIN_FREQUENCY = 2
"""A piece that training text holds once would be a row of the table learned from one example."""


class Tokenizer:
    """A learned vocabulary. Ids below `SPECIAL_PIECES` are never the ids of text, whatever the text says."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self._backend = backend  # its ids count from 0, ours from SPECIAL_PIECES

    @classmethod
    def learn(cls, texts: Iterable[str], spec: TokenizerSpec) -> Tokenizer:
        """Learn the vocabulary of `texts`, of exactly the size asked for: equal texts, equal vocabulary.

        Raises `SpecError` if the texts do not hold that many pieces.
        """
        backend = tokenizers.Tokenizer(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=spec.vocabulary_size - SPECIAL_PIECES,
            min_frequency=_MIN_FREQUENCY,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        backend.train_from_iterator(map(_opened, texts), trainer)
        tokenizer = cls(backend)
        if tokenizer.vocabulary_size < spec.vocabulary_size:
            raise SpecError(
                f"{spec.vocabulary_size} pieces were asked for, and the training text yields "
                f"{tokenizer.vocabulary_size}: lower it to at most that, or use more text",
                "data.tokenizer.vocabulary_size",
            )
        return tokenizer

    @property
    def vocabulary_size(self) -> int:
        """Special pieces and pieces of text: the rows of an embedding table."""
        return self._backend.get_vocab_size() + SPECIAL_PIECES

    def encode(self, text: str) -> list[int]:
        """Give the ids of a text, without special pieces; an empty text has none."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Give the ids of each text."""
        encodings = self._backend.encode_batch_fast([_opened(text) for text in texts])
        return [[piece + SPECIAL_PIECES for piece in encoding.ids] for encoding in encodings]

    def decode(self, ids: Iterable[int]) -> str:
        """Give the text of ids; special pieces are skipped, and bytes that are not UTF-8 become U+FFFD."""
        pieces = [piece - SPECIAL_PIECES for piece in ids if piece >= SPECIAL_PIECES]
        return self._backend.decode(pieces).removeprefix(" ")

    def to_json(self) -> str:
        return self._backend.to_str()

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        return cls(tokenizers.Tokenizer.from_str(text))


def _opened(text: str) -> str:
    """Put a space before a text, so that its first word is the same piece as within a line.

    The library's own prefix is left out before a text that starts with a space, and could not be undone.
    """
    return f" {text}" if text else text
