"""Files of sentences and their translations → pairs; files of text → texts.

Whatever is given can be gone through more than once, and is read anew each time: a long corpus is never in memory
whole, unless it lies in a CSV, TSV or JSON Lines table. That a file is there is seen at once, and what is wrong with
its text when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

from framework.contracts import Pair
from framework.data import sgml, table
from framework.data.lines import iter_lines, require_file
from framework.data.rereadable import Rereadable
from framework.data.sgml import iter_segments
from framework.data.table import Table
from framework.errors import Place, Problem, SpecError

T = TypeVar("T")

TextUnit: TypeAlias = Literal["line", "paragraph", "file"]
"""What is one text in a plain-text file: a line, the lines between two blank ones, or all of it."""


def read_pairs(path: Path | str, *, source: str = "source", target: str = "target") -> Iterable[Pair]:
    """Read two columns of a table: Parquet, CSV, TSV or JSON Lines, told by the ending.

    Raises `MissingCorpus` if the file is not there, and `SpecError` if it is no table, lacks a column, or has
    a row without text.
    """
    rows = Table.read(Path(path)).rows
    return Rereadable(lambda: map(Pair._make, rows(source, target)))


def read_splits(
    path: Path | str, *, source: str = "source", target: str = "target", split: str = "split"
) -> dict[str, Iterable[Pair]]:
    """Read two columns of a table, its rows grouped by the name in a third. Raises as `read_pairs` does."""
    return _by_split(Table.read(Path(path)), split, (source, target), Pair._make)


def read_line_pairs(source: Path | str, target: Path | str) -> Iterable[Pair]:
    """Read two plain-text files, perhaps `.gz`; line i of the one translates line i of the other.

    In files that end in `.sgm`, as WMT publishes test sets, a sentence is what a `<seg>` holds.

    Raises `MissingCorpus` if a file is not there, and `SpecError` if it is not UTF-8 or the lines do not pair up.
    """
    require_file(Path(source))
    require_file(Path(target))
    return Rereadable(lambda: _line_pairs(Path(source), Path(target)))


def read_texts(path: Path | str, *, column: str = "text", unit: TextUnit = "line") -> Iterable[str]:
    """Read a column of a table, told by its ending as for `read_pairs`, or else a plain-text file, perhaps `.gz`.

    The texts of a plain-text file are its lines, its paragraphs, or itself, as `unit` says; blank lines, of white
    space alone, are no texts.

    Raises `MissingCorpus` if the file is not there, and `SpecError` if it has no text, is not UTF-8, or is a table
    that is torn or lacks the column.
    """
    path = Path(path)
    if path.name.endswith(table.ENDINGS):
        rows = Table.read(path).rows
        return Rereadable(lambda: (text for (text,) in rows(column)))
    require_file(path)
    return Rereadable(lambda: _texts(path, unit))


def read_text_splits(path: Path | str, *, column: str = "text", split: str = "split") -> dict[str, Iterable[str]]:
    """Read a column of a table, its rows grouped by the name in another. Raises as `read_pairs` does."""
    return _by_split(Table.read(Path(path)), split, (column,), lambda row: row[0])


def _line_pairs(source: Path, target: Path) -> Iterator[Pair]:
    sources, targets = _sentences(source), _sentences(target)
    for before, (left, right) in enumerate(zip_longest(sources, targets)):
        if left is None or right is None:
            source_lines, target_lines = (
                before + _number(side, rest) for side, rest in ((left, sources), (right, targets))
            )
            raise SpecError(
                f"the files do not pair up line by line: {source} has {source_lines} lines, {target} has {target_lines}"
            )
        yield Pair(left, right)


def _number(first: str | None, rest: Iterator[str]) -> int:
    return 0 if first is None else 1 + sum(1 for _ in rest)


def _sentences(path: Path) -> Iterator[str]:
    return iter_segments(path) if path.name.endswith(sgml.ENDINGS) else iter_lines(path)


def _texts(path: Path, unit: TextUnit) -> Iterator[str]:
    found = False
    for text in _UNITS[unit](iter_lines(path)):
        found = True
        yield text
    if not found:
        raise SpecError(Problem("the file has nothing but blank lines", place=Place(str(path))))


def _lines(lines: Iterator[str]) -> Iterator[str]:
    return filter(str.strip, lines)


def _paragraphs(lines: Iterator[str]) -> Iterator[str]:
    return ("\n".join(group) for filled, group in groupby(lines, lambda line: bool(line.strip())) if filled)


def _file(lines: Iterator[str]) -> Iterator[str]:
    text = "\n".join(lines)
    return iter([text] if text.strip() else [])


_UNITS: Final[Mapping[TextUnit, Callable[[Iterator[str]], Iterator[str]]]] = {
    "line": _lines,
    "paragraph": _paragraphs,
    "file": _file,
}


def _by_split(
    rows: Table, split: str, columns: tuple[str, ...], made: Callable[[tuple[str, ...]], T]
) -> dict[str, Iterable[T]]:
    def of(name: str) -> Iterator[T]:
        return (made(row[1:]) for row in rows.rows(split, *columns) if row[0] == name)

    names = dict.fromkeys(name for (name,) in rows.rows(split))
    return {name: Rereadable(partial(of, name)) for name in names}
