import pytest

from framework.evaluate.compound_split import compounds_split


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        ("Das ist gut.", "Das ist gut ."),
        ("Die E-Mail-Adresse", "Die E ##AT##-##AT## Mail ##AT##-##AT## Adresse"),
        ("rund 10-mal, z.B. hier", "rund 10 ##AT##-##AT## mal , z.B. hier"),
        ("Nr. 5 - bzw. dies", "Nr. 5 - bzw. dies"),  # abbreviations, and a dash by itself
        ("’s gibt … ”Gutes“", "&apos; s gibt ... &quot; Gutes &quot;"),  # Unicode punctuation first
        ("", ""),
    ],
)
def test_german_is_tokenised_as_the_paper_s_scorer_did(raw, tokens):
    assert compounds_split([raw], "de") == [tokens]


def test_abbreviations_are_those_of_the_language():
    assert compounds_split(["dies bzw. Das"], "de") == ["dies bzw. Das"]
    assert compounds_split(["dies bzw. Das"], "en") == ["dies bzw . Das"]
