"""Files of sentences and their translations → pairs."""

from __future__ import annotations

from pathlib import Path

from framework.contracts import Pair
from framework.data.lines import read_lines
from framework.data.table import Table
from framework.errors import SpecError


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
    splits: dict[str, list[Pair]] = {}
    for name, *texts in zip(table.texts(split), table.texts(source), table.texts(target), strict=True):
        splits.setdefault(name, []).append(Pair(*texts))
    return splits


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
