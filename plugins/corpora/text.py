"""A corpus of one's own plain text: files of lines or paragraphs, or a column of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import framework as fw


class Text(fw.TextCorpus):
    """Plain text from files of one's own, for what learns from text alone: files by split, or one table for all.

        options: {train: train.txt, dev: dev.txt}
        options: {train: train.txt, dev: dev.txt, unit: paragraph}
        options: {path: stories.parquet, column: story}

    Paths are relative to the experiment file. A table is told by its ending, `.parquet`, `.csv`, `.tsv` or `.jsonl`;
    any other file is plain text, of which a text is each line that is not blank, each paragraph between blank lines
    (its line ends kept), or the whole file. Text formats may be compressed (`.gz`) and are UTF-8.
    """

    name = "text"

    class Options(fw.FilesBySplit[str]):
        column: str = "text"
        """Of a table."""
        unit: fw.TextUnit = "line"
        """What is one text in a plain-text file."""

    options: Options

    @classmethod
    def samples(cls, folder: Path) -> Iterable[Mapping[str, Any]]:
        verses = "a dog barked\nat a cat\n\nthe cat slept\n"
        for name, text in {
            "train.txt": verses,
            "dev.txt": "a house\n",
            "all.tsv": "split\ttext\ntrain\ta dog\ndev\ta house\n",
        }.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = {"train": "train.txt", "dev": "dev.txt"}
        return (files, {**files, "unit": "paragraph"}, {**files, "unit": "file"}, {"path": "all.tsv"})

    def splits(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def texts(self, split: str) -> Iterable[str]:
        return self._texts[split]

    @cached_property
    def _texts(self) -> Mapping[str, Iterable[str]]:
        options = self.options
        if options.path is not None:
            return fw.read_text_splits(self.base_dir / options.path, column=options.column, split=options.split_column)
        return {
            name: fw.read_texts(self.base_dir / path, column=options.column, unit=options.unit)
            for name, path in options.by_split().items()
        }


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return Text
