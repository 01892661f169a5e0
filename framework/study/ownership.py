"""One coordinator at a time owns an experiment: it alone touches the study and the record.

The lock lies in the home. Two homes that share a `--storage` or a `--tracking` address are not kept apart: one
would take over the other's running Optuna trials, and both would write to one parent run in MLflow.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from framework.errors import FrameworkError, Locked
from framework.files import held, write_whole

_log = logging.getLogger(__name__)


@contextmanager
def owned(experiment: str, home: Path, file: Path) -> Iterator[None]:
    """Own the experiment of a file. Raises `FrameworkError`, which names the owner, while another process does."""
    owner = {"pid": os.getpid(), "host": os.uname().nodename, "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with ExitStack() as stack:
        try:
            stack.enter_context(held(home / "studies" / f"{experiment}.lock", owner))
        except Locked as error:
            raise FrameworkError(
                f"experiment {experiment!r} is being run by another coordinator: {error}. Wait for it, or stop it first"
            ) from None
        _remember(experiment, home, file.resolve())
        yield


def _remember(experiment: str, home: Path, file: Path) -> None:
    """Keep the file's path, and warn where another file of the same name was here first; one that moved may."""
    memory = home / "studies" / f"{experiment}.json"
    earlier = Path(json.loads(memory.read_bytes())["file"]) if memory.exists() else file
    if earlier != file and earlier.exists():
        _log.warning(
            "experiment %r was run here from %s, and now from %s, which takes over its study, its MLflow runs and "
            "its table: if these are two experiments, give one of them another name",
            experiment,
            earlier,
            file,
        )
    if earlier != file or not memory.exists():
        write_whole(memory, json.dumps({"file": str(file)}))
