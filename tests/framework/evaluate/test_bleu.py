import math
import re

import pytest

from framework.evaluate.bleu import bleu

LINES = ["The cat sat on the mat.", "Nobody saw the small grey dog."]


def test_perfect_output_scores_100_and_says_how_it_was_counted():
    score, signature, doubts = bleu(LINES, LINES)
    assert score == 100  # not the 100.00000000000004 of a mean by logarithms
    assert re.fullmatch(r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:\d+\.\d+\.\d+", signature)
    assert doubts == ()


@pytest.mark.parametrize(("hypotheses", "references"), [(1, 2), (2, 1), (0, 2)])
def test_unequal_numbers_of_lines_are_refused_with_both_numbers(hypotheses, references):
    words = f"{hypotheses} hypotheses cannot be scored against {references} references"
    with pytest.raises(ValueError, match=words):
        bleu(LINES[:hypotheses], LINES[:references])


def test_no_lines_are_refused():
    with pytest.raises(ValueError, match="there are no lines to score"):
        bleu([], [])


def test_an_empty_hypothesis_counts_against_the_score():
    five = "a b c d e"
    assert bleu([five, ""], [five, "x"]).score == pytest.approx(100 * math.exp(1 - 6 / 5))  # the brevity penalty


def test_an_empty_reference_is_allowed():
    assert 0 < bleu([LINES[0], "something"], [LINES[0], ""]).score < 100


def test_a_corpus_of_lines_shorter_than_four_words_scores_zero():
    assert bleu(["a b c"], ["a b c"]).score == 0


def test_references_are_one_per_line_not_one_list_of_letters():
    assert bleu(["a b c d e"], ["a b c d e"]).score == pytest.approx(100)


@pytest.mark.parametrize("mark", ["@@", "\u2581"])
def test_left_over_subword_marks_are_said(mark):
    hypotheses = [LINES[0], f"No{mark} body saw the small grey dog."]
    assert bleu(hypotheses, LINES).doubts == (f"1 of 2 hypotheses hold the sub-word mark {mark!r}: join the pieces",)


def test_marks_that_the_references_hold_too_are_text():
    lines = ["write to me @@ home tonight"]
    assert bleu(lines, lines).doubts == ()


def test_tokenised_output_is_said():
    tokenised = [line.replace(".", " .") for line in LINES]
    assert bleu(tokenised, LINES).doubts == ("2 of 2 hypotheses end in a detached full stop: detokenise them",)
    assert bleu(tokenised, tokenised).doubts == ()
