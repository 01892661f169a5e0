from __future__ import annotations

import torch

from framework.data.sequences import Sequences
from framework.data.tokenizer import Tokenizer
from framework.spec import TokenizerSpec

TEXTS = ["a dog", "", "the dog bites the man", "a dog"]
TOKENIZER = Tokenizer.learn(TEXTS * 2, TokenizerSpec(vocabulary_size=262))


def ids_of(found):
    return [ids.tolist() for ids in found]


def test_sequences_come_back_as_they_were_encoded():
    encoded = Sequences.encode(TEXTS, TOKENIZER)
    assert ids_of(encoded.take(torch.tensor([2, 1, 0]))) == [TOKENIZER.encode(TEXTS[index]) for index in (2, 1, 0)]
    assert encoded.lengths.tolist() == [len(TOKENIZER.encode(text)) for text in TEXTS]
    assert {ids.dtype for ids in encoded.take(torch.arange(4))} == {torch.int64}


def test_keeping_some_leaves_the_others_out():
    encoded = Sequences.encode(TEXTS, TOKENIZER)
    kept = encoded.keep(torch.tensor([False, True, True, False]))
    assert len(kept) == 2
    assert ids_of(kept.take(torch.arange(2))) == ids_of(encoded.take(torch.tensor([1, 2])))


def test_no_texts_are_no_sequences():
    assert len(Sequences.encode([], TOKENIZER)) == 0


def test_sequences_are_cut_into_as_few_parts_as_fit():
    encoded = Sequences(torch.arange(9, dtype=torch.int32), torch.tensor([0, 0, 5, 9]))
    assert ids_of(encoded.cut(2).take(torch.arange(6))) == [[], [0, 1], [2, 3], [4], [5, 6], [7, 8]]
    assert ids_of(encoded.cut(5).take(torch.arange(3))) == [[], [0, 1, 2, 3, 4], [5, 6, 7, 8]]
