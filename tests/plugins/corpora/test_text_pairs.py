from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

from framework.data.prepare import prepare
from framework.errors import MissingCorpus, SpecError
from framework.spec import DataSpec

LINES = {
    "train.de": "ein Hund\nzwei Hunde\n",
    "train.en": "a dog\ntwo dogs\n",
    "dev.de": "ein Haus\n",
    "dev.en": "a house\n",
}
BY_LINES = {
    "train": {"source": "train.de", "target": "train.en"},
    "dev": {"source": "dev.de", "target": "dev.en"},
}


@pytest.fixture
def text_pairs(registry, tmp_path):
    plugin = registry.plugin("corpus", "text_pairs")
    return lambda **options: plugin(plugin.Options(**options), tmp_path)


@pytest.fixture
def line_files(tmp_path):
    for name, text in LINES.items():
        (tmp_path / name).write_bytes(text.encode())


def everything(corpus):
    return {split: list(corpus.pairs(split)) for split in corpus.splits()}


def test_one_table_holds_all_splits(text_pairs, tmp_path):
    rows = [("train", "a", "A"), ("dev", "b", "B"), ("train", "c", "C"), ("spare", "d", "D")]
    pl.DataFrame(rows, schema=["part", "es", "en"], orient="row").write_parquet(tmp_path / "t.parquet")
    corpus = text_pairs(path="t.parquet", split_column="part", source_column="es", target_column="en")
    assert everything(corpus) == {"train": [("a", "A"), ("c", "C")], "dev": [("b", "B")], "spare": [("d", "D")]}


def test_each_split_is_a_table(text_pairs, tmp_path):
    (tmp_path / "train.csv").write_text("de,en\na,A\n")
    (tmp_path / "dev.jsonl").write_text('{"de": "b", "en": "B"}\n')
    corpus = text_pairs(train="train.csv", dev="dev.jsonl", source_column="de", target_column="en")
    assert everything(corpus) == {"train": [("a", "A")], "dev": [("b", "B")]}


@pytest.mark.usefixtures("line_files")
def test_each_split_is_two_files_that_pair_up(text_pairs):
    corpus = text_pairs(**BY_LINES)
    assert corpus.splits() == ("train", "dev")
    assert everything(corpus)["train"] == [("ein Hund", "a dog"), ("zwei Hunde", "two dogs")]


@pytest.mark.usefixtures("line_files")
def test_a_copy_with_other_line_ends_is_the_same_corpus(text_pairs, tmp_path):
    """B18, B20"""
    fingerprint = text_pairs(**BY_LINES).fingerprint()
    for name, text in LINES.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert text_pairs(**BY_LINES).fingerprint() == fingerprint


@pytest.mark.usefixtures("line_files")
def test_a_copy_with_other_line_ends_has_the_same_ids(text_pairs, tmp_path, make):
    """B18"""
    spec = make(DataSpec, corpus={"name": "copy"}, tokenizer={"vocabulary_size": 260})
    prepare(spec, text_pairs(**BY_LINES), tmp_path / "unix")
    for name, text in LINES.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode())
    prepare(spec, text_pairs(**BY_LINES), tmp_path / "windows")
    unix, windows = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("unix", "windows")
    )
    assert unix == windows


@pytest.mark.usefixtures("line_files")
def test_the_same_text_in_another_format_is_the_same_corpus(text_pairs, tmp_path):
    rows = [
        (split, *pair)
        for split in ("train", "dev")
        for pair in zip(LINES[f"{split}.de"].splitlines(), LINES[f"{split}.en"].splitlines(), strict=True)
    ]
    pl.DataFrame(rows, schema=["split", "source", "target"], orient="row").write_parquet(tmp_path / "t.parquet")
    assert text_pairs(path="t.parquet").fingerprint() == text_pairs(**BY_LINES).fingerprint()


def test_a_file_that_is_not_there_is_a_missing_corpus(text_pairs):
    with pytest.raises(MissingCorpus, match=r"the corpus file .*absent\.parquet does not exist"):
        text_pairs(path="absent.parquet").splits()


@pytest.mark.usefixtures("line_files")
def test_files_that_do_not_pair_up_are_refused(text_pairs):
    splits = {**BY_LINES, "dev": {"source": "dev.de", "target": "train.en"}}
    with pytest.raises(SpecError, match=r"dev\.de has 1 lines, .*train\.en has 2"):
        everything(text_pairs(**splits))


@pytest.mark.usefixtures("line_files")
def test_files_of_a_list_are_read_one_after_the_other(text_pairs, tmp_path):
    (tmp_path / "t.tsv").write_text("source\ttarget\nein Haus\ta house\n")
    lines = {"source": ["train.de", "dev.de"], "target": ["train.en", "dev.en"]}
    corpus = text_pairs(train=lines, dev=["t.tsv", "t.tsv"])
    assert everything(corpus) == {
        "train": [("ein Hund", "a dog"), ("zwei Hunde", "two dogs"), ("ein Haus", "a house")],
        "dev": [("ein Haus", "a house")] * 2,
    }


@pytest.mark.usefixtures("line_files")
def test_each_file_of_a_list_must_pair_up_by_itself(text_pairs):
    lines = {"source": ["train.de", "dev.de"], "target": ["dev.en", "train.en"]}
    with pytest.raises(SpecError, match=r"train\.de has 2 lines, .*dev\.en has 1"):
        everything(text_pairs(train=lines, dev=BY_LINES["dev"]))


@pytest.mark.usefixtures("line_files")
def test_every_file_of_a_list_must_be_there(text_pairs):
    lines = {"source": ["train.de", "absent.de"], "target": ["train.en", "absent.en"]}
    with pytest.raises(MissingCorpus, match=r"the corpus file .*absent\.de does not exist"):
        text_pairs(train=lines, dev=BY_LINES["dev"]).splits()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there are no files for train and dev: give path, one table with all splits, or files for train"),
        ({"train": "t.csv"}, "there are no files for dev: give path"),
        ({"path": "t.csv", "test": "u.csv"}, "give either path, one table with all splits, or files for train"),
        ({"train": {"source": "t.de"}, "dev": "d.csv"}, "name either a table, or a source and a target file"),
        ({"train": {"table": "t.csv", "source": "t.de"}, "dev": "d.csv"}, "name either a table, or a source and a"),
        (
            {"train": {"source": ["a.de", "b.de"], "target": "a.en"}, "dev": "d.csv"},
            "2 source files cannot pair up with 1 target files: name as many of each, in the same order",
        ),
        ({"train": [], "dev": "d.csv"}, "name either a table, or a source and a target file that pair up line by line"),
        ({"train": {}, "dev": "d.csv"}, "name either a table, or a source and a target file that pair up line by line"),
    ],
)
def test_neither_or_both_ways_to_name_files_are_refused(text_pairs, options, message):
    with pytest.raises(ValidationError, match=message):
        text_pairs(**options)


def test_each_sample_can_be_read(registry, tmp_path):
    plugin = registry.plugin("corpus", "text_pairs")
    read = [everything(plugin(plugin.Options(**options), tmp_path)) for options in plugin.samples(tmp_path)]
    assert read == [{"train": [("ein Hund", "a dog")], "dev": [("ein Haus", "a house")]}] * 3
