import pytest

from framework.contracts import TextCorpus
from framework.data.prepare import prepare
from framework.evaluate.words import why_not_whole, words
from framework.spec import Component, DataSpec, TokenizerSpec

LINES = ["one two  three", "four\u00a0five", "six-seven eight."]
"""Seven words between white space, of which some is doubled and some is not a plain space."""


class Texts(TextCorpus):
    """Lines that stand by themselves."""

    name = "texts"

    def splits(self):
        return ("train", "dev")

    def texts(self, split):
        return LINES


@pytest.fixture
def texts(tmp_path):
    """Prepared lines of at most so many pieces."""

    def prepared(max_pieces):
        corpus = Texts(Texts.Options(), tmp_path)
        component = Component.model_construct(name="texts", options=corpus.options)
        spec = DataSpec(corpus=component, tokenizer=TokenizerSpec(vocabulary_size=260), max_pieces=max_pieces)
        data = prepare(spec, corpus, tmp_path / f"data-{max_pieces}")
        return data, data.split("dev")

    return prepared


def pieces(split):
    return int(split.target_lengths.sum()) + len(split)


def test_words_stand_between_white_space_and_every_text_ends(texts):
    data, split = texts(100)
    counted = words(data, split)
    assert counted.number == 7 + 3
    assert counted.text.startswith("7 words and 3 ends (")
    assert why_not_whole(data, split, pieces(split)) is None


def test_the_words_of_texts_by_themselves_are_those_of_pairs_with_the_same_text(texts, workshop):
    data, split = texts(100)
    assert words(data, split) == words(data, split)
    assert words(data, split).text != words(workshop.data, workshop.data.split("dev")).text


def test_texts_that_were_cut_are_not_whole(texts):
    data, split = texts(8)
    reason = why_not_whole(data, split, pieces(split))
    assert reason == f"3 texts were cut into {len(split)} parts, which ends words early: raise data.max_pieces"


def test_tokens_that_a_mask_leaves_out_make_it_partial(workshop):
    split = workshop.data.split("dev")
    whole = pieces(split)
    assert why_not_whole(workshop.data, split, whole) is None
    assert why_not_whole(workshop.data, split, whole - 1) == f"{whole - 1} of {whole} tokens enter the loss"
