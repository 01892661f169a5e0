"""Where MLflow keeps its records: the address, opened safely."""

from __future__ import annotations

import logging
import os
import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mlflow import MlflowClient

from framework.errors import SpecError
from framework.files import held
from framework.passwords import without_password
from framework.record.address import DATABASES, database_of, is_server, scheme_of

# Every failure is told once, in our words; MLflow prints a traceback for each, its HTTP client a line for each try.
logging.getLogger("mlflow").setLevel(logging.CRITICAL)
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Store:
    """A tracking address, checked; by default a SQLite file in the home."""

    uri: str
    home: Path

    @classmethod
    def at(cls, tracking: str | None, home: Path) -> Store:
        """Check an address. Raises `SpecError` for what MLflow no longer takes, such as a folder, and for none."""
        home = home.absolute()
        ours = f"sqlite:///{home / 'mlflow.db'}"
        if tracking is None:
            return cls(ours, home)
        scheme = scheme_of(tracking)
        if scheme not in (*DATABASES, "http", "https"):
            raise SpecError(
                f"{tracking!r} is no address that MLflow keeps records at (folders such as ./mlruns are retired): "
                f"use --tracking {ours}, or a server's http:// address",
                "--tracking",
            )
        if database_of(tracking) is None and not is_server(tracking):
            raise SpecError(
                f"{tracking!r} names no database that lasts and no server: write --tracking sqlite:///FILE, "
                "postgresql://USER@HOST:PORT/DATABASE or http://HOST:PORT",
                "--tracking",
            )
        if scheme == "sqlite":
            prefix, _, path = tracking.partition(":///")
            return cls(f"{prefix}:///{Path(path).absolute()}", home)
        return cls(tracking, home)

    @property
    def is_server(self) -> bool:
        return urlsplit(self.uri).scheme in ("http", "https")

    @property
    def shown(self) -> str:
        """The address without a password."""
        return without_password(self.uri)

    def artifacts(self, experiment: str) -> str | None:
        """Where an experiment's files go; a server decides for itself."""
        return None if self.is_server else (self.home / "artifacts" / experiment).as_uri()

    def ui_line(self) -> str:
        """The shell line that shows the records, or the server's own address."""
        return self.uri if self.is_server else f"mlflow ui --workers 1 --backend-store-uri {shlex.quote(self.shown)}"

    def open(self) -> MlflowClient:
        """Connect. A database is made first if need be, by one process at a time.

        A server is not called yet, since it may be away. Raises `SpecError` for a database that cannot be
        opened.
        """
        if self.is_server:
            return MlflowClient(self.uri)
        owner = {"pid": os.getpid(), "host": os.uname().nodename}
        with held(self.home / "mlflow.lock", owner, wait=True), warnings.catch_warnings():
            # MLflow declares its tables in a way that SQLAlchemy 2.1 retires, which users can do nothing about.
            warnings.filterwarnings("ignore", "The ``noload`` loader strategy", DeprecationWarning)
            try:
                client = MlflowClient(self.uri)
                client.search_experiments(max_results=1)
            except Exception as error:  # SQLAlchemy's, alembic's, MLflow's: whatever a broken database raises
                raise SpecError(
                    f"{self.shown} cannot be opened: {in_short(error)}. Records can be rebuilt: move the database "
                    "away, and `ablate sync` fills a new one from the trials' folders",
                    "--tracking",
                ) from error
        return client


def in_short(error: Exception) -> str:
    """An error's first line, without the chain of causes that HTTP clients append."""
    return str(error).partition("\n")[0].partition(": Max retries")[0][:200] or type(error).__name__
