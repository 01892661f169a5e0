"""One coordinator fills every folder of a plan that has no result yet, and keeps the mirrors true."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from framework.journal import TrialFolder
from framework.launchers import Outcome
from framework.plan import Plan
from framework.spec import ExperimentSpec, TrialSpec
from framework.study.backlog import Backlog
from framework.study.ending import Ending, ending_of
from framework.study.mirror import StudyMirror

_log = logging.getLogger(__name__)
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_BETWEEN_RECORDS = 5.0
"""Of a trial that runs: each reads its whole curves."""


class Launcher(Protocol):
    """Where trials run."""

    @property
    def has_room(self) -> bool: ...

    @property
    def running(self) -> list[TrialSpec]: ...

    def submit(self, trial: TrialSpec) -> None: ...

    def wait(self, seconds: float) -> list[Outcome]: ...


class Record(Protocol):
    """Whoever mirrors folders as they fill; it never raises and never keeps the coordinator waiting long."""

    def sync(self, trial: TrialSpec) -> None: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, for whoever watches. Rows that ask for the very same trial count it once."""

    planned: int
    finished: int
    failed: int
    running: list[TrialSpec]


@dataclass(slots=True)
class Summary:
    """What a run did."""

    ran: int = 0
    already_done: int = 0
    failures: dict[tuple[str, int], str] = field(default_factory=dict)
    """(row, seed) of each trial that crashed, and the crash in one line, counted if it was not the first in a row."""
    diverged: dict[tuple[str, int], str] = field(default_factory=dict)
    """(row, seed) of each trial found to have diverged, and how."""


def coordinate(
    experiment: ExperimentSpec,
    plan: Plan,
    home: Path,
    launcher: Launcher,
    record: Record,
    storage: str | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Summary:
    """Run what is missing of a plan: the whole experiment's, or that of some of its rows and seeds.

    Folders alone decide what is to do: the same call starts, resumes and extends. One failed trial never
    ends the run, and neither does a study that fails once it is open. The caller owns the experiment (`owned`).
    Raises `SpecError` for a study that cannot be opened.
    """
    return _Coordinator(plan, home, launcher, record, StudyMirror(experiment, home, storage), watch).run()


def tell_what_is_done(experiment: ExperimentSpec, plan: Plan, home: Path, storage: str | None = None) -> bool:
    """Bring the study up to date with the folders, and run nothing; say whether all of it arrived.

    The caller owns the experiment (`owned`). Raises `SpecError` for a study that cannot be opened.
    """
    plan = tuple(trial for trial in plan if trial.evaluate_key is not None)
    ended = {trial.evaluate_key: ending for trial in plan if (ending := ending_of(trial, home))}
    study = StudyMirror(experiment, home, storage)
    backlog = Backlog(study)
    backlog.tell(lambda: study.withdraw(plan))
    for trial in study.pending(plan, set()):
        if (ending := ended.get(trial.evaluate_key)) is not None:
            backlog.tell(partial(study.start, trial))
            backlog.tell(partial(study.end, trial, ending))
    return backlog.close()


class _Coordinator:
    """The state of one `coordinate` call."""

    def __init__(
        self,
        plan: Plan,
        home: Path,
        launcher: Launcher,
        record: Record,
        study: StudyMirror,
        watch: Callable[[Progress], None],
    ) -> None:
        self._plan = plan
        self._home = home
        self._launcher = launcher
        self._record = record
        self._watch = watch
        self._study = study
        self._backlog = Backlog(study)
        self._unfinished = {trial.evaluate_key for trial in plan if not self._is_finished(trial)}
        self._planned = len({trial.evaluate_key for trial in plan})
        self._waiting: list[TrialSpec] = []
        self._flying: dict[str | None, TrialSpec] = {}
        """By train key: one folder is filled by one worker at a time."""
        self._summary = Summary()

    def run(self) -> Summary:
        for trial in self._plan:
            if trial.evaluate_key not in self._unfinished:
                self._summary.already_done += 1
                self._record.sync(trial)
        self._waiting = self._study.pending(self._plan, self._unfinished)
        self._backlog.tell(lambda: self._study.withdraw(self._plan))
        recorded_at = time.monotonic()
        self._submit()
        while self._flying:
            self._show()
            for outcome in self._launcher.wait(_SECONDS_BETWEEN_LOOKS):
                self._end(outcome)
            self._submit()
            self._backlog.catch_up()
            if time.monotonic() - recorded_at > _SECONDS_BETWEEN_RECORDS:
                for trial in self._launcher.running:
                    self._record.sync(trial)
                recorded_at = time.monotonic()
        self._show()
        self._backlog.close()
        return self._summary

    def _submit(self) -> None:
        """Fill the launcher's free places."""
        while self._launcher.has_room and (trial := self._next()) is not None:
            self._backlog.tell(partial(self._study.start, trial))
            if (ending := ending_of(trial, self._home)) is not None:
                self._ended(trial, ending)  # as another row's, in another experiment, or before the study was lost
            else:
                self._flying[trial.train_key] = trial
                self._launcher.submit(trial)

    def _next(self) -> TrialSpec | None:
        """The first trial whose folder is free: one that shares it waits, and trains nothing then."""
        for index, trial in enumerate(self._waiting):
            if trial.train_key not in self._flying:
                return self._waiting.pop(index)
        return None

    def _end(self, outcome: Outcome) -> None:
        trial = self._flying.pop(outcome.trial.train_key)
        if outcome.error is None:
            ending = ending_of(trial, self._home)
            assert ending is not None
            self._summary.ran += 1
            self._unfinished.discard(trial.evaluate_key)
            self._ended(trial, ending)
        else:
            self._crashed(trial, outcome.error, outcome.trace)
        self._record.sync(trial)

    def _ended(self, trial: TrialSpec, ending: Ending) -> None:
        if ending.status == "diverged":
            self._summary.diverged[trial.row, trial.seed] = str(ending.reason)
        self._backlog.tell(partial(self._study.end, trial, ending))

    def _crashed(self, trial: TrialSpec, error: str, trace: str) -> None:
        folder = self._folder(trial)
        folder.add_failure(error, trace)
        failure = folder.failure()
        assert failure is not None
        words = error if failure.attempts == 1 else f"{error} (attempt {failure.attempts})"
        self._summary.failures[trial.row, trial.seed] = words
        self._backlog.tell(partial(self._study.end, trial, Ending("failed", words)))
        _log.warning("row %s, seed %d: %s", trial.row, trial.seed, words)

    def _show(self) -> None:
        finished, failed = self._planned - len(self._unfinished), len(self._summary.failures)
        self._watch(Progress(self._planned, finished, failed, self._launcher.running))

    def _is_finished(self, trial: TrialSpec) -> bool:
        return self._folder(trial).finished(str(trial.evaluate_key))

    def _folder(self, trial: TrialSpec) -> TrialFolder:
        return TrialFolder(self._home, str(trial.train_key))
