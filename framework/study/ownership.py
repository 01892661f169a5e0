"""One coordinator at a time owns an experiment: it alone touches the study and the record."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from framework.errors import FrameworkError, Locked
from framework.files import held


@contextmanager
def owned(experiment: str, home: Path) -> Iterator[None]:
    """Own an experiment. Raises `FrameworkError`, which names the owner, while another process does."""
    owner = {"pid": os.getpid(), "host": os.uname().nodename, "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with ExitStack() as stack:
        try:
            stack.enter_context(held(home / "studies" / f"{experiment}.lock", owner))
        except Locked as error:
            raise FrameworkError(
                f"experiment {experiment!r} is being run by another coordinator: {error}. Wait for it, or stop it first"
            ) from None
        yield
