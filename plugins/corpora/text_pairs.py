"""A corpus of one's own: tables, or plain-text files that pair up line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

import framework as fw


class SplitFiles(fw.Options):
    """Where the pairs of a split are; a path alone stands for a table."""

    table: str | None = None
    """A `.parquet`, `.csv`, `.tsv` or `.jsonl` file."""
    source: str | None = None
    """A plain-text file, one sentence per line …"""
    target: str | None = None
    """… and the file of its translations, line by line."""

    @model_validator(mode="after")
    def _one_form(self) -> SplitFiles:
        sides = (self.source is not None) + (self.target is not None)
        if sides != (0 if self.table is not None else 2):
            raise ValueError("name either a table, or a source and a target file that pair up line by line")
        return self

    def read(self, base_dir: Path, columns: Mapping[str, str]) -> list[fw.Pair]:
        if self.table is not None:
            return fw.read_pairs(base_dir / self.table, **columns)
        assert self.source is not None
        assert self.target is not None
        return fw.read_line_pairs(base_dir / self.source, base_dir / self.target)


def _table(value: Any) -> Any:
    return {"table": value} if isinstance(value, str) else value


Files = Annotated[SplitFiles, BeforeValidator(_table, json_schema_input_type=str | SplitFiles)]


class TextPairs(fw.Corpus):
    """Sentence pairs from files of one's own: one table for all splits, or files for each.

        options: {path: verses.parquet, source_column: en, target_column: es}
        options: {train: train.tsv, dev: dev.tsv}
        options: {train: {source: train.de, target: train.en}, dev: {source: dev.de, target: dev.en}}

    Paths are relative to the experiment file. A table's format is told by its ending, `.parquet`, `.csv`, `.tsv`
    or `.jsonl`; text formats may be compressed (`.gz`) and are UTF-8.
    """

    name = "text_pairs"

    class Options(fw.FilesBySplit[Files]):
        source_column: str = "source"
        target_column: str = "target"

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        table = "split\tsource\ttarget\ntrain\tein Hund\ta dog\ndev\tein Haus\ta house\n"
        files = {
            "all.tsv": table,
            "train.de": "ein Hund\n",
            "train.en": "a dog\n",
            "dev.csv": "de,en\nein Haus,a house\n",
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        lines = {"source": "train.de", "target": "train.en"}
        return ({"path": "all.tsv"}, {"train": lines, "dev": "dev.csv", "source_column": "de", "target_column": "en"})

    def splits(self) -> tuple[str, ...]:
        return tuple(self._pairs)

    def pairs(self, split: str) -> Iterable[fw.Pair]:
        return self._pairs[split]

    @cached_property
    def _pairs(self) -> dict[str, list[fw.Pair]]:
        options = self.options
        columns = {"source": options.source_column, "target": options.target_column}
        if options.path is not None:
            return fw.read_splits(self.base_dir / options.path, split=options.split_column, **columns)
        return {name: files.read(self.base_dir, columns) for name, files in options.by_split().items()}


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return TextPairs
