from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from framework.errors import SpecError


@pytest.fixture
def at():
    from framework.record.store import Store

    return Store.at


@pytest.mark.parametrize("address", ["./mlruns", "file:./mlruns", "file:///data/mlruns", "mlruns", "ftp://x"])
def test_a_folder_is_refused_with_the_line_to_paste(at, tmp_path, address):
    with pytest.raises(SpecError) as refused:
        at(address, tmp_path)
    assert str(refused.value) == (
        f"--tracking: {address!r} is no address that MLflow keeps records at (folders such as ./mlruns are retired): "
        f"use --tracking sqlite:///{tmp_path}/mlflow.db, or a server's http:// address"
    )


def test_by_default_records_are_a_file_in_the_home(at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = at(None, Path("runs"))
    assert store.uri == f"sqlite:///{tmp_path}/runs/mlflow.db"
    assert store.artifacts("table3") == f"file://{tmp_path}/runs/artifacts/table3"


def test_a_relative_database_does_not_depend_on_the_folder_one_is_in(at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert at("sqlite:///mine.db", tmp_path).uri == f"sqlite:///{tmp_path}/mine.db"


def test_the_line_that_opens_the_records_can_be_pasted(at, tmp_path):
    home = tmp_path / "my runs"
    assert at(None, home).ui_line() == f"mlflow ui --workers 1 --backend-store-uri 'sqlite:///{home}/mlflow.db'"
    assert at("http://host:5000", home).ui_line() == "http://host:5000"


def test_a_password_is_not_shown(at, tmp_path):
    store = at("postgresql+psycopg://me:secret@host/mlflow", tmp_path)
    assert store.shown == "postgresql+psycopg://me:***@host/mlflow"
    assert "secret" not in store.ui_line()


def test_a_database_half_made_is_named_with_the_way_out(at, tmp_path):
    """What a kill, or six processes on a fresh file, leave behind stays unusable."""
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        database.execute("create table experiments (name text)")
    database.close()
    with pytest.raises(SpecError) as refused:
        at(None, tmp_path).open()
    words = str(refused.value)
    assert words.startswith(f"--tracking: sqlite:///{tmp_path}/mlflow.db cannot be opened: ")
    assert words.endswith("move the database away, and `ablate sync` fills a new one from the trials' folders")


def test_a_file_that_is_no_database_is_named(at, tmp_path):
    (tmp_path / "mlflow.db").write_text("no database " * 100)
    with pytest.raises(SpecError, match="file is not a database"):
        at(None, tmp_path).open()


OPEN = """
import sys
from pathlib import Path
from framework.record.store import Store
print(len(Store.at(None, Path(sys.argv[1])).open().search_experiments()))
"""


def test_processes_that_meet_at_a_fresh_database_all_get_it(tmp_path):
    """Left to itself, MLflow lets all but one of them die, and the file with them."""
    meeting = [
        subprocess.Popen([sys.executable, "-c", OPEN, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    ends = [process.communicate() for process in meeting]
    assert [process.returncode for process in meeting] == [0, 0], ends
    assert [output.strip() for output, _ in ends] == [b"1", b"1"]
