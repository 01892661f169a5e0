from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from framework.data.prepare import prepare
from framework.spec import DataSpec

GOLDEN = Path(__file__).parents[2] / "golden" / "data.json"
VERBS = "saw|heard|followed|helped|loved|feared|called|found"


@pytest.fixture(scope="module")
def toy(registry):
    plugin = registry.plugin("corpus", "toy_translation")
    return lambda **options: plugin(plugin.Options(**options), Path())


@pytest.fixture(scope="module")
def clauses(toy):
    """Source → target of many single clauses."""
    return dict(toy(train_pairs=40_000).pairs("train"))


def test_splits_have_the_sizes_asked_for(toy):
    corpus = toy(train_pairs=50, dev_pairs=7, test_pairs=9)
    assert {split: len(list(corpus.pairs(split))) for split in corpus.splits()} == {"train": 50, "dev": 7, "test": 9}


def test_no_sentence_of_dev_or_test_is_in_train(toy):
    corpus = toy(train_pairs=5000, dev_pairs=500, test_pairs=500)
    train, dev, test = ({pair.source for pair in corpus.pairs(split)} for split in corpus.splits())
    assert not train & dev
    assert not train & test
    assert not dev & test


def test_the_text_is_the_one_that_earlier_trials_were_trained_on(toy):
    corpus = toy(train_pairs=100, dev_pairs=10, test_pairs=10, max_clauses=3)
    assert corpus.fingerprint() == json.loads(GOLDEN.read_bytes())["toy_translation"]


def test_another_seed_gives_other_sentences(toy):
    first, second = (list(toy(train_pairs=50, seed=seed).pairs("train")) for seed in (1, 2))
    assert first != second


def test_a_longer_split_begins_with_the_shorter(toy):
    assert list(islice(toy(train_pairs=90).pairs("train"), 50)) == list(toy(train_pairs=50).pairs("train"))


def test_a_source_has_one_translation(toy, clauses):
    pairs = set(toy(train_pairs=40_000).pairs("train"))
    assert len(pairs) == len(clauses)


def test_who_does_it_to_whom_is_in_the_order_of_the_source_and_the_case_of_the_target(clauses):
    simple = [source.split() for source in clauses if re.fullmatch(rf"the \w+ ({VERBS}) the \w+", source)]
    swapped = [(words, [words[0], words[4], words[2], words[3], words[1]]) for words in simple]
    compared = [(" ".join(one), " ".join(other)) for one, other in swapped if one[1] != other[1]]
    compared = [(one, other) for one, other in compared if other in clauses]
    assert len(compared) > 100
    for one, other in compared:
        (subject, object_, verb), (subject_of_other, object_of_other, _) = clauses[one].split(), clauses[other].split()
        assert object_ == f"{subject_of_other}n"
        assert object_of_other == f"{subject}n"
        assert verb.endswith("os" if one.split()[1].endswith("s") else "as")


def test_the_verb_agrees_with_the_head_of_its_subject_and_not_with_the_nearest_noun(clauses):
    disagreeing = 0
    for source, target in clauses.items():
        found = re.match(rf"\w+ (?:not )?(?:\w+ )?(\w+) (?:near|behind) \w+ (\w+) (?:never )?({VERBS}|seemed)", source)
        if found:
            head, neighbour = found[1].endswith("s"), found[2].endswith("s")
            verb = target.removesuffix(" ne").split()[-1]
            assert verb.endswith("os" if head else "as")
            disagreeing += head != neighbour
    assert disagreeing > 1000


def test_negation_stands_after_what_it_denies(clauses):
    denied = [source for source in clauses if re.fullmatch(r"the \w+ seemed not \w+", source)]
    compared = [source for source in denied if source.replace("seemed not", "never seemed") in clauses]
    assert len(compared) > 20
    for source in compared:
        subject, adjective, ne, verb = clauses[source].split()
        assert ne == "ne"
        assert clauses[source.replace("seemed not", "never seemed")] == f"{subject} {adjective} {verb} ne"


def test_adjectives_follow_their_noun_and_agree_with_it(clauses):
    described = [source for source in clauses if re.fullmatch(rf"the \w+ ({VERBS}) the (?!not)\w+ \w+s", source)]
    assert described
    for source in described:
        _, noun, adjective, _ = clauses[source].split()
        assert noun.endswith("in")
        assert adjective.endswith("in")


def test_the_reason_comes_first(toy):
    joined = [pair for pair in toy(max_clauses=2).pairs("train") if " because " in pair.source]
    assert joined
    for pair in joined:
        effect, cause = pair.source.split(" because ")
        cause_first, effect_last = pair.target.split(" do ")
        assert ("some" in effect or " a " in f" {effect}") == ("iu" in effect_last.split())
        assert ("some" in cause or " a " in f" {cause}") == ("iu" in cause_first.split())


def test_the_documented_clauses_are_in_the_language(toy, clauses):
    documented = dict(re.findall(r'"([^"]+)" is "([^"]+)"', " ".join(toy().__doc__.split())))
    known = {source: target for source, target in documented.items() if source in clauses}
    assert len(known) >= 2
    assert known.items() <= clauses.items()


def test_pieces_enough_for_a_small_vocabulary_can_be_learned(toy, make, tmp_path):
    spec = make(DataSpec, corpus="toy_translation", tokenizer={"vocabulary_size": 500})
    data = prepare(spec, toy(), tmp_path / "data")
    assert data.source_tokenizer.vocabulary_size == 500
    assert data.counts["train/left_out"] == 0
