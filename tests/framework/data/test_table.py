from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from framework.data import table
from framework.data.table import ENDINGS, Table
from framework.errors import MissingCorpus, SpecError

ROWS = [("007", "1e-4"), ('say "yes", or', "null"), ("NA", "2020-01-01"), ("a\u2028b\x85c", "#x")]
CSV = 'source,target\n007,1e-4\n"say ""yes"", or",null\nNA,2020-01-01\na\u2028b\x85c,#x\n'
TSV = 'source\ttarget\n007\t1e-4\nsay "yes", or\tnull\nNA\t2020-01-01\na\u2028b\x85c\t#x\n'
JSONL = (
    '{"source": "007", "target": "1e-4"}\n{"target": "null", "source": "say \\"yes\\", or"}\n'
    '{"source": "NA", "target": "2020-01-01"}\n{"source": "a\u2028b\x85c", "target": "#x"}\n'
)


def write(path: Path, text: str) -> Path:
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def sample(folder: Path, ending: str) -> Path:
    path = folder / f"v1.2{ending}"
    if ending == ".parquet":
        pl.DataFrame(ROWS, schema=["source", "target"], orient="row").write_parquet(path)
        return path
    return write(path, {".csv": CSV, ".tsv": TSV, ".jsonl": JSONL}[ending.removesuffix(".gz")])


def texts(found: Table, name: str) -> list[str]:
    return [text for (text,) in found.rows(name)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_text_as_it_stands(tmp_path, ending):
    found = Table.read(sample(tmp_path, ending))
    assert list(found.rows("source", "target")) == ROWS
    assert list(found.rows("target")) == [(target,) for _, target in ROWS]


@pytest.mark.parametrize("text", [CSV, TSV, JSONL])
def test_line_ends_and_byte_order_marks_change_nothing(tmp_path, text):
    ending = {CSV: ".csv", TSV: ".tsv", JSONL: ".jsonl"}[text]
    path = write(tmp_path / f"t{ending}", "\ufeff" + text.replace("\n", "\r\n"))
    assert texts(Table.read(path), "target") == [target for _, target in ROWS]


def test_quotation_marks_are_plain_characters_in_tsv(tmp_path):
    path = write(tmp_path / "t.tsv", 'source\ttarget\n"a\tb" c\n')
    assert texts(Table.read(path), "source") == ['"a']
    assert texts(Table.read(path), "target") == ['b" c']


def test_an_empty_text_is_written_as_quotation_marks_in_csv(tmp_path):
    assert texts(Table.read(write(tmp_path / "t.csv", 'source,target\n"",x\n')), "source") == [""]


def test_a_missing_column_names_the_nearest_and_all(tmp_path):
    path = write(tmp_path / "t.csv", "source,target\na,b\n")
    with pytest.raises(
        SpecError, match=r"t\.csv: no column is named 'sorce'; did you mean 'source'\?; there are: 'source', 'target'"
    ):
        texts(Table.read(path), "sorce")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "source,target\na,b\nc,\n"),
        ("t.csv", "source,target\na,b\nc\n"),
        ("t.tsv", "source\ttarget\na\tb\nc\t\n"),
    ],
)
def test_a_row_without_text_is_named(tmp_path, name, text):
    with pytest.raises(SpecError, match=r"column 'target' has nothing in row 2: write a text or drop the row"):
        texts(Table.read(write(tmp_path / name, text)), "target")


def test_a_null_in_parquet_is_named_by_its_row(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"source": ["a", "b", None]}).write_parquet(path)
    with pytest.raises(SpecError, match=r"column 'source' has nothing in row 3"):
        texts(Table.read(path), "source")


def test_a_long_table_is_read_some_rows_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_ROWS_AT_ONCE", 3)
    numbers = [str(number) for number in range(10)]
    pl.DataFrame({"source": numbers}).write_parquet(tmp_path / "t.parquet")
    write(tmp_path / "t.tsv", "source\n" + "\n".join(numbers) + "\n")
    assert (
        texts(Table.read(tmp_path / "t.parquet"), "source")
        == texts(Table.read(tmp_path / "t.tsv"), "source")
        == numbers
    )
    pl.DataFrame({"source": [*numbers[:7], None]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(SpecError, match=r"column 'source' has nothing in row 8"):
        texts(Table.read(tmp_path / "t.parquet"), "source")


def test_numbers_are_not_text(tmp_path):
    path = write(tmp_path / "t.jsonl", '{"source": "a"}\n{"source": 12}\n')
    with pytest.raises(SpecError, match=r"column 'source' has 12, which is not text, in row 2"):
        texts(Table.read(path), "source")


def test_a_key_that_first_appears_late_is_not_lost(tmp_path):
    lines = ['{"source": "a"}'] * 200 + ['{"source": "a", "note": "late"}']
    assert Table.read(write(tmp_path / "t.jsonl", "\n".join(lines))).names == ("source", "note")


@pytest.mark.parametrize(
    ("line", "message"),
    [('{"source": "a', r"t\.jsonl:2: not JSON: Unterminated string"), ("[1]", r"t\.jsonl:2: expected one JSON object")],
)
def test_a_bad_json_line_is_named(tmp_path, line, message):
    with pytest.raises(SpecError, match=message):
        Table.read(write(tmp_path / "t.jsonl", f'{{"source": "a"}}\n{line}\n'))


def test_an_unknown_ending_says_what_a_table_is(tmp_path):
    with pytest.raises(
        SpecError, match=r"t\.xlsx is no table: a table's name ends in \.parquet, \.csv.*plain text comes"
    ):
        Table.read(tmp_path / "t.xlsx")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_that_is_not_there_is_a_missing_corpus(tmp_path, ending):
    with pytest.raises(MissingCorpus, match="does not exist"):
        Table.read(tmp_path / f"absent{ending}")


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.parquet", "PAR1 and then nothing"), ("t.csv", "source,target\na,b,c\n"), ("t.csv", 'source,target\n"a,b\n')],
)
def test_a_table_that_is_torn_is_an_error(tmp_path, name, text):
    with pytest.raises(SpecError, match=rf"{name}: not a whole {Path(name).suffix} file: "):
        Table.read(write(tmp_path / name, text))


def test_a_table_without_rows_is_an_error(tmp_path):
    with pytest.raises(SpecError, match=r"t\.csv: the table has no rows"):
        texts(Table.read(write(tmp_path / "t.csv", "source,target\n")), "source")
