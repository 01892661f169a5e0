"""Table files → columns of text, each value exactly as it stands there.

The ending tells the format: `.parquet`, `.csv`, `.tsv` or `.jsonl`, the last three also with `.gz`. Nothing is
turned into numbers, dates or booleans. In CSV a field may be quoted (RFC 4180), and `""` is an empty text while
a field with nothing in it is missing; in TSV a quotation mark is a character like any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from framework.data.lines import read_lines, read_text, require_file
from framework.errors import Place, Problem, SpecError
from framework.spec.suggest import did_you_mean

ENDINGS: Final = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class Table:
    """A file's columns by name, all of one length."""

    path: Path
    columns: Mapping[str, Sequence[object] | pl.Series]

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read a file. Raises `MissingCorpus` if it is not there, and `SpecError` if it is no whole table."""
        ending = next((ending for ending in ENDINGS if path.name.endswith(ending)), None)
        if ending is None:
            raise SpecError(
                f"{path} is no table: a table's name ends in {', '.join(ENDINGS)}; "
                "plain text comes in a file for each split, or two that pair up"
            )
        require_file(path)
        if ending.startswith(".jsonl"):
            return cls(path, _read_jsonl(path))
        try:
            return cls(path, (pl.read_parquet(path) if ending == ".parquet" else _read_delimited(path)).to_dict())
        except pl.exceptions.PolarsError as error:
            raise SpecError(_problem(path, f"not a whole {ending} file: {str(error).partition(chr(10))[0]}")) from error

    def texts(self, name: str) -> list[str]:
        """Give a column. Raises `SpecError` if there is none, or it is empty or has a value that is no text."""
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            hint = did_you_mean(name, self.columns)
            raise SpecError(_problem(self.path, f"no column is named {name!r}{hint}; there are: {known}"))
        texts: list[str] = []
        for row, value in enumerate(self.columns[name], start=1):
            if not isinstance(value, str):
                found = "nothing" if value is None else f"{value!r}, which is not text,"
                raise SpecError(
                    _problem(self.path, f"column {name!r} has {found} in row {row}: write a text or drop the row")
                )
            texts.append(value)
        if not texts:
            raise SpecError(_problem(self.path, "the table has no rows"))
        return texts


def _read_delimited(path: Path) -> pl.DataFrame:
    content = read_text(path).encode()
    if ".tsv" in path.suffixes:
        return pl.read_csv(content, infer_schema=False, separator="\t", quote_char=None)
    return pl.read_csv(content, infer_schema=False)


def _read_jsonl(path: Path) -> dict[str, list[object]]:
    rows: list[dict[str, object]] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise SpecError(_problem(path, f"not JSON: {error}", number)) from error
        if not isinstance(row, dict):
            raise SpecError(_problem(path, "expected one JSON object in each line", number))
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _problem(path: Path, message: str, line: int | None = None) -> Problem:
    return Problem(message, place=Place(str(path), line))
