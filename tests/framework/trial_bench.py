"""The tiny experiment's trials, run one by one in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from framework.journal import Status, TrialFolder, status
from framework.registry import Registry
from framework.trial import run_trial
from tests.framework.tiny_experiment import findings, folder_of, load_prepared, write


class Bench:
    """A home with prepared data, and the trials of an experiment by row."""

    def __init__(self, folder: Path, registry: Registry, home: Path | None = None, **sections: Any) -> None:
        self.registry = registry
        self.home = home or folder / "home"
        self.experiment = load_prepared(write(folder, **sections), self.home)
        self.trials = {trial.row: trial for trial in self.experiment.plan()}

    def run(self, row: str = "base") -> None:
        run_trial(self.trials[row], self.registry, self.home)

    def folder(self, row: str = "base") -> TrialFolder:
        return folder_of(self.trials[row], self.home)

    def findings(self, row: str = "base") -> dict[str, Any]:
        return findings(self.trials[row], self.home)

    def status(self, row: str = "base") -> Status:
        trial = self.trials[row]
        return status(self.home, trial.train_key, trial.evaluate_key)


def benches(parent: Path, registry: Registry) -> Callable[..., Bench]:
    """Make benches, each in a folder of its own, from the sections in which they differ from the tiny experiment."""

    def build(**sections: Any) -> Bench:
        folder = parent / f"bench {len(list(parent.iterdir()))}"
        folder.mkdir()
        return Bench(folder, registry, **sections)

    return build
