"""Files of sentences and their translations → pairs; files of text → texts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from framework.contracts import Pair
from framework.data.lines import read_lines
from framework.data.table import ENDINGS, Table
from framework.errors import Place, Problem, SpecError

T = TypeVar("T")

TextUnit: TypeAlias = Literal["line", "paragraph", "file"]
"""What is one text in a plain-text file: a line, the lines between two blank ones, or all of it."""


def read_pairs(path: Path | str, *, source: str = "source", target: str = "target") -> list[Pair]:
    """Read two columns of a table: Parquet, CSV, TSV or JSON Lines, told by the ending.

    Raises `MissingCorpus` if the file is not there, and `SpecError` if it is no table, lacks a column, or has
    a row without text.
    """
    table = Table.read(Path(path))
    return list(map(Pair, table.texts(source), table.texts(target)))


def read_splits(
    path: Path | str, *, source: str = "source", target: str = "target", split: str = "split"
) -> dict[str, list[Pair]]:
    """Read two columns of a table, its rows grouped by the name in a third. Raises as `read_pairs` does."""
    table = Table.read(Path(path))
    return _by_split(table.texts(split), map(Pair, table.texts(source), table.texts(target)))


def read_line_pairs(source: Path | str, target: Path | str) -> list[Pair]:
    """Read two plain-text files, perhaps `.gz`; line i of the one translates line i of the other.

    Raises `MissingCorpus` if a file is not there, and `SpecError` if it is not UTF-8 or the lines do not pair up.
    """
    sources, targets = read_lines(Path(source)), read_lines(Path(target))
    if len(sources) != len(targets):
        raise SpecError(
            f"the files do not pair up line by line: {source} has {len(sources)} lines, {target} has {len(targets)}"
        )
    return list(map(Pair, sources, targets))


def read_texts(path: Path | str, *, column: str = "text", unit: TextUnit = "line") -> list[str]:
    """Read a column of a table, told by its ending as for `read_pairs`, or else a plain-text file, perhaps `.gz`.

    The texts of a plain-text file are its lines, its paragraphs, or itself, as `unit` says; blank lines, of white
    space alone, are no texts.

    Raises `MissingCorpus` if the file is not there, and `SpecError` if it has no text, is not UTF-8, or is a table
    that is torn or lacks the column.
    """
    path = Path(path)
    if path.name.endswith(ENDINGS):
        return Table.read(path).texts(column)
    texts = _texts(read_lines(path), unit)
    if not texts:
        raise SpecError(Problem("the file has nothing but blank lines", place=Place(str(path))))
    return texts


def read_text_splits(path: Path | str, *, column: str = "text", split: str = "split") -> dict[str, list[str]]:
    """Read a column of a table, its rows grouped by the name in another. Raises as `read_pairs` does."""
    table = Table.read(Path(path))
    return _by_split(table.texts(split), table.texts(column))


def _texts(lines: list[str], unit: TextUnit) -> list[str]:
    paragraphs = [list(group) for blank, group in groupby(lines, lambda line: not line.strip()) if not blank]
    if unit == "line":
        return [line for paragraph in paragraphs for line in paragraph]
    if unit == "paragraph":
        return ["\n".join(paragraph) for paragraph in paragraphs]
    return ["\n".join(lines)] if paragraphs else []


def _by_split(names: Iterable[str], values: Iterable[T]) -> dict[str, list[T]]:
    splits: dict[str, list[T]] = {}
    for name, value in zip(names, values, strict=True):
        splits.setdefault(name, []).append(value)
    return splits
