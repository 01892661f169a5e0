from __future__ import annotations

import multiprocessing
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import torch

from framework.contracts import Corpus, Pair, TextCorpus
from framework.data import prepare as preparing
from framework.data.prepare import prepare
from framework.data.prepared import PreparedData
from framework.data.tokenizer import Tokenizer
from framework.errors import SpecError
from framework.spec import Component, DataSpec, TokenizerSpec

ANIMALS = ["dog", "cat", "horse", "bird"]
TRAIN = [
    Pair(f"the {first} bites the {second}", f"{first}a {second}on mord") for first in ANIMALS for second in ANIMALS
]
DEV = [Pair("the dog sees the bird", "doga birdon vid"), Pair("", ""), Pair("the cat", "")]


class Given(Corpus):
    """Pairs that a test writes down."""

    def __init__(self, splits: Mapping[str, Sequence[Pair]]) -> None:
        super().__init__(Corpus.Options(), Path())
        self._splits = splits

    def splits(self):
        return tuple(self._splits)

    def pairs(self, split):
        return self._splits[split]


class NeverRead(Given):
    """A corpus that must not be asked for its text again."""

    def pairs(self, split):
        raise AssertionError


def spec(vocabulary_size=280, shared=True, max_pieces=64):
    return DataSpec.model_construct(
        corpus=Component.model_construct(name="given", options=Corpus.Options()),
        tokenizer=TokenizerSpec(vocabulary_size=vocabulary_size, shared=shared),
        max_pieces=max_pieces,
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_ids_and_texts_come_back_in_the_order_of_the_corpus(tmp_path):
    data = prepare(spec(), Given({"train": TRAIN, "dev": DEV}), tmp_path / "data")
    for name, pairs in (("train", TRAIN), ("dev", DEV)):
        split = data.split(name)
        everything = torch.arange(len(split))
        sources = [data.source_tokenizer.decode(ids.tolist()) for ids in split.sources(everything)]
        targets = [data.target_tokenizer.decode(ids.tolist()) for ids in split.targets(everything)]
        assert list(map(Pair, sources, targets)) == pairs
        assert split.source_lengths.tolist() == [len(ids) for ids in split.sources(everything)]
        assert split.target_lengths.tolist() == [len(ids) for ids in split.targets(everything)]
    assert split.source_lengths.dtype == split.sources(torch.tensor([0]))[0].dtype == torch.int64
    assert list(map(Pair, split.source_texts, split.target_texts)) == DEV


def test_how_many_pairs_are_encoded_at_once_changes_nothing(tmp_path, monkeypatch):
    corpus = Given({"train": [TRAIN[0], Pair("dog " * 70, "doga"), *TRAIN], "dev": DEV})
    whole = prepare(spec(), corpus, tmp_path / "whole")
    monkeypatch.setattr(preparing, "_PAIRS_AT_ONCE", 3)
    parts = prepare(spec(), corpus, tmp_path / "parts")
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert parts.counts == whole.counts == {"train/pairs": 17, "train/left_out": 1, "dev/pairs": 3, "dev/left_out": 0}


class OneByOne(Given):
    """A corpus that tells how many of its pairs are in memory at a time."""

    def __init__(self, splits):
        super().__init__(splits)
        self.alive = self.most = 0

    def pairs(self, split):
        for pair in super().pairs(split):
            yield Pair(self._counted(pair.source), self._counted(pair.target))

    def _counted(self, text):
        counted = Text(text)
        self.alive += 1
        self.most = max(self.most, self.alive)
        weakref.finalize(counted, self._gone)
        return counted

    def _gone(self):
        self.alive -= 1


class Text(str):
    """Text that a weak reference can watch."""

    __slots__ = ("__weakref__",)


def test_training_text_is_never_in_memory_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(preparing, "_PAIRS_AT_ONCE", 10)
    corpus = OneByOne({"train": TRAIN * 100, "dev": DEV})
    prepare(spec(), corpus, tmp_path / "data")
    assert (
        corpus.most < 4 * 10 + 10
    )  # two batches of pairs, of two sides each, while the next takes the last one's place
    assert not list((tmp_path / "data").glob("train.parquet"))


def test_references_are_the_text_as_it_was_read(tmp_path):
    """B22: a tokenizer that normalises would score other words."""
    raw = Pair("\ufe30 ﬁ e\u0301", "  \uff21  zwei ")
    dev = prepare(spec(), Given({"train": TRAIN, "dev": [raw]}), tmp_path / "data").split("dev")
    assert (dev.source_texts, dev.target_texts) == ([raw.source], [raw.target])


def test_pairs_without_text_on_a_side_are_kept(tmp_path):
    dev = prepare(spec(), Given({"train": TRAIN, "dev": DEV}), tmp_path / "data").split("dev")
    assert dev.source_lengths.tolist()[1] == dev.target_lengths.tolist()[1] == dev.target_lengths.tolist()[2] == 0
    assert dev.sources(torch.tensor([1]))[0].shape == (0,)


@pytest.mark.parametrize("long", [Pair("dog " * 70, "doga"), Pair("dog", "doga " * 70)])
def test_pairs_with_a_long_side_are_left_out_and_counted(tmp_path, long):
    data = prepare(spec(), Given({"train": [*TRAIN, long], "dev": [long, *DEV]}), tmp_path / "data")
    assert data.counts == {"train/pairs": 16, "train/left_out": 1, "dev/pairs": 3, "dev/left_out": 1}
    assert data.split("dev").source_texts == [pair.source for pair in DEV]
    assert int(data.split("train").source_lengths.max()) <= 64


def test_the_vocabulary_is_learned_on_the_training_split_alone(tmp_path):
    foreign = [Pair("zyxwvutsrq " * 5, "zyxwvutsrq " * 5)] * 50
    with_little = prepare(spec(), Given({"train": TRAIN, "dev": DEV}), tmp_path / "a")
    with_much = prepare(spec(), Given({"train": TRAIN, "dev": DEV, "test": foreign}), tmp_path / "b")
    assert with_little.source_tokenizer.to_json() == with_much.source_tokenizer.to_json()


@pytest.mark.parametrize(("most", "step"), [(16, 1), (15, 2), (8, 2), (7, 3), (1, 16)])
def test_the_vocabulary_of_much_text_is_learned_on_evenly_spaced_pairs(tmp_path, monkeypatch, most, step):
    monkeypatch.setattr(preparing, "LEARNED_FROM", most)
    longer = [Pair(f"{pair.source} again and again", pair.target) for pair in TRAIN]
    data = prepare(spec(262), Given({"train": longer, "dev": DEV}), tmp_path / "data")
    learned = Tokenizer.learn([text for pair in longer[::step] for text in pair], TokenizerSpec(vocabulary_size=262))
    assert data.source_tokenizer.to_json() == learned.to_json()


def test_a_shared_vocabulary_is_one_and_others_are_two(tmp_path):
    shared = prepare(spec(), Given({"train": TRAIN, "dev": DEV}), tmp_path / "shared")
    assert shared.source_tokenizer is shared.target_tokenizer
    apart = prepare(spec(270, shared=False), Given({"train": TRAIN, "dev": DEV}), tmp_path / "apart")
    assert apart.source_tokenizer.to_json() != apart.target_tokenizer.to_json()
    assert apart.source_tokenizer.vocabulary_size == apart.target_tokenizer.vocabulary_size == 270


def test_what_is_there_is_opened_and_not_written_again(tmp_path):
    folder = tmp_path / "data"
    prepare(spec(), Given({"train": TRAIN, "dev": DEV}), folder)
    before = contents(folder)
    again = prepare(spec(), NeverRead({"train": [], "dev": []}), folder)
    assert again.split("dev").source_texts == PreparedData.open(folder).split("dev").source_texts
    assert contents(folder) == before


def test_a_failure_leaves_nothing_behind(tmp_path):
    with pytest.raises(SpecError):
        prepare(spec(vocabulary_size=8000), Given({"train": TRAIN, "dev": DEV}), tmp_path / "data")
    assert list(tmp_path.iterdir()) == []


def _prepare_many(folder, barrier):
    for number in range(5):
        barrier.wait()
        prepare(spec(), Given({"train": TRAIN, "dev": DEV}), folder / str(number))


def test_two_processes_that_prepare_at_once_both_end_well(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    processes = [context.Process(target=_prepare_many, args=(tmp_path, barrier)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2", "3", "4"]  # and nothing unfinished


@pytest.mark.parametrize("missing", ["train", "dev"])
def test_a_corpus_without_a_needed_split_is_refused(tmp_path, missing):
    splits = {"train": TRAIN, "dev": DEV, "test": DEV}
    del splits[missing]
    with pytest.raises(
        SpecError, match=rf"data\.corpus: the corpus has no split '{missing}', only \w+, test: train is"
    ):
        prepare(spec(), Given(splits), tmp_path / "data")


def test_a_split_of_which_nothing_is_left_is_refused(tmp_path):
    with pytest.raises(
        SpecError, match=r"data\.max_pieces: none of the 16 pairs of the split 'train' has 2 pieces or fewer on both"
    ):
        prepare(spec(max_pieces=2), Given({"train": TRAIN, "dev": DEV}), tmp_path / "data")


def test_an_unknown_split_names_those_there_are(tmp_path):
    data = prepare(spec(), Given({"train": TRAIN, "dev": DEV}), tmp_path / "data")
    with pytest.raises(SpecError, match=r"no split 'test'; there are: train, dev"):
        data.split("test")
    with pytest.raises(SpecError, match=r"no split 'tran'; did you mean 'train'\?"):
        data.split("tran")


class Texts(TextCorpus):
    """Texts that a test writes down."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        super().__init__(Corpus.Options(), Path())
        self._texts = texts

    def splits(self):
        return tuple(self._texts)

    def texts(self, split):
        return self._texts[split]


def test_long_texts_are_cut_and_none_of_their_pieces_is_lost(tmp_path):
    texts = {"train": [pair.source for pair in TRAIN], "dev": ["the dog sees the bird and the cat", "a", ""]}
    data = prepare(spec(max_pieces=5), Texts(texts), tmp_path / "data")
    for name, whole in texts.items():
        split = data.split(name)
        everything = torch.arange(len(split))
        pieces = [data.target_tokenizer.encode(text) for text in whole]
        parts = split.targets(everything)
        assert torch.cat(parts).tolist() == [piece for text in pieces for piece in text]
        assert int(split.target_lengths.max()) == 5
        assert not split.source_lengths.any()
        assert data.counts[f"{name}/texts"] == len(whole)
        assert data.counts[f"{name}/parts"] == len(split) >= len(whole)
    assert len(data.split("dev")) == -(-len(data.target_tokenizer.encode(texts["dev"][0])) // 5) + 2


def test_the_splits_of_texts_are_found_by_name(tmp_path):
    data = prepare(spec(), Texts({"train": [pair.source for pair in TRAIN], "dev": ["a"]}), tmp_path / "data")
    with pytest.raises(SpecError, match=r"no split 'tset'.*there are: train, dev"):
        data.split("tset")


@pytest.mark.parametrize("corpus", [Texts({"train": ["a"], "dev": []}), Given({"train": TRAIN, "dev": []})])
def test_an_empty_split_is_refused_by_name(tmp_path, corpus):
    with pytest.raises(SpecError, match=r"^data\.corpus: the split 'dev' is empty: give it text, or leave it out$"):
        prepare(spec(), corpus, tmp_path / "data")
    assert not (tmp_path / "data").exists()
