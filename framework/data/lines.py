"""Text files, read the same on every machine.

UTF-8 whatever the locale; a byte order mark at the start is dropped. Only a line feed ends a line, and one
carriage return before it belongs to it: U+2028, U+0085, form feeds and lone carriage returns stay in the
sentence, so that two files of one corpus cannot shift against each other.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from framework.errors import MissingCorpus, Place, Problem, SpecError


def read_text(path: Path) -> str:
    """Read a file that may be compressed (`.gz`), its line ends made line feeds.

    Raises `MissingCorpus` if it is not there, and `SpecError` if it is empty, torn or not UTF-8.
    """
    content = _read_bytes(path).removeprefix(codecs.BOM_UTF8)
    if not content:
        raise SpecError(Problem("the file is empty", place=Place(str(path))))
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = " ".join(f"{byte:02x}" for byte in content[error.start : error.end])
        raise SpecError(
            Problem(f"not UTF-8 (byte {found}): convert the file to UTF-8", place=Place(str(path), line))
        ) from error


def read_lines(path: Path) -> list[str]:
    """Read a file's lines without their ends."""
    return read_text(path).removesuffix("\n").split("\n")


def require_file(path: Path) -> None:
    """Raises `MissingCorpus` if there is no such file."""
    if not path.is_file():
        raise MissingCorpus(f"the corpus file {path} does not exist")


def _read_bytes(path: Path) -> bytes:
    require_file(path)
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SpecError(Problem(f"not a whole gzip file ({error}): fetch it again", place=Place(str(path)))) from error
