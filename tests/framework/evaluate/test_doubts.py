import pytest

from framework.evaluate.doubts import doubts

LINES = ["The cat sat on the mat.", "Nobody saw the small grey dog."]


def test_plain_text_is_beyond_doubt():
    assert doubts(LINES, LINES) == ()


@pytest.mark.parametrize("mark", ["@@", "\u2581"])
def test_left_over_subword_marks_are_said(mark):
    """B35"""
    hypotheses = [LINES[0], f"No{mark} body saw the small grey dog."]
    assert doubts(hypotheses, LINES) == (f"1 of 2 hypotheses hold the sub-word mark {mark!r}: join the pieces",)


def test_marks_that_the_references_hold_too_are_text():
    lines = ["write to me @@ home tonight"]
    assert doubts(lines, lines) == ()


def test_tokenised_output_is_said():
    """B35"""
    tokenised = [line.replace(".", " .") for line in LINES]
    assert doubts(tokenised, LINES) == ("2 of 2 hypotheses end in a detached full stop: detokenise them",)
    assert doubts(tokenised, tokenised) == ()
