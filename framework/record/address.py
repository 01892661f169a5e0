"""Which database a URL names, as far as two spellings of one can be told to be the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"postgresql": "5432", "mysql": "3306", "mssql": "1433"}
DATABASES: Final = ("sqlite", *_PORTS)
_PLACE: Final = re.compile(r"(?P<host>\[[^]]*\]|[^:/]*)(:(?P<port>\d+))?(/(?P<name>.*))?")


@dataclass(frozen=True, slots=True)
class Database:
    """A file, by its real path, or a database of a server, by host and port."""

    kind: str
    host: str
    name: str


def scheme_of(url: str) -> str:
    """`postgresql` of `postgresql+psycopg://…`; empty where there is none."""
    return url.partition("://")[0].partition("+")[0].lower() if "://" in url else ""


def database_of(url: str) -> Database | None:
    """Take a URL apart; None for what names no database, such as one in memory or a port that is no number."""
    kind, rest = scheme_of(url), url.partition("://")[2]
    address, _, query = rest.partition("?")
    if kind == "sqlite":
        path = address.removeprefix("/")
        lasts = address.startswith("/") and path not in ("", ":memory:")
        return Database(kind, "", str(Path(path).resolve())) if lasts else None
    place = _PLACE.fullmatch(address.rpartition("@")[2])
    if kind not in _PORTS or place is None:
        return None
    return Database(kind, f"{place['host'].lower()}:{place['port'] or _PORTS[kind]}", place["name"] or query)


def is_server(url: str) -> bool:
    """Whether a URL names a host to be asked over HTTP."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        return False
