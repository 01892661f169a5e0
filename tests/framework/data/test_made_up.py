from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

import framework as fw
from framework.data.made_up import MADE_UP_WORDS, Dice, MadeUpCorpus
from framework.data.prepare import prepare
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec import DataSpec, TokenizerSpec

TASKS = ("copy", "reverse", "recall")
GOLDEN = json.loads((Path(__file__).parents[2] / "golden/data.json").read_bytes())


class Numbers(MadeUpCorpus):
    """Numbers below a bound, and their squares."""

    name = "numbers"

    class Options(MadeUpCorpus.Options):
        bound: int

    options: Options

    def draw(self, dice):
        number = dice.below(self.options.bound)
        return fw.Pair(str(number), str(number**2))


class Repeated(Numbers):
    name = "repeated"
    repeats = True


def numbers(kind=Numbers, **options):
    return kind(kind.Options(**options), Path())


def everything(corpus):
    return {split: list(corpus.pairs(split)) for split in corpus.splits()}


@pytest.fixture(scope="module")
def task(registry):
    def build(name, **options):
        plugin = registry.plugin("corpus", name)
        return plugin(plugin.Options(**options), Path())

    return build


def test_splits_have_the_sizes_asked_for():
    splits = everything(numbers(bound=10_000, train_pairs=50, dev_pairs=7, test_pairs=9))
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 50, "dev": 7, "test": 9}


def test_no_pair_is_there_twice_in_any_split():
    splits = everything(numbers(bound=2_000, train_pairs=1_000, dev_pairs=150, test_pairs=150))
    pairs = [pair for split in splits.values() for pair in split]
    assert len(set(pairs)) == len(pairs) == 1_300


def test_where_pairs_may_repeat_none_of_dev_or_test_is_in_train():
    splits = everything(numbers(Repeated, bound=50, train_pairs=500))
    assert len(set(splits["train"])) < 50
    train, dev, test = (set(pairs) for pairs in splits.values())
    assert not train & dev
    assert not train & test
    assert not dev & test


def test_a_longer_split_begins_with_the_shorter():
    shorter, longer = (everything(numbers(bound=10_000, train_pairs=pairs, dev_pairs=pairs)) for pairs in (50, 90))
    assert longer["train"][:50] == shorter["train"]
    assert longer["dev"][:50] == shorter["dev"]
    assert longer["test"] == shorter["test"]


def test_another_seed_gives_other_text():
    assert everything(numbers(bound=10_000)) != everything(numbers(bound=10_000, seed=2))


def test_all_that_exists_can_be_asked_for_and_no_more():
    sizes = []
    for split in ("train", "dev", "test"):
        with pytest.raises(SpecError) as refused:
            list(numbers(bound=60, **{f"{split}_pairs": 61}).pairs(split))
        found = re.fullmatch(
            rf"data\.corpus\.options\.{split}_pairs: 61 different pairs were asked for, and numbers has (\d+) "
            rf"for the split {split}: lower it to that, or give the corpus more to draw from",
            str(refused.value),
        )
        assert found
        sizes.append(int(found[1]))
        assert len(list(numbers(bound=60, **{f"{split}_pairs": sizes[-1]}).pairs(split))) == sizes[-1]
    assert sum(sizes) == 60


def test_dice_give_the_same_numbers_in_every_version_of_python():
    dice = Dice("1/train")
    drawn = [dice.below(100), dice.between(5, 7), dice.pick("abcdef"), dice.chance(0.5), dice.sample("abcdef", 4)]
    assert drawn == GOLDEN["dice"]


def test_dice_are_fair():
    dice, draws = Dice("fair"), 6_000
    for counts in (
        Counter(dice.below(6) for _ in range(draws)),
        Counter(dice.between(3, 8) for _ in range(draws)),
        Counter(dice.pick("abcdef") for _ in range(draws)),
        Counter("".join(dice.sample("abc", 2)) for _ in range(draws)),
    ):
        assert len(counts) == 6
        assert all(abs(count - draws / 6) < 150 for count in counts.values())  # sd 29
    assert abs(sum(dice.chance(0.25) for _ in range(draws)) - draws / 4) < 170


def test_a_sample_has_nothing_twice():
    assert sorted(Dice("s").sample(range(50), 50)) == list(range(50))


@pytest.mark.parametrize("number", [1, 2, 5, 6, 20, 33, 100])
def test_the_vocabulary_that_is_documented_makes_each_word_one_piece_and_is_the_largest(number):
    words = MADE_UP_WORDS[:number]
    size = 259 + number + math.ceil(number / 5)
    tokenizer = Tokenizer.learn([" ".join(words)] * 2, TokenizerSpec(vocabulary_size=size))
    assert all(len(tokenizer.encode(word)) == 1 for word in words)
    with pytest.raises(SpecError, match=rf"{size + 1} pieces were asked for, and the training text yields {size}:"):
        Tokenizer.learn([" ".join(words)] * 2, TokenizerSpec(vocabulary_size=size + 1))


@pytest.mark.parametrize(("name", "vocabulary_size"), [("copy", 283), ("reverse", 283), ("recall", 307)])
def test_the_vocabulary_that_a_task_documents_makes_each_word_one_piece(task, make, tmp_path, name, vocabulary_size):
    corpus = task(name, train_pairs=500)
    assert str(vocabulary_size) in " ".join((type(corpus).__doc__ or "").split())
    tokenizer = {"vocabulary_size": vocabulary_size}
    data = prepare(make(DataSpec, corpus=name, tokenizer=tokenizer), corpus, tmp_path / "data")
    for split in corpus.splits():
        prepared, pairs = data.split(split), list(corpus.pairs(split))
        assert prepared.source_lengths.tolist() == [len(pair.source.split()) for pair in pairs]
        assert prepared.target_lengths.tolist() == [len(pair.target.split()) for pair in pairs]


@pytest.mark.parametrize("name", TASKS)
def test_a_tasks_text_is_the_same_on_every_machine(task, name):
    assert task(name, train_pairs=100, dev_pairs=10, test_pairs=10).fingerprint() == GOLDEN[name]


@pytest.mark.parametrize("name", TASKS)
def test_a_source_has_one_answer_and_is_in_one_split(task, name):
    splits = everything(task(name))
    assert {split: len(pairs) for split, pairs in splits.items()} == {"train": 5_000, "dev": 200, "test": 200}
    assert len({pair.source for pairs in splits.values() for pair in pairs}) == 5_400


@pytest.mark.parametrize("name", TASKS)
def test_each_sample_of_a_task_can_be_drawn(registry, tmp_path, name):
    plugin = registry.plugin("corpus", name)
    assert all(everything(plugin(plugin.Options(**options), tmp_path)) for options in plugin.samples(tmp_path))
