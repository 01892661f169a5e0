"""A run in MLflow, and what it is known to have: only what differs is sent."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Final

from mlflow import MlflowClient
from mlflow.entities import Run, RunTag

LONGEST_TAG: Final = 8000
"""Characters; MLflow cuts longer ones off without a word."""


def recordable(name: str) -> str:
    """A name as MLflow takes it: one that it refuses would take a whole batch with it."""
    return re.sub(r"[^\w\-. :/]", "_", name)


class KnownRun:
    """Tags, status and files of a run. Every method raises what MLflow raises."""

    def __init__(self, client: MlflowClient, run: Run) -> None:
        self._client = client
        self.id: str = run.info.run_id
        self._status: str = run.info.status
        self._tags = dict(run.data.tags)
        self._files: dict[str, str] = {}

    def write(self, name: str, content: str) -> None:
        """Keep a file with the run, in place of an earlier one."""
        if self._files.get(name) != content:
            self._client.log_text(self.id, content, name)
            self._files[name] = content

    def set_tags(self, tags: Mapping[str, str | None]) -> None:
        """Set tags; None takes one away."""
        tags = {recordable(name): text for name, text in tags.items()}
        texts = {name: _shortened(text) for name, text in tags.items() if text is not None}
        changed = {name: text for name, text in texts.items() if self._tags.get(name) != text}
        if changed:
            batch = [RunTag(name, text) for name, text in changed.items()]
            self._client.log_batch(self.id, tags=batch, synchronous=True)
            self._tags |= changed
        for name in tags.keys() & self._tags.keys() - texts.keys():
            self._client.delete_tag(self.id, name)
            del self._tags[name]

    def set_status(self, status: str, ended_at: int | None = None) -> None:
        """RUNNING, or how and when (milliseconds, None for now) the run ended."""
        if status == self._status:
            return
        if status == "RUNNING":
            self._client.update_run(self.id, status)
        else:
            self._client.set_terminated(self.id, status, ended_at or int(time.time() * 1000))
        self._status = status


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TAG else f"{text[: LONGEST_TAG - 1]}…"
