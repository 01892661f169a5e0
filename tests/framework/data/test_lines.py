from __future__ import annotations

import gzip
import os
import subprocess
import sys

import pytest

from framework.data.lines import iter_lines
from framework.errors import MissingCorpus, SpecError


def test_only_a_line_feed_ends_a_line(tmp_path):
    """B18"""
    path = tmp_path / "t.source"
    path.write_bytes("a\u2028b\nc\x85d\ne\x0cf\ng\x1ch\ni\r\nj\rk\n".encode())
    assert list(iter_lines(path)) == ["a\u2028b", "c\x85d", "e\x0cf", "g\x1ch", "i", "j\rk"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb", ["a", "b"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"\n", [""]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\r\nb\r", ["a\r", "b\r"]),  # one carriage return belongs to a line end, and none without it
    ],
)
def test_lines_are_counted_by_their_ends(tmp_path, content, lines):
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    assert list(iter_lines(path)) == lines


def test_a_byte_order_mark_is_no_text(tmp_path):
    """B20"""
    path = tmp_path / "t.txt"
    path.write_bytes(b"\xef\xbb\xbfhello\nagain \xef\xbb\xbf\n")
    assert list(iter_lines(path)) == ["hello", "again \ufeff"]


def test_compressed_text_is_the_same_text(tmp_path):
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress("día\r\nnoche\n".encode()))
    assert list(iter_lines(path)) == ["día", "noche"]


def test_text_is_utf8_whatever_the_locale(tmp_path):
    """B20"""
    path = tmp_path / "t.txt"
    path.write_bytes("día\n".encode())
    program = "import sys; from framework.data.lines import iter_lines; from pathlib import Path;"
    program += "print(ascii(list(iter_lines(Path(sys.argv[1])))))"
    printed = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert printed.stdout.strip() == r"['d\xeda']"


def test_bytes_that_are_not_utf8_are_named_with_file_and_line(tmp_path):
    """B20: no replacement characters."""
    path = tmp_path / "t.txt"
    path.write_bytes(b"fine\nsch\xf6n\n")
    with pytest.raises(SpecError, match=r"t\.txt:2: not UTF-8 \(byte f6\): convert the file to UTF-8"):
        list(iter_lines(path))


def test_a_file_that_is_not_there_is_a_missing_corpus(tmp_path):
    with pytest.raises(MissingCorpus, match=r"the corpus file .*absent\.txt does not exist"):
        list(iter_lines(tmp_path / "absent.txt"))


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(tmp_path, content):
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=r"t\.txt: the file is empty"):
        list(iter_lines(path))


def test_a_torn_download_is_an_error(tmp_path):
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress(os.urandom(1000).hex().encode())[:-20])
    with pytest.raises(SpecError, match=r"t\.txt\.gz: not a whole gzip file \(.*\): fetch it again"):
        list(iter_lines(path))


def test_lines_come_one_by_one(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes(b"fine\nsch\xf6n\n")
    lines = iter_lines(path)
    assert next(lines) == "fine"  # though the next is not UTF-8
    with pytest.raises(SpecError):
        next(lines)
