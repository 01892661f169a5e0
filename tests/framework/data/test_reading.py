from __future__ import annotations

import gzip

import pytest

from framework.data.reading import read_line_pairs, read_pairs, read_splits, read_text_splits, read_texts
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


VERSES = "\n a dog\r\nbarked \n \t\n\na cat\n"


@pytest.mark.parametrize(
    ("unit", "texts"),
    [
        ("line", [" a dog", "barked ", "a cat"]),
        ("paragraph", [" a dog\nbarked ", "a cat"]),
        ("file", ["\n a dog\nbarked \n \t\n\na cat"]),
    ],
)
def test_a_plain_text_file_is_its_lines_its_paragraphs_or_one_text(tmp_path, unit, texts):
    (tmp_path / "t.txt").write_bytes(VERSES.encode())
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(VERSES.encode()))
    assert read_texts(tmp_path / "t.txt", unit=unit) == texts
    assert read_texts(str(tmp_path / "t.txt.gz"), unit=unit) == texts


def test_a_file_with_a_tables_ending_is_read_as_a_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('story,text\n"a\n\nb",x\n')
    assert read_texts(path, column="story") == ["a\n\nb"]
    assert read_texts(path) == ["x"]


def test_a_column_of_text_is_grouped_by_split(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("part,text\ntrain,a\ndev,b\ntrain,c\n")
    assert read_text_splits(path, split="part") == {"train": ["a", "c"], "dev": ["b"]}


@pytest.mark.parametrize("unit", ["line", "paragraph", "file"])
def test_a_file_without_a_word_is_refused(tmp_path, unit):
    (tmp_path / "t.txt").write_text("\n \n")
    with pytest.raises(SpecError, match=r"t\.txt: the file has nothing but blank lines"):
        read_texts(tmp_path / "t.txt", unit=unit)
