"""A data set of the Hugging Face hub, or a local folder in one of the hub's forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

import framework as fw

_ROWS_AT_ONCE: Final = 10_000


class Hub(fw.Corpus):
    """Sentence pairs from a data set of the Hugging Face hub, loaded with its library `datasets`.

        options: {dataset: wmt/wmt14, config: de-en, source_column: translation.en, target_column: translation.de}
        options: {folder: data/wmt14, dev: dev}

    WMT14 German-English has 4,508,785 pairs; its split `validation` is newstest2013, on which the paper's Table 3 is
    measured, and its split `test` is newstest2014: `test: test` adds it. The library is an extra, `pip install
    'transformer-ablations[hub]'`. It keeps what it fetches under `HF_HOME`, and reads it from disk some rows at a time;
    without a network, or with `HF_HUB_OFFLINE=1`, it takes what is there. A data set that needs code of its own to be
    read is refused.
    """

    name = "hub"

    class Options(fw.Options):
        dataset: Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")] | None = None
        """Its name on the hub, such as `wmt/wmt14` …"""
        folder: str | None = None
        """… or a local folder of Parquet, JSON Lines or CSV files, relative to the experiment file."""
        config: str | None = None
        """Which of its configurations: of WMT14 the pair of languages, such as `de-en`."""
        revision: str | None = None
        """The commit or tag on the hub, so that a data set that is changed there stays the same here."""
        train: str = "train"
        """The data set's name of this split; the hub's way to name a part of one, `train[:1%]`, holds too."""
        dev: str = "validation"
        test: str | None = None
        source_column: str = "source"
        """A field within a column is named by both, such as `translation.en`."""
        target_column: str = "target"

        @model_validator(mode="after")
        def _one_place(self) -> Hub.Options:
            if (self.dataset is None) == (self.folder is None):
                raise ValueError("give either dataset, a name on the hub, or folder, a local one")
            if self.folder is not None and self.revision is not None:
                raise ValueError("a local folder has no revision: leave it out, or name a dataset of the hub")
            return self

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        for name, text in {
            "train.jsonl": '{"translation": {"de": "ein Hund", "en": "a dog"}}\n',
            "validation.jsonl": '{"translation": {"de": "ein Haus", "en": "a house"}}\n',
        }.items():
            (folder / "data").mkdir(exist_ok=True)
            (folder / "data" / name).write_text(text, encoding="utf-8")
        return ({"folder": "data", "source_column": "translation.de", "target_column": "translation.en"},)

    def splits(self) -> tuple[str, ...]:
        return tuple(self._splits)

    def pairs(self, split: str) -> Iterator[fw.Pair]:
        options = self.options
        columns = (options.source_column, options.target_column)
        row = 0
        for rows in self._splits[split].select_columns(list(columns)).iter(_ROWS_AT_ONCE):
            for pair in map(fw.Pair, *(rows[column] for column in columns)):
                row += 1
                for column, value in zip(columns, pair, strict=True):
                    if not isinstance(value, str):
                        found = "nothing" if value is None else f"{value!r}, which is not text,"
                        raise fw.SpecError(
                            f"{self._named}: column {column!r} has {found} in row {row} of the split {split!r}: "
                            "choose another column, or a data set without such rows",
                            "data.corpus.options",
                        )
                yield pair

    @property
    def _named(self) -> str:
        return f"the data set {self.options.dataset or self.base_dir / str(self.options.folder)}"

    @cached_property
    def _splits(self) -> Mapping[str, Any]:
        """A `datasets.Dataset` for each split, its nested columns flat."""
        options = self.options
        names = {"train": options.train, "dev": options.dev, "test": options.test}
        found = {split: self._load(name).flatten() for split, name in names.items() if name is not None}
        for split, rows in found.items():
            for field in ("source_column", "target_column"):
                if (column := getattr(options, field)) not in rows.column_names:
                    there = ", ".join(map(repr, rows.column_names))
                    raise fw.SpecError(
                        f"{self._named} has no column {column!r} in its split {names[split]!r}; there are: {there}",
                        f"data.corpus.options.{field}",
                    )
        return found

    def _load(self, split: str) -> Any:
        options = self.options
        try:
            import datasets  # an extra, and seconds to import
        except ImportError as error:
            raise fw.MissingCorpus(
                f"{self._named} is read with a library that is not there ({error}): "
                "pip install 'transformer-ablations[hub]'",
                "data.corpus",
            ) from error
        place = options.dataset
        if place is None:
            folder = self.base_dir / str(options.folder)
            if not folder.is_dir():
                raise fw.MissingCorpus(f"the corpus folder {folder} does not exist", "data.corpus.options.folder")
            place = str(folder)
        try:
            return datasets.load_dataset(place, options.config, revision=options.revision, split=split)
        except ConnectionError as error:
            raise fw.MissingCorpus(
                f"{self._named} is neither at hand nor within reach ({error}): run once where the hub can be reached, "
                "unset HF_HUB_OFFLINE if it is set, or copy HF_HOME of a machine that has it",
                "data.corpus.options.dataset",
            ) from error
        except (FileNotFoundError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
            raise fw.SpecError(f"{self._named} cannot be loaded: {error}", "data.corpus.options") from error


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return Hub
