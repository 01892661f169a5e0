"""Text files, read the same on every machine, a line at a time.

UTF-8 whatever the locale; a byte order mark at the start is dropped. Only a line feed ends a line, and one
carriage return before it belongs to it: U+2028, U+0085, form feeds and lone carriage returns stay in the
sentence, so that two files of one corpus cannot shift against each other.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from framework.errors import MissingCorpus, Place, Problem, SpecError


def iter_lines(path: Path) -> Iterator[str]:
    """Give the lines of a file that may be compressed (`.gz`), without their ends.

    Raises `MissingCorpus` if it is not there, and `SpecError` if it is empty, torn or not UTF-8.
    """
    number = 0
    for number, line in enumerate(_iter_bytes(path), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            found = " ".join(f"{byte:02x}" for byte in line[error.start : error.end])
            raise SpecError(
                Problem(f"not UTF-8 (byte {found}): convert the file to UTF-8", place=Place(str(path), number))
            ) from error
        yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\r\n") else text.removesuffix("\n")
    if not number:
        raise SpecError(Problem("the file is empty", place=Place(str(path))))


def require_file(path: Path) -> None:
    """Raises `MissingCorpus` if there is no such file."""
    if not path.is_file():
        raise MissingCorpus(f"the corpus file {path} does not exist")


def _iter_bytes(path: Path) -> Iterator[bytes]:
    """Give the lines of a file with their ends and without a byte order mark."""
    require_file(path)
    try:
        with _opened(path) as file:
            if first := file.readline().removeprefix(codecs.BOM_UTF8):
                yield first
            yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SpecError(Problem(f"not a whole gzip file ({error}): fetch it again", place=Place(str(path)))) from error


def _opened(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")
