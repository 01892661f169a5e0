import math
import re

import pytest

from framework.errors import SpecError
from framework.evaluate.text_metrics import TEXT_METRICS, text_metric

LINES = ["The cat sat on the mat.", "Nobody saw the small grey dog."]


def bleu(hypotheses, references):
    return text_metric("bleu", "en").score(hypotheses, references)


SIGNATURES = {
    "bleu": r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:[\d.]+",
    "bleu_compound_split": r"nrefs:1\|case:mixed\|eff:no"
    r"\|tok:moses-en-[\d.]+\+unicode-punctuation\+hyphen-split\|smooth:none\|version:[\d.]+",
    "chrf": r"nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:[\d.]+",
}


@pytest.mark.parametrize("name", TEXT_METRICS)
def test_perfect_output_scores_100_and_says_how_it_was_counted(name):
    """B35: a signature that says all of it."""
    found = text_metric(name, "en").score(LINES, LINES)
    assert found.score == 100  # not the 100.00000000000004 of a mean by logarithms
    assert re.fullmatch(SIGNATURES[name], found.signature)


@pytest.mark.parametrize("name", TEXT_METRICS)
@pytest.mark.parametrize(("hypotheses", "references"), [(1, 2), (2, 1), (0, 2)])
def test_unequal_numbers_of_lines_are_refused_with_both_numbers(name, hypotheses, references):
    """B36: sacreBLEU cuts the longer side silently, and may say 100."""
    words = f"{hypotheses} hypotheses cannot be scored against {references} references"
    with pytest.raises(ValueError, match=words):
        text_metric(name, "en").score(LINES[:hypotheses], LINES[:references])


@pytest.mark.parametrize("name", TEXT_METRICS)
def test_no_lines_are_refused(name):
    """B36: sacreBLEU raises an IndexError."""
    with pytest.raises(ValueError, match="there are no lines to score"):
        text_metric(name, "en").score([], [])


def test_an_empty_hypothesis_counts_against_the_score():
    """B36"""
    five = "a b c d e"
    assert bleu([five, ""], [five, "x"]).score == pytest.approx(100 * math.exp(1 - 6 / 5))  # the brevity penalty


def test_an_empty_reference_is_allowed():
    """B36"""
    assert 0 < bleu([LINES[0], "something"], [LINES[0], ""]).score < 100


def test_a_corpus_of_lines_shorter_than_four_words_scores_zero():
    """B36: no 4-gram exists."""
    assert bleu(["a b c"], ["a b c"]).score == 0


def test_references_are_one_per_line_not_one_list_of_letters():
    """B36: un-nested references give 0 for perfect output."""
    assert bleu(["a b c d e"], ["a b c d e"]).score == pytest.approx(100)


def test_what_is_left_tokenised_or_in_pieces_scores_otherwise_than_the_same_text():
    """B35: three forms of one output, of which the first is the number."""
    text, tokens, pieces = "Cats sit at home today.", "Cats sit at home today .", "C@@ ats sit at home today."
    assert bleu([text], [text]).score == 100
    assert bleu([tokens], [text]).score == 100  # 13a parts the full stop in either
    # 6 words and 7: 5 of 7, 4 of 6, 3 of 5 and 2 of 4 n-grams are right.
    assert bleu([pieces], [text]).score < 75


def test_without_smoothing_a_corpus_with_no_right_4_gram_scores_zero():
    hypothesis, reference = "a b c x d e f", "a b c y d e f"
    assert text_metric("bleu_compound_split", "en").score([hypothesis], [reference]).score == 0  # as multi-bleu.perl
    assert bleu([hypothesis], [reference]).score > 0


def test_taking_compounds_apart_finds_more_to_match():
    hypothesis, reference = "he reads a rich-text file now", "he reads a plain-text file now"
    # Of its tokens `he reads a rich ##AT##-##AT## text file now`, n-grams with `rich` are wrong:
    right = (7 / 8) * (5 / 7) * (3 / 6) * (1 / 5)
    split = text_metric("bleu_compound_split", "en").score([hypothesis], [reference]).score
    assert split == pytest.approx(100 * right**0.25)
    # 13a leaves 6 words, of which one is wrong: 5 of 6, 3 of 5, 1 of 4, and no 4-gram, which is smoothed to 1/2 of 3
    assert bleu([hypothesis], [reference]).score == pytest.approx(100 * ((5 / 6) * (3 / 5) * (1 / 4) / 6) ** 0.25)


def test_chrf_is_the_mean_over_lengths_of_character_n_grams():
    # Of `ab` against `ac` half the letters are right, and none of the pairs: precision and recall are 1/4.
    assert text_metric("chrf", "en").score(["ab"], ["ac"]).score == pytest.approx(25)


def test_a_language_that_the_tokenizer_does_not_know_is_refused():
    expected = (
        r"evaluate\.moses_language: the Moses tokenizer of bleu_compound_split knows no language 'german'; "
        r"there are: as, bn, ca, cs, de,"
    )
    with pytest.raises(SpecError, match=expected):
        text_metric("bleu_compound_split", "german")
    assert text_metric("bleu", "german").score(LINES, LINES).score == 100  # has no use for it
