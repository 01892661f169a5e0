"""Table files → columns of text, each value exactly as it stands there.

The ending tells the format: `.parquet`, `.csv`, `.tsv` or `.jsonl`, the last three also with `.gz`. Nothing is
turned into numbers, dates or booleans. In CSV a field may be quoted (RFC 4180), and `""` is an empty text while
a field with nothing in it is missing; in TSV a quotation mark is a character like any other.

Parquet is read some rows at a time, the others whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import polars as pl

from framework.data.lines import iter_lines, require_file
from framework.errors import Place, Problem, SpecError
from framework.spec.suggest import did_you_mean

ENDINGS: Final = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz")

_ROWS_AT_ONCE: Final = 1 << 17
"""Rows that become Python's text together; Parquet's own groups of rows are mostly larger."""

_Columns: TypeAlias = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Table:
    """A file's columns, all of one length."""

    path: Path
    names: tuple[str, ...]
    _blocks: Callable[[Sequence[str]], Iterator[_Columns]]
    """Columns by name, for some rows at a time."""

    @classmethod
    def read(cls, path: Path) -> Table:
        """Open a file. Raises `MissingCorpus` if it is not there, and `SpecError` if it is no whole table."""
        ending = next((ending for ending in ENDINGS if path.name.endswith(ending)), None)
        if ending is None:
            raise SpecError(
                f"{path} is no table: a table's name ends in {', '.join(ENDINGS)}; "
                "plain text comes in a file for each split, or two that pair up"
            )
        require_file(path)
        if ending.startswith(".jsonl"):
            columns = _read_jsonl(path)
            return cls(path, tuple(columns), lambda names: iter([[columns[name] for name in names]]))
        if ending == ".parquet":
            return _scan_parquet(path)
        with _whole(path, ending):
            frame = _read_delimited(path)
        return cls(
            path, tuple(frame.columns), lambda names: map(_lists, frame.select(names).iter_slices(_ROWS_AT_ONCE))
        )

    def rows(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Give some columns row by row.

        Raises `SpecError` if there is no such column, or it is empty or has a value that is no text.
        """
        for name in names:
            if name not in self.names:
                known = ", ".join(map(repr, self.names))
                hint = did_you_mean(name, self.names)
                raise SpecError(_problem(self.path, f"no column is named {name!r}{hint}; there are: {known}"))
        before = 0
        for columns in self._blocks(names):
            for name, column in zip(names, columns, strict=True):
                self._require_text(name, column, before)
            yield from zip(*columns, strict=True)  # texts, as just seen
            before += len(columns[0])
        if not before:
            raise SpecError(_problem(self.path, "the table has no rows"))

    def _require_text(self, name: str, column: Sequence[object], before: int) -> None:
        for row, value in enumerate(column, start=before + 1):
            if not isinstance(value, str):
                found = "nothing" if value is None else f"{value!r}, which is not text,"
                raise SpecError(
                    _problem(self.path, f"column {name!r} has {found} in row {row}: write a text or drop the row")
                )


def _scan_parquet(path: Path) -> Table:
    with _whole(path, ".parquet"):
        frame = pl.scan_parquet(path, glob=False)
        names = tuple(frame.collect_schema())
        height = frame.select(pl.len()).collect().item()

    def blocks(chosen: Sequence[str]) -> Iterator[_Columns]:
        for start in range(0, height, _ROWS_AT_ONCE):
            with _whole(path, ".parquet"):
                block = frame.select(chosen).slice(start, _ROWS_AT_ONCE).collect()
            yield _lists(block)

    return Table(path, names, blocks)


def _read_delimited(path: Path) -> pl.DataFrame:
    content = "\n".join(iter_lines(path)).encode()
    if ".tsv" in path.suffixes:
        return pl.read_csv(content, infer_schema=False, separator="\t", quote_char=None)
    return pl.read_csv(content, infer_schema=False)


def _read_jsonl(path: Path) -> dict[str, list[object]]:
    rows: list[dict[str, object]] = []
    for number, line in enumerate(iter_lines(path), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise SpecError(_problem(path, f"not JSON: {error}", number)) from error
        if not isinstance(row, dict):
            raise SpecError(_problem(path, "expected one JSON object in each line", number))
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _lists(frame: pl.DataFrame) -> _Columns:
    return [column.to_list() for column in frame]


@contextmanager
def _whole(path: Path, ending: str) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise SpecError(_problem(path, f"not a whole {ending} file: {str(error).partition(chr(10))[0]}")) from error


def _problem(path: Path, message: str, line: int | None = None) -> Problem:
    return Problem(message, place=Place(str(path), line))
