"""Plans that run in this process, and the study that they leave behind."""

from __future__ import annotations

import traceback
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import optuna
from optuna.storages.journal import JournalFileBackend

from framework.experiment import Experiment
from framework.launchers import Outcome
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.study import Summary, coordinate
from framework.trial import run_trial
from tests.framework.tiny_experiment import load_prepared, write


@dataclass
class InProcess:
    """A launcher whose places take turns in this process; it may be made to crash, or to be interrupted."""

    home: Path
    registry: Registry
    places: int = 1
    crashing: frozenset[str] = frozenset()
    interrupted_at: str | None = None
    started: list[str] = field(default_factory=list)
    running_together: list[list[TrialSpec]] = field(default_factory=list)
    _busy: deque[TrialSpec] = field(default_factory=deque)

    @property
    def has_room(self) -> bool:
        return len(self._busy) < self.places

    @property
    def running(self) -> list[TrialSpec]:
        return list(self._busy)

    def submit(self, trial: TrialSpec) -> None:
        assert self.has_room
        self._busy.append(trial)
        self.started.append(trial.row)
        self.running_together.append(self.running)

    def wait(self, seconds: float) -> list[Outcome]:
        assert self._busy, "there is nothing to wait for"
        if self._busy[0].row == self.interrupted_at:
            raise KeyboardInterrupt
        trial = self._busy.popleft()
        try:
            if trial.row in self.crashing:
                raise RuntimeError(f"{trial.row} crashes")
            run_trial(trial, self.registry, self.home)
        except Exception as error:
            return [Outcome(trial, f"{type(error).__name__}: {error}", traceback.format_exc())]
        return [Outcome(trial)]


class Recorded:
    """Remembers which rows were recorded."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def sync(self, trial: TrialSpec) -> None:
        self.rows.append(trial.row)


class Bench:
    """A home, and experiments that run there."""

    def __init__(self, folder: Path, registry: Registry) -> None:
        self.folder, self.registry, self.home = folder, registry, folder / "home"
        self.journal = self.home / "studies" / "tiny.journal"
        self.launcher = InProcess(self.home, registry)
        self.recorded = Recorded()

    def experiment(self, only=(), **sections) -> Experiment:
        sections.setdefault("evaluate", {"metrics": ["perplexity"]})  # decoding takes longer than training does
        return load_prepared(write(self.folder, **sections), self.home, rows=only)

    def coordinate(self, experiment: Experiment, watch=lambda _: None, storage=None, **launching) -> Summary:
        self.launcher = InProcess(self.home, self.registry, **launching)
        self.recorded = Recorded()
        return coordinate(experiment.spec, experiment.plan(), self.home, self.launcher, self.recorded, storage, watch)

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        storage = optuna.storages.JournalStorage(JournalFileBackend(str(self.journal)))
        return optuna.load_study(study_name="tiny", storage=storage).get_trials()

    def told(self) -> list[tuple[int, str, int, str, str | None]]:
        """Number, row, seed, state and status of every Optuna trial."""
        return [
            (t.number, t.user_attrs["row"], t.user_attrs["seed"], t.state.name, t.user_attrs.get("status"))
            for t in self.trials()
        ]
