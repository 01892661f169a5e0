"""A corpus of one's own: tables, or plain-text files that pair up line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

import framework as fw


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Paths = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]
"""One file, or several that are read one after the other."""


class SplitFiles(fw.Options):
    """Where the pairs of a split are; paths alone stand for tables."""

    table: Paths = ()
    """`.parquet`, `.csv`, `.tsv` or `.jsonl` files."""
    source: Paths = ()
    """Plain-text files, one sentence per line …"""
    target: Paths = ()
    """… and the files of their translations, line by line."""

    @model_validator(mode="after")
    def _one_form(self) -> SplitFiles:
        given = (bool(self.table), bool(self.source), bool(self.target))
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError("name either a table, or a source and a target file that pair up line by line")
        if len(self.source) != len(self.target):
            raise ValueError(
                f"{len(self.source)} source files cannot pair up with {len(self.target)} target files: "
                "name as many of each, in the same order"
            )
        return self

    def read(self, base_dir: Path, columns: Mapping[str, str]) -> Sequence[Iterable[fw.Pair]]:
        """Give the pairs of each file."""
        return [
            *(fw.read_pairs(base_dir / table, **columns) for table in self.table),
            *map(fw.read_line_pairs, *([base_dir / path for path in side] for side in (self.source, self.target))),
        ]


def _tables(value: Any) -> Any:
    return {"table": value} if isinstance(value, (str, list, tuple)) else value


Files = Annotated[SplitFiles, BeforeValidator(_tables, json_schema_input_type=Paths | SplitFiles)]


class TextPairs(fw.Corpus):
    """Sentence pairs from files of one's own: one table for all splits, or files for each.

        options: {path: verses.parquet, source_column: en, target_column: es}
        options: {train: train.tsv, dev: dev.tsv}
        options: {train: {source: train.de, target: train.en}, dev: {source: dev.de, target: dev.en}}
        options:
          train: {source: [europarl-v7.en, commoncrawl.en], target: [europarl-v7.de, commoncrawl.de]}
          dev: {source: newstest2013-src.en.sgm, target: newstest2013-ref.de.sgm}

    Paths are relative to the experiment file; of a list, the files are read one after the other. A table's format is
    told by its ending, `.parquet`, `.csv`, `.tsv` or `.jsonl`, and so is the SGML in which WMT published its test sets,
    `.sgm`; text formats may be compressed (`.gz`) and are UTF-8. Parquet and plain text are never in memory whole.
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
            "dev-src.de.sgm": '<srcset setid="dev" srclang="any">\n<seg id="1">ein Haus</seg>\n</srcset>\n',
            "dev-ref.en.sgm": '<refset setid="dev" trglang="en">\n<seg id="1">a house</seg>\n</refset>\n',
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        lines = {"source": "train.de", "target": "train.en"}
        segments = {"source": "dev-src.de.sgm", "target": "dev-ref.en.sgm"}
        return (
            {"path": "all.tsv"},
            {"train": lines, "dev": "dev.csv", "source_column": "de", "target_column": "en"},
            {"train": {side: [path] for side, path in lines.items()}, "dev": segments},
        )

    def splits(self) -> tuple[str, ...]:
        return tuple(self._parts)

    def pairs(self, split: str) -> Iterator[fw.Pair]:
        return chain.from_iterable(self._parts[split])

    @cached_property
    def _parts(self) -> Mapping[str, Sequence[Iterable[fw.Pair]]]:
        """The pairs of each split, file by file."""
        options = self.options
        columns = {"source": options.source_column, "target": options.target_column}
        if options.path is not None:
            by_split = fw.read_splits(self.base_dir / options.path, split=options.split_column, **columns)
            return {name: [pairs] for name, pairs in by_split.items()}
        return {name: files.read(self.base_dir, columns) for name, files in options.by_split().items()}


@fw.hookimpl
def corpus() -> type[fw.Corpus]:
    return TextPairs
