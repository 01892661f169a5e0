"""Local folders go the whole road that a data set of the hub goes, but for the download; no test has a network."""

from __future__ import annotations

import builtins

import polars as pl
import pytest
from pydantic import ValidationError

from framework.errors import MissingCorpus, SpecError

COLUMNS = {"source_column": "translation.en", "target_column": "translation.de"}
SPLITS = {
    "train": [("a dog", "ein Hund"), ("two dogs", "zwei Hunde"), ("a\u2028b", "")],
    "validation": [("a house", "ein Haus")],
    "test": [("a cat", "eine Katze")],
}


@pytest.fixture
def hub(registry, tmp_path):
    plugin = registry.plugin("corpus", "hub")
    return lambda **options: plugin(plugin.Options(**options), tmp_path)


@pytest.fixture
def wmt(tmp_path):
    """A folder as WMT14 lies on the hub: Parquet files by split, one column with both sides."""
    folder = tmp_path / "wmt14"
    folder.mkdir()
    for name, pairs in SPLITS.items():
        rows = [{"en": en, "de": de} for en, de in pairs]
        pl.DataFrame({"translation": rows}).write_parquet(folder / f"{name}-00000-of-00001.parquet")
    return "wmt14"


def everything(corpus):
    return {split: list(corpus.pairs(split)) for split in corpus.splits()}


def test_a_column_with_both_sides_is_read_by_its_fields(hub, wmt):
    corpus = hub(folder=wmt, **COLUMNS)
    assert everything(corpus) == {"train": SPLITS["train"], "dev": SPLITS["validation"]}


def test_sides_and_splits_are_chosen_by_name(hub, wmt):
    columns = {"source_column": "translation.de", "target_column": "translation.en"}
    found = everything(hub(folder=wmt, train="train[:1]", dev="test", test="validation", **columns))
    assert found == {
        "train": [("ein Hund", "a dog")],
        "dev": [("eine Katze", "a cat")],
        "test": [("ein Haus", "a house")],
    }


def test_two_columns_are_a_source_and_a_target(hub, tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("train", "validation"):
        (tmp_path / "data" / f"{name}.csv").write_text("source,target,note\na,A,1\nb,B,2\n")
    assert everything(hub(folder="data")) == {"train": [("a", "A"), ("b", "B")], "dev": [("a", "A"), ("b", "B")]}


def test_a_configuration_is_chosen_by_name(hub, wmt, tmp_path):
    card = "---\nconfigs:\n"
    for config, split in (("small", "validation"), ("other", "test")):
        card += f"- config_name: {config}\n  data_files:\n"
        card += "".join(f"  - {{split: {name}, path: '{split}-*'}}\n" for name in ("train", "validation"))
    (tmp_path / wmt / "README.md").write_text(card + "---\n")
    assert everything(hub(folder=wmt, config="small", **COLUMNS))["train"] == SPLITS["validation"]
    assert everything(hub(folder=wmt, config="other", **COLUMNS))["train"] == SPLITS["test"]


def test_the_same_text_in_plain_files_is_the_same_corpus(hub, wmt, registry, tmp_path):
    for name, pairs in SPLITS.items():
        for at, side in enumerate(("en", "de")):
            (tmp_path / f"{name}.{side}").write_text("".join(f"{pair[at]}\n" for pair in pairs), encoding="utf-8")
    files = {
        split: {"source": f"{name}.en", "target": f"{name}.de"}
        for split, name in (("train", "train"), ("dev", "validation"), ("test", "test"))
    }
    plugin = registry.plugin("corpus", "text_pairs")
    plain = plugin(plugin.Options(**files), tmp_path)
    assert hub(folder=wmt, test="test", **COLUMNS).fingerprint() == plain.fingerprint()


def test_a_data_set_out_of_reach_says_what_to_do(hub):
    with pytest.raises(
        MissingCorpus,
        match=r"^data\.corpus\.options\.dataset: the data set wmt/wmt14 is neither at hand nor within reach "
        r"\(Couldn't reach .*\): run once where the hub can be reached, unset HF_HUB_OFFLINE if it is set, or copy",
    ):
        hub(dataset="wmt/wmt14", config="de-en", **COLUMNS).splits()


def test_without_the_library_the_extra_is_named(hub, wmt, monkeypatch):
    imported = builtins.__import__

    def import_(name, *rest, **more):
        if name == "datasets":
            raise ImportError("No module named 'datasets'")
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", import_)
    with pytest.raises(
        MissingCorpus,
        match=r"^data\.corpus: the data set .*wmt14 is read with a library that is not there \(No module named "
        r"'datasets'\): pip install 'transformer-ablations\[hub\]'$",
    ):
        hub(folder=wmt, **COLUMNS).splits()


def test_a_folder_that_is_not_there_is_a_missing_corpus(hub):
    with pytest.raises(
        MissingCorpus, match=r"^data\.corpus\.options\.folder: the corpus folder .*absent does not exist$"
    ):
        hub(folder="absent").splits()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dev": "dev"}, r"options: the data set .*wmt14 cannot be loaded: Unknown split \"dev\"\. Should be one of"),
        ({"config": "de"}, r"options: the data set .*wmt14 cannot be loaded: BuilderConfig 'de' not found\. Available"),
        (
            {"source_column": "en"},
            r"options\.source_column: the data set .*wmt14 has no column 'en' in its split 'train'; there are: "
            r"'translation\.",
        ),
        (
            {"target_column": "de"},
            r"options\.target_column: the data set .*wmt14 has no column 'de' in its split 'train'; there are: ",
        ),
    ],
)
def test_what_a_data_set_lacks_is_named_with_what_it_has(hub, wmt, options, message):
    with pytest.raises(SpecError, match=rf"^data\.corpus\.{message}"):
        hub(folder=wmt, **{**COLUMNS, **options}).splits()


@pytest.mark.parametrize(
    ("values", "found"),
    [(["a", None], "nothing in row 2"), ([1, 2], "1, which is not text, in row 1")],
)
def test_a_row_without_text_is_named(hub, tmp_path, values, found):
    (tmp_path / "data").mkdir()
    for name in ("train", "validation"):
        pl.DataFrame({"source": values, "target": ["A", "B"]}).write_parquet(tmp_path / "data" / f"{name}.parquet")
    with pytest.raises(SpecError, match=rf"column 'source' has {found} of the split 'train': choose another column"):
        everything(hub(folder="data"))


def test_code_of_a_data_sets_own_is_not_run(hub, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data.py").write_text("raise SystemExit('this ran')\n")
    with pytest.raises(
        SpecError, match=r"cannot be loaded: Dataset scripts are no longer supported, but found data\.py"
    ):
        hub(folder="data").splits()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either dataset, a name on the hub, or folder, a local one"),
        ({"dataset": "a/b", "folder": "c"}, "give either dataset, a name on the hub, or folder, a local one"),
        ({"folder": "c", "revision": "main"}, "a local folder has no revision: leave it out, or name a dataset of"),
        ({"dataset": "data/wmt/14"}, "String should match pattern"),
    ],
)
def test_options_that_name_no_one_place_are_refused(hub, options, message):
    with pytest.raises(ValidationError, match=message):
        hub(**options)
