from __future__ import annotations

import gzip

import pytest

from framework.data.reading import read_line_pairs, read_pairs, read_splits, read_text_splits, read_texts
from framework.errors import MissingCorpus, SpecError


def everything(splits):
    return {name: list(examples) for name, examples in splits.items()}


def test_columns_are_chosen_by_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,es,en\n1,perro,dog\n2,gato,cat\n")
    assert list(read_pairs(path, source="en", target="es")) == [("dog", "perro"), ("cat", "gato")]
    assert next(iter(read_pairs(str(path), source="es", target="en"))).source == "perro"


def test_rows_are_grouped_by_split_in_their_order(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("source\ttarget\tsplit\na\tA\ttrain\nb\tB\tdev\nc\tC\ttrain\n")
    assert everything(read_splits(path)) == {"train": [("a", "A"), ("c", "C")], "dev": [("b", "B")]}


def test_exotic_separators_do_not_shift_the_sides_against_each_other(tmp_path):
    """B18: six pairs."""
    source, target = tmp_path / "t.source", tmp_path / "t.target"
    source.write_bytes("a\u2028b\nc\x85d\ne\x0cf\ng\x1ch\ni\r\nj\rk\n".encode())
    target.write_bytes(b"1\n2\n3\n4\n5\n6\n")
    pairs = list(read_line_pairs(source, target))
    assert [pair.target for pair in pairs] == ["1", "2", "3", "4", "5", "6"]
    assert pairs[4:] == [("i", "5"), ("j\rk", "6")]


@pytest.mark.parametrize(("sources", "targets"), [(2, 3), (3, 2), (1, 9), (9, 1)])
def test_unequal_line_counts_are_both_named(tmp_path, sources, targets):
    source, target = tmp_path / "t.de", tmp_path / "t.en"
    source.write_text("a\n" * sources)
    target.write_text("a\n" * targets)
    said = rf"do not pair up line by line: .*t\.de has {sources} lines, .*t\.en has {targets}"
    with pytest.raises(SpecError, match=said):
        list(read_line_pairs(source, target))


def test_pairs_can_be_gone_through_again(tmp_path):
    (tmp_path / "t.tsv").write_text("source\ttarget\tsplit\na\tA\ttrain\nb\tB\ttrain\n")
    (tmp_path / "t.txt").write_text("a\nb\n")
    lines = read_line_pairs(tmp_path / "t.txt", tmp_path / "t.txt")
    for found in (lines, read_pairs(tmp_path / "t.tsv"), *read_splits(tmp_path / "t.tsv").values()):
        first = iter(found)
        next(first)
        assert len(list(found)) == 2
        assert len(list(first)) == 1


def test_pairs_are_read_as_they_are_asked_for(tmp_path):
    source, target = tmp_path / "t.de", tmp_path / "t.en"
    source.write_bytes(b"a\n\xf6\n")
    target.write_text("A\nB\n")
    assert next(iter(read_line_pairs(source, target))) == ("a", "A")


def test_a_file_that_is_not_there_is_told_before_it_is_read(tmp_path):
    (tmp_path / "t.de").write_text("a\n")
    with pytest.raises(MissingCorpus, match=r"the corpus file .*absent\.en does not exist"):
        read_line_pairs(tmp_path / "t.de", tmp_path / "absent.en")
    with pytest.raises(MissingCorpus, match=r"the corpus file .*absent\.txt does not exist"):
        read_texts(tmp_path / "absent.txt")


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
    assert list(read_texts(tmp_path / "t.txt", unit=unit)) == texts
    assert list(read_texts(str(tmp_path / "t.txt.gz"), unit=unit)) == texts


def test_a_file_with_a_tables_ending_is_read_as_a_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('story,text\n"a\n\nb",x\n')
    assert list(read_texts(path, column="story")) == ["a\n\nb"]
    assert list(read_texts(path)) == ["x"]


def test_a_column_of_text_is_grouped_by_split(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("part,text\ntrain,a\ndev,b\ntrain,c\n")
    assert everything(read_text_splits(path, split="part")) == {"train": ["a", "c"], "dev": ["b"]}


@pytest.mark.parametrize("unit", ["line", "paragraph", "file"])
def test_a_file_without_a_word_is_refused(tmp_path, unit):
    (tmp_path / "t.txt").write_text("\n \n")
    with pytest.raises(SpecError, match=r"t\.txt: the file has nothing but blank lines"):
        list(read_texts(tmp_path / "t.txt", unit=unit))
