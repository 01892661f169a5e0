from __future__ import annotations

import pytest


@pytest.fixture
def database_of():
    from framework.record.address import database_of

    return database_of


def test_spellings_of_one_file_are_one_database(database_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    spellings = ["x.db", "./x.db", "a/../x.db", "link/x.db", f"{tmp_path}/x.db", "x.db?timeout=5"]
    urls = [f"sqlite:///{spelling}" for spelling in spellings] + ["sqlite+pysqlite:///x.db"]
    assert {database_of(url) for url in urls} == {database_of(f"sqlite:///{tmp_path}/x.db")}
    assert database_of("sqlite:///y.db") != database_of("sqlite:///x.db")


def test_spellings_of_a_servers_database_are_one(database_of):
    one = database_of("postgresql://host/db")
    assert one == database_of("postgresql+psycopg://me:p@ss/word@HOST:5432/db?sslmode=require")
    others = ["postgresql://host/other", "postgresql://host:5433/db", "postgresql://elsewhere/db", "mysql://host/db"]
    assert one not in map(database_of, others)
    assert database_of("mssql+pyodbc://?odbc_connect=a") != database_of("mssql+pyodbc://?odbc_connect=b")


NONE = ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/x.db", "postgresql://host:port/db", "x.db"]


@pytest.mark.parametrize("url", [*NONE, "http://host"])
def test_what_names_no_database(database_of, url):
    assert database_of(url) is None


@pytest.mark.parametrize("url", [*NONE[:-1], "http://", "http://host:port", "https://[::1"])
def test_an_address_without_a_place_is_refused(tmp_path, url):
    from framework.errors import SpecError
    from framework.record.store import Store

    with pytest.raises(SpecError) as refused:
        Store.at(url, tmp_path)
    assert str(refused.value) == (
        f"--tracking: {url!r} names no database that lasts and no server: write --tracking sqlite:///FILE, "
        "postgresql://USER@HOST:PORT/DATABASE or http://HOST:PORT"
    )
