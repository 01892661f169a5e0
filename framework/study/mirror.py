"""The Optuna study of an experiment: a mirror of the trial folders, which alone decide what is to do.

Rows are not parameters. Each (row, seed, evaluate key) has one Optuna trial, enqueued with user attributes;
a crash is a FAIL, and trying again is a trial of its own that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from framework.journal import Evaluation, Point
from framework.plan import Plan
from framework.spec import TrialSpec

Cell: TypeAlias = tuple[str, int, str | None]
OPEN = (TrialState.WAITING, TrialState.RUNNING)


@dataclass(frozen=True, slots=True)
class Ticket:
    """An Optuna trial that is running, and what is to be run for it."""

    trial: TrialSpec
    live: optuna.trial.Trial


class StudyMirror:
    """One coordinator's view of the study. Nobody else writes to it meanwhile."""

    def __init__(self, name: str, home: Path, storage: str | None) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(
            study_name=name,
            storage=_journal(home, name) if storage is None else storage,
            load_if_exists=True,
            direction="minimize",
            sampler=_NothingToSample(),
        )

    def tickets(self, plan: Plan, unfinished: frozenset[str]) -> Iterator[Ticket]:
        """Hand out the trials whose outcome the study does not hold yet, interrupted ones first.

        `unfinished` are the evaluate keys whose folders are not done; the others are handed out only if the
        study has missed their end, to be told without running.
        """
        planned = {_cell(trial): trial for trial in plan}
        known = self._by_cell()
        interrupted = []
        for cell, trials in known.items():
            for found in trials:
                if found.state == TrialState.RUNNING:
                    if cell in planned:
                        interrupted.append(Ticket(planned[cell], self._live(found)))
                    else:
                        self._tell(self._live(found), TrialState.FAIL, {"status": "withdrawn"})
        for cell, trial in planned.items():
            trials = known.get(cell, [])
            if any(found.state in OPEN for found in trials):
                continue
            told = any(_is_final(found) for found in trials)
            if not told or trial.evaluate_key in unfinished:
                self._enqueue(trial, retry_of=trials[-1].number if trials else None)
        yield from sorted(interrupted, key=lambda ticket: ticket.live.number)
        for _ in range(len(self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,)))):
            asked = self._study.ask()
            cell = _cell_of(asked.user_attrs)
            if cell in planned:
                yield Ticket(planned[cell], asked)
            else:
                self._tell(asked, TrialState.FAIL, {"status": "withdrawn"})

    def tell_done(self, ticket: Ticket, evaluation: Evaluation, points: list[Point]) -> None:
        """Finish a trial with its scores; its dev curve becomes Optuna's intermediate values."""
        split = ticket.trial.evaluate.split
        metrics = evaluation.metrics
        value = metrics.get(f"{split}/perplexity", next(iter(metrics.values())))
        for point in points:
            if (curve := point.values.get("dev/perplexity")) is not None:
                ticket.live.report(curve, point.step)
        self._tell(ticket.live, TrialState.COMPLETE, {"status": "done", **metrics}, value)

    def tell_failed(self, ticket: Ticket, status: str, reason: str) -> None:
        """Finish a trial that has no scores: `diverged`, which is final, or `failed`."""
        self._tell(ticket.live, TrialState.FAIL, {"status": status, "reason": reason})

    def _tell(
        self, live: optuna.trial.Trial, state: TrialState, attributes: dict[str, Any], value: float | None = None
    ) -> None:
        for key, attribute in attributes.items():
            live.set_user_attr(key, attribute)
        self._study.tell(live, value, state=state)

    def _live(self, found: FrozenTrial) -> optuna.trial.Trial:
        return optuna.trial.Trial(self._study, found._trial_id)

    def _enqueue(self, trial: TrialSpec, retry_of: int | None) -> None:
        attributes = {
            "row": trial.row,
            "seed": trial.seed,
            "group": trial.group,
            "train_key": trial.train_key,
            "evaluate_key": trial.evaluate_key,
        }
        if retry_of is not None:
            attributes["retry_of"] = retry_of
        # Without parameters every trial looks like the last one, so that Optuna's own check must stay off.
        self._study.enqueue_trial({}, user_attrs=attributes, skip_if_exists=False)

    def _by_cell(self) -> dict[Cell, list[FrozenTrial]]:
        cells: dict[Cell, list[FrozenTrial]] = {}
        for found in self._study.get_trials(deepcopy=False):
            cells.setdefault(_cell_of(found.user_attrs), []).append(found)
        return cells


class _NothingToSample(optuna.samplers.BaseSampler):
    """No axis is searched: a suggestion that is asked for is a mistake of ours."""

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, Any]:
        return {}

    def sample_relative(self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, Any]) -> dict[str, Any]:
        return {}

    def sample_independent(self, *_: Any) -> Any:
        raise AssertionError("rows are not parameters")


def _cell(trial: TrialSpec) -> Cell:
    return trial.row, trial.seed, trial.evaluate_key


def _cell_of(attributes: dict[str, Any]) -> Cell:
    return attributes.get("row", ""), attributes.get("seed", -1), attributes.get("evaluate_key")


def _is_final(found: FrozenTrial) -> bool:
    return found.state == TrialState.COMPLETE or found.user_attrs.get("status") == "diverged"


def _journal(home: Path, name: str) -> optuna.storages.JournalStorage:
    """The journal file of one experiment, mended after a kill: only its coordinator, which we are, writes to it."""
    path = home / "studies" / f"{name}.journal"
    path.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{path}.lock").unlink(missing_ok=True)  # a killed writer leaves it, and the next one waits half a minute
    if path.exists():
        content = path.read_bytes()
        if not content.endswith(b"\n"):  # a torn last line would spoil the next one
            with path.open("r+b") as file:
                file.truncate(content.rfind(b"\n") + 1)
    return optuna.storages.JournalStorage(JournalFileBackend(str(path)))
