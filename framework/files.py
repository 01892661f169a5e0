"""Files that survive a kill: written whole or not at all, and locks that end with their holder."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from framework.errors import Locked


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that appears whole or not at all, also through a kill or a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")  # one writer at a time, so that a kill leaves one at most
    with temporary.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def first_problem(error: ValidationError) -> str:
    """In a few words, what is wrong with the content of a file."""
    problem = error.errors(include_url=False)[0]
    field = ".".join(map(str, problem["loc"]))
    return f"{field}: {problem['msg']}" if field else problem["msg"]


@contextmanager
def held(path: Path, owner: Mapping[str, Any], wait: bool = False) -> Iterator[None]:
    """Hold a file lock, `owner` written inside for whoever is refused. Raises `Locked`, unless asked to wait.

    The kernel drops the lock when the process ends, however it ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.seek(0)
            raise Locked(f"{path} is held by {file.read().strip() or 'another process'}") from None
        file.truncate(0)
        file.write(json.dumps(dict(owner)))
        file.flush()
        yield
    finally:
        file.close()


def is_held(path: Path) -> bool:
    """Whether some process holds a file lock now."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
