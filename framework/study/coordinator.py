"""One coordinator fills every folder of a plan that has no result yet, and keeps the mirrors true."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from framework.journal import TrialFolder
from framework.launchers import Outcome
from framework.plan import Plan
from framework.spec import ExperimentSpec, TrialSpec
from framework.study.mirror import StudyMirror, Ticket

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
    """(row, seed) of each trial that crashed, and the crash in one line."""
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
    ends the run. The caller owns the experiment (`owned`). Raises `SpecError` for a study that cannot be
    opened.
    """
    return _Coordinator(plan, home, launcher, record, StudyMirror(experiment, home, storage), watch).run()


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
        self._unfinished = {trial.evaluate_key for trial in plan if not self._is_finished(trial)}
        self._planned = len({trial.evaluate_key for trial in plan})
        self._waiting: list[TrialSpec] = []
        self._flying: dict[str | None, Ticket] = {}
        """By train key: one folder is filled by one worker at a time."""
        self._summary = Summary()

    def run(self) -> Summary:
        for trial in self._plan:
            if trial.evaluate_key not in self._unfinished:
                self._summary.already_done += 1
                self._record.sync(trial)
        self._waiting = self._study.pending(self._plan, self._unfinished)
        recorded_at = time.monotonic()
        self._submit()
        while self._flying:
            self._show()
            for outcome in self._launcher.wait(_SECONDS_BETWEEN_LOOKS):
                self._end(outcome)
            self._submit()
            if time.monotonic() - recorded_at > _SECONDS_BETWEEN_RECORDS:
                for trial in self._launcher.running:
                    self._record.sync(trial)
                recorded_at = time.monotonic()
        self._show()
        return self._summary

    def _submit(self) -> None:
        """Fill the launcher's free places."""
        while self._launcher.has_room and (trial := self._next()) is not None:
            ticket = self._study.start(trial)
            if self._is_finished(trial):  # as another row's, in another experiment, or before the study was lost
                self._tell(ticket)
            else:
                self._flying[trial.train_key] = ticket
                self._launcher.submit(trial)

    def _next(self) -> TrialSpec | None:
        """The first trial whose folder is free: one that shares it waits, and trains nothing then."""
        for index, trial in enumerate(self._waiting):
            if trial.train_key not in self._flying:
                return self._waiting.pop(index)
        return None

    def _end(self, outcome: Outcome) -> None:
        ticket = self._flying.pop(outcome.trial.train_key)
        if outcome.error is None:
            self._summary.ran += 1
            self._unfinished.discard(ticket.trial.evaluate_key)
            self._tell(ticket)
        else:
            self._crashed(ticket, outcome.error, outcome.trace)
        self._record.sync(ticket.trial)

    def _tell(self, ticket: Ticket) -> None:
        trial, folder = ticket.trial, self._folder(ticket.trial)
        evaluation = folder.evaluation(str(trial.evaluate_key))
        if evaluation is not None:
            self._study.tell_done(ticket, evaluation, folder.curves.points())
            return
        training = folder.training()
        assert training is not None
        reason = str(training.reason)
        self._summary.diverged[trial.row, trial.seed] = reason
        self._study.tell_failed(ticket, "diverged", reason)

    def _crashed(self, ticket: Ticket, error: str, trace: str) -> None:
        trial = ticket.trial
        self._folder(trial).add_failure(error, trace)
        self._summary.failures[trial.row, trial.seed] = error
        self._study.tell_failed(ticket, "failed", error)
        _log.warning("row %s, seed %d: %s", trial.row, trial.seed, error)

    def _show(self) -> None:
        finished, failed = self._planned - len(self._unfinished), len(self._summary.failures)
        self._watch(Progress(self._planned, finished, failed, self._launcher.running))

    def _is_finished(self, trial: TrialSpec) -> bool:
        return self._folder(trial).finished(str(trial.evaluate_key))

    def _folder(self, trial: TrialSpec) -> TrialFolder:
        return TrialFolder(self._home, str(trial.train_key))
