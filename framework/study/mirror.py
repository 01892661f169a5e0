"""The Optuna study of an experiment: a mirror of the trial folders, which alone decide what is to do.

Rows are not parameters. Each (row, seed, evaluate key) has one Optuna trial, enqueued with user attributes;
a crash is a FAIL, and trying again is a trial of its own that names it. One that is interrupted stays RUNNING
and is finished under its own number, unless the experiment no longer asks for it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from framework.curves import Point
from framework.errors import SpecError
from framework.journal import Evaluation
from framework.plan import Plan
from framework.spec import ExperimentSpec, TrialSpec

Cell: TypeAlias = tuple[str, int, str | None]
"""Row, seed and evaluate key."""

_CURVE: Final = "dev/perplexity"


@dataclass(frozen=True, slots=True)
class Ticket:
    """An Optuna trial that is running, and what is to be run for it."""

    trial: TrialSpec
    live: optuna.trial.Trial


class StudyMirror:
    """One coordinator's view of the study. Nobody else writes to it meanwhile."""

    def __init__(self, experiment: ExperimentSpec, home: Path, storage: str | None) -> None:
        """Open the study, or make it. Raises `SpecError` for a storage that cannot be opened."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._asked_for = {
            (name, seed) for name, row in experiment.rows.items() for seed in row.seeds or experiment.seeds
        }
        journal = home / "studies" / f"{experiment.name}.journal"
        try:
            self._study = optuna.create_study(
                study_name=experiment.name,
                storage=_journal(journal) if storage is None else storage,
                load_if_exists=True,
                direction="minimize",
                sampler=_NothingToSample(),
            )
            self._known = self._by_cell()
        except Exception as error:  # Optuna's, SQLAlchemy's, a driver's: whatever a broken study raises
            words = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise SpecError(
                f"the Optuna study at {storage or journal} cannot be opened: {words}. It can be rebuilt: move it "
                "away, and the same command fills a new one from the trials' folders",
                "--storage" if storage else "",
            ) from error

    def pending(self, plan: Plan, unfinished: Set[str | None]) -> list[TrialSpec]:
        """Give the trials whose outcome the study does not hold yet, interrupted ones first.

        `unfinished` are the evaluate keys whose folders are not done; others are given only if the study has
        missed their end, to be told without running. Trials that the experiment no longer asks for end here.
        """
        planned = {_cell(trial): trial for trial in plan}
        chosen = {(trial.row, trial.seed) for trial in plan}
        interrupted = {cell: found[-1] for cell, found in self._known.items() if found[-1].state == TrialState.RUNNING}
        for cell, found in interrupted.items():
            place = cell[:2]
            # Gone from the experiment, or asked for under other keys by now. What is merely not chosen waits.
            if place not in self._asked_for or (place in chosen and cell not in planned):
                self._tell(self._live(found), TrialState.FAIL, {"status": "withdrawn"})
        first = sorted(planned.keys() & interrupted.keys(), key=lambda cell: interrupted[cell].number)
        rest = [
            cell
            for cell, trial in planned.items()
            if cell not in interrupted
            and (trial.evaluate_key in unfinished or not any(map(_is_final, self._known.get(cell, ()))))
        ]
        return [planned[cell] for cell in (*first, *rest)]

    def start(self, trial: TrialSpec) -> Ticket:
        """Have an Optuna trial run: the one that was interrupted, or a new one."""
        earlier = self._known.get(_cell(trial), [])
        if earlier and earlier[-1].state == TrialState.RUNNING:
            return Ticket(trial, self._live(earlier[-1]))
        attributes = {
            "row": trial.row,
            "seed": trial.seed,
            "group": trial.group,
            "train_key": trial.train_key,
            "evaluate_key": trial.evaluate_key,
        }
        if earlier:
            attributes["retry_of"] = earlier[-1].number
        # Without parameters every trial looks like the last one, so that Optuna's own check must stay off.
        self._study.enqueue_trial({}, user_attrs=attributes, skip_if_exists=False)
        return Ticket(trial, self._study.ask())

    def tell_done(self, ticket: Ticket, evaluation: Evaluation, points: list[Point]) -> None:
        """Finish a trial with its scores; its dev curve becomes Optuna's intermediate values.

        Its value is the perplexity that was measured, or the curve's last where only other scores were asked
        for: the study minimises.
        """
        curve = [(point.step, point.values[_CURVE]) for point in points if _CURVE in point.values]
        for step, perplexity in curve:
            ticket.live.report(perplexity, step)
        value = evaluation.metrics.get(f"{ticket.trial.evaluate.split}/perplexity", curve[-1][1])
        self._tell(ticket.live, TrialState.COMPLETE, {"status": "done", **evaluation.metrics}, value)

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

    def _by_cell(self) -> dict[Cell, list[FrozenTrial]]:
        for _ in self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            self._study.ask()  # enqueued by a coordinator that was killed before it could start it
        cells: dict[Cell, list[FrozenTrial]] = {}
        for found in self._study.get_trials(deepcopy=False):
            if cell := _cell_of(found):
                cells.setdefault(cell, []).append(found)
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


def _cell_of(found: FrozenTrial) -> Cell | None:
    """Of one of our trials; a shared storage may hold others."""
    attributes = found.user_attrs
    return (attributes["row"], attributes["seed"], attributes["evaluate_key"]) if "row" in attributes else None


def _is_final(found: FrozenTrial) -> bool:
    return found.state == TrialState.COMPLETE or found.user_attrs.get("status") == "diverged"


def _journal(path: Path) -> optuna.storages.JournalStorage:
    """The journal file of one experiment, mended after a kill: only its coordinator, which we are, writes to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{path}.lock").unlink(missing_ok=True)  # a killed writer leaves it, and the next one waits half a minute
    if path.exists():
        content = path.read_bytes()
        if not content.endswith(b"\n"):  # a torn last line would spoil the next one
            with path.open("r+b") as file:
                file.truncate(content.rfind(b"\n") + 1)
    return optuna.storages.JournalStorage(JournalFileBackend(str(path)))
