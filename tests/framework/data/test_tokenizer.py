from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import BOS, EOS, PAD, SPECIAL_PIECES
from framework.data.lines import iter_lines
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec import TokenizerSpec

TEXTS = ["the dog bites the man", "the man bites the dog", "dogs bark; men do not", "</s> <pad> is only text"] * 3
SPEC = TokenizerSpec(vocabulary_size=290)
TOKENIZER = Tokenizer.learn(TEXTS, SPEC)


@given(st.text())
def test_decoding_gives_back_any_text(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text())
def test_no_text_becomes_a_special_piece_or_leaves_the_table(text):
    assert all(SPECIAL_PIECES <= piece < TOKENIZER.vocabulary_size for piece in TOKENIZER.encode(text))


@pytest.mark.parametrize("text", ["</s>", "<pad>", "<s>", "<unk>", "[PAD]"])
def test_names_of_special_pieces_are_text_like_any_other(text):
    """B22: a source that says </s> does not end there."""
    assert not {PAD, BOS, EOS} & set(TOKENIZER.encode(text))
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize(
    "text", ["\ufe30", "ﬁ", "e\u0301", "  two  spaces ", " leading", "\ttab\n", "\ufeff", "a\u2028b"]
)
def test_nothing_is_normalised(text):
    """B22: U+FE30 stays what it is."""
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


def test_a_word_is_the_same_pieces_wherever_it_stands():
    alone, last = TOKENIZER.encode("dog"), TOKENIZER.encode("the dog")
    assert last[-len(alone) :] == alone


def test_an_empty_text_has_no_pieces():
    assert TOKENIZER.encode("") == []
    assert TOKENIZER.decode([]) == ""


def test_special_pieces_are_skipped_when_decoding():
    pieces = TOKENIZER.encode("the dog")
    assert TOKENIZER.decode([BOS, *pieces, EOS, PAD, PAD]) == "the dog"


def test_half_a_character_is_shown_as_such():
    assert TOKENIZER.decode(TOKENIZER.encode("é")[:-1]) == "\ufffd"


def test_a_long_line_is_cut_like_any_other():
    text = "word " * 2000
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


def test_a_long_line_is_learned_from_like_any_other():
    """B22: SentencePiece skips a line of more than 4192 bytes."""
    learned = Tokenizer.learn(["zyxw " * 2000], TokenizerSpec(vocabulary_size=263))
    assert len(learned.encode("zyxw")) == 1


def test_special_pieces_have_ids_of_their_own_below_those_of_text():
    """B22: no id is -1, and none is left to a default of the library."""
    assert {PAD, BOS, EOS} == set(range(SPECIAL_PIECES))


def test_a_byte_order_mark_leaves_no_piece(tmp_path):
    """B20: the first piece is that of the word."""
    (tmp_path / "t.txt").write_bytes(b"\xef\xbb\xbf" + b"hello\n" * 9)
    lines = list(iter_lines(tmp_path / "t.txt"))
    learned = Tokenizer.learn(lines, TokenizerSpec(vocabulary_size=264))
    assert len(learned.encode(lines[0])) == 1
    assert learned.encode(lines[0]) == learned.encode("hello")


def test_the_table_has_exactly_the_rows_asked_for():
    """B22: every id has a row of the table, and every row an id."""
    assert TOKENIZER.vocabulary_size == SPEC.vocabulary_size
    everything = {piece for text in [*TEXTS, *map(chr, range(0x800))] for piece in TOKENIZER.encode(text)}
    assert max(everything) == SPEC.vocabulary_size - 1


def test_too_large_a_vocabulary_names_what_is_possible():
    """B22: the field, and the limit of the text."""
    with pytest.raises(SpecError) as caught:
        Tokenizer.learn(TEXTS, TokenizerSpec(vocabulary_size=8000))
    message = str(caught.value)
    possible = int(message.split("yields ")[1].split(":")[0])
    assert message.startswith("data.tokenizer.vocabulary_size: 8000 pieces were asked for")
    assert Tokenizer.learn(TEXTS, TokenizerSpec(vocabulary_size=possible)).vocabulary_size == possible


def test_batches_encode_as_single_texts_do():
    assert TOKENIZER.encode_batch(TEXTS) == [TOKENIZER.encode(text) for text in TEXTS]


def test_json_holds_all_of_it():
    again = Tokenizer.from_json(TOKENIZER.to_json())
    assert again.encode_batch(TEXTS) == TOKENIZER.encode_batch(TEXTS)
    assert again.vocabulary_size == TOKENIZER.vocabulary_size


def test_equal_texts_give_equal_vocabularies_in_every_process():
    program = (
        "import hashlib; from framework.data.tokenizer import Tokenizer; from framework.spec import TokenizerSpec;"
        "from random import Random; r = Random(1);"
        "texts = [' '.join(f'w{r.randrange(900)}' for _ in range(9)) for _ in range(3000)];"
        "learned = Tokenizer.learn(texts, TokenizerSpec(vocabulary_size=700)).to_json();"
        "print(hashlib.sha256(learned.encode()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"TOKENIZERS_PARALLELISM": parallel, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for parallel, hash_seed in (("false", "1"), ("true", "2"))
    }
    assert len(printed) == 1
