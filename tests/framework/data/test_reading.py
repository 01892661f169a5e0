from __future__ import annotations

import pytest

from framework.data.reading import read_line_pairs, read_pairs, read_splits
from framework.errors import SpecError


def test_columns_are_chosen_by_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,es,en\n1,perro,dog\n2,gato,cat\n")
    assert read_pairs(path, source="en", target="es") == [("dog", "perro"), ("cat", "gato")]
    assert read_pairs(str(path), source="es", target="en")[0].source == "perro"


def test_rows_are_grouped_by_split_in_their_order(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("source\ttarget\tsplit\na\tA\ttrain\nb\tB\tdev\nc\tC\ttrain\n")
    assert read_splits(path) == {"train": [("a", "A"), ("c", "C")], "dev": [("b", "B")]}


def test_exotic_separators_do_not_shift_the_sides_against_each_other(tmp_path):
    source, target = tmp_path / "t.source", tmp_path / "t.target"
    source.write_bytes("a\u2028b\nc\x85d\ne\x0cf\ng\x1ch\ni\r\nj\rk\n".encode())
    target.write_bytes(b"1\n2\n3\n4\n5\n6\n")
    pairs = read_line_pairs(source, target)
    assert [pair.target for pair in pairs] == ["1", "2", "3", "4", "5", "6"]
    assert pairs[4:] == [("i", "5"), ("j\rk", "6")]


def test_unequal_line_counts_are_both_named(tmp_path):
    source, target = tmp_path / "t.de", tmp_path / "t.en"
    source.write_text("a\nb\n")
    target.write_text("a\nb\nc\n")
    with pytest.raises(SpecError, match=r"do not pair up line by line: .*t\.de has 2 lines, .*t\.en has 3"):
        read_line_pairs(source, target)
