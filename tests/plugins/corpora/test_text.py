from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

import framework as fw
from framework.errors import MissingCorpus, SpecError

FILES = {"train": "train.txt", "dev": "dev.txt"}


@pytest.fixture
def text(registry, tmp_path):
    plugin = registry.plugin("corpus", "text")
    return lambda **options: plugin(plugin.Options(**options), tmp_path)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train.txt").write_text("a dog\nbarked\n\na cat\n")
    (tmp_path / "dev.txt").write_text("a house\n")


def everything(corpus):
    return {split: list(corpus.texts(split)) for split in corpus.splits()}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("unit", "train"),
    [
        ("line", ["a dog", "barked", "a cat"]),
        ("paragraph", ["a dog\nbarked", "a cat"]),
        ("file", ["a dog\nbarked\n\na cat"]),
    ],
)
def test_each_split_is_a_file_of_lines_paragraphs_or_one_text(text, unit, train):
    assert everything(text(**FILES, unit=unit)) == {"train": train, "dev": ["a house"]}


@pytest.mark.usefixtures("files")
def test_a_line_is_a_text_unless_the_experiment_says_otherwise(text):
    assert everything(text(**FILES)) == everything(text(**FILES, unit="line"))


@pytest.mark.usefixtures("files")
def test_a_text_follows_nothing(text):
    corpus = text(**FILES)
    assert isinstance(corpus, fw.TextCorpus)
    assert list(corpus.pairs("dev")) == [("", "a house")]


def test_one_table_holds_all_splits(text, tmp_path):
    rows = [("train", "a"), ("dev", "b"), ("train", "c"), ("spare", "d")]
    pl.DataFrame(rows, schema=["part", "story"], orient="row").write_parquet(tmp_path / "t.parquet")
    corpus = text(path="t.parquet", split_column="part", column="story")
    assert everything(corpus) == {"train": ["a", "c"], "dev": ["b"], "spare": ["d"]}


@pytest.mark.usefixtures("files")
def test_a_split_may_be_a_table_of_its_own(text, tmp_path):
    (tmp_path / "train.jsonl").write_text('{"story": "a\\n\\nb"}\n')
    corpus = text(train="train.jsonl", dev="dev.txt", test="dev.txt", column="story")
    assert everything(corpus) == {"train": ["a\n\nb"], "dev": ["a house"], "test": ["a house"]}


@pytest.mark.usefixtures("files")
def test_the_same_text_in_another_format_is_the_same_corpus(text, tmp_path):
    (tmp_path / "t.csv").write_text("split,text\ntrain,a dog\ntrain,barked\ntrain,a cat\ndev,a house\n")
    assert text(path="t.csv").fingerprint() == text(**FILES).fingerprint()
    assert text(**FILES, unit="paragraph").fingerprint() != text(**FILES).fingerprint()


def test_a_file_that_is_not_there_is_a_missing_corpus(text):
    with pytest.raises(MissingCorpus, match=r"the corpus file .*train\.txt does not exist"):
        text(**FILES).splits()


@pytest.mark.usefixtures("files")
def test_a_text_file_for_all_splits_is_no_table(text):
    with pytest.raises(
        SpecError, match=r"train\.txt is no table: .* plain text comes in a file for each split, or two"
    ):
        text(path="train.txt").splits()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there are no files for train and dev: give path, one table with all splits, or files for train"),
        ({"train": "t.txt"}, "there are no files for dev: give path"),
        ({"path": "t.csv", "dev": "d.txt"}, "give either path, one table with all splits, or files for train"),
        ({**FILES, "unit": "page"}, "Input should be 'line', 'paragraph' or 'file'"),
    ],
)
def test_what_names_no_files_or_texts_is_refused(text, options, message):
    with pytest.raises(ValidationError, match=message):
        text(**options)


def test_each_sample_can_be_read(registry, tmp_path):
    plugin = registry.plugin("corpus", "text")
    samples = list(plugin.samples(tmp_path))
    assert [len(list(plugin(plugin.Options(**options), tmp_path).texts("train"))) for options in samples] == [
        3,
        2,
        1,
        1,
    ]
