"""The Optuna study of an experiment: a mirror of the trial folders, which alone decide what is to do.

Rows are not parameters. Each (row, seed, evaluate key) has one Optuna trial, enqueued with user attributes;
a crash is a FAIL, and trying again is a trial of its own that names it. One that is interrupted stays RUNNING
and is finished under its own number, unless the experiment no longer asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, TypeAlias

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from framework.errors import SpecError
from framework.passwords import without_password
from framework.plan import Plan
from framework.spec import ExperimentSpec, TrialSpec
from framework.study.ending import Ending

Cell: TypeAlias = tuple[str, int, str | None]
"""Row, seed and evaluate key."""


class StudyMirror:
    """One coordinator's view of the study. Nobody else writes to it meanwhile.

    Once the study is open, every method may be called again after it failed: what had arrived is not sent twice.
    """

    def __init__(self, experiment: ExperimentSpec, home: Path, storage: str | None) -> None:
        """Open the study, or make it. Raises `SpecError` for a storage that cannot be opened."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._name = experiment.name
        self._asked_for = {
            (name, seed) for name, row in experiment.rows.items() for seed in row.seeds or experiment.seeds
        }
        self._journal = home / "studies" / f"{experiment.name}.journal"
        self._storage = storage
        self._started: dict[Cell, int] = {}
        """Optuna's ids of the trials that this coordinator runs or ran."""
        try:
            self.reopen()
        except Exception as error:  # Optuna's, SQLAlchemy's, a driver's: whatever a broken study raises
            raise SpecError(
                f"the Optuna study at {self.shown} cannot be opened: {in_short(error)}. It can be rebuilt: move it "
                "away, and the same command fills a new one from the trials' folders",
                "--storage" if storage else "",
            ) from error

    @property
    def shown(self) -> str:
        """Where the study is, without a password."""
        return without_password(self._storage or str(self._journal))

    def reopen(self) -> None:
        """Open the study afresh, and read what it holds. Raises whatever Optuna raises, as do all that follow."""
        self._study = optuna.create_study(
            study_name=self._name,
            storage=_journal(self._journal) if self._storage is None else self._storage,
            load_if_exists=True,
            direction="minimize",
            sampler=_NothingToSample(),
        )
        self._known = self._by_cell()

    def pending(self, plan: Plan, unfinished: Set[str | None]) -> list[TrialSpec]:
        """Give the trials whose outcome the study does not hold yet, interrupted ones first. Asks nobody.

        `unfinished` are the evaluate keys whose folders are not done; others are given only if the study has
        missed their end, to be told without running.
        """
        planned = {_cell(trial): trial for trial in plan}
        interrupted = self._interrupted()
        first = sorted(planned.keys() & interrupted.keys(), key=lambda cell: interrupted[cell].number)
        rest = [
            cell
            for cell, trial in planned.items()
            if cell not in interrupted
            and (trial.evaluate_key in unfinished or not any(map(_is_final, self._known.get(cell, ()))))
        ]
        return [planned[cell] for cell in (*first, *rest)]

    def withdraw(self, plan: Plan) -> None:
        """End the interrupted trials that the experiment no longer asks for."""
        planned = set(map(_cell, plan))
        chosen = {(trial.row, trial.seed) for trial in plan}
        for cell, found in self._interrupted().items():
            place = cell[:2]
            # Gone from the experiment, or asked for under other keys by now. What is merely not chosen waits.
            if place not in self._asked_for or (place in chosen and cell not in planned):
                self._tell(self._live(found), TrialState.FAIL, {"status": "withdrawn"})

    def start(self, trial: TrialSpec) -> None:
        """Have an Optuna trial run: the one that was interrupted, or a new one."""
        cell = _cell(trial)
        earlier = self._known.get(cell, [])
        if earlier and earlier[-1].state == TrialState.RUNNING:
            self._started[cell] = earlier[-1]._trial_id
            return
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
        self._started[cell] = self._study.ask()._trial_id

    def end(self, trial: TrialSpec, ending: Ending) -> None:
        """Finish a trial that was started; its dev curve becomes Optuna's intermediate values.

        One without a value is a FAIL, whose attributes say why.
        """
        found = self._study._storage.get_trial(self._started[_cell(trial)])
        if found.state.is_finished():
            return  # told before, by a call that failed only afterwards
        live = self._live(found)
        for step, perplexity in ending.curve:
            if step not in found.intermediate_values:
                live.report(perplexity, step)
        reason = {} if ending.reason is None else {"reason": ending.reason}
        state = TrialState.FAIL if ending.value is None else TrialState.COMPLETE
        self._tell(live, state, {"status": ending.status, **reason, **ending.metrics}, ending.value)

    def _tell(
        self, live: optuna.trial.Trial, state: TrialState, attributes: Mapping[str, Any], value: float | None = None
    ) -> None:
        for key, attribute in attributes.items():
            live.set_user_attr(key, attribute)
        self._study.tell(live, value, state=state)

    def _live(self, found: FrozenTrial) -> optuna.trial.Trial:
        return optuna.trial.Trial(self._study, found._trial_id)

    def _interrupted(self) -> dict[Cell, FrozenTrial]:
        return {cell: found[-1] for cell, found in self._known.items() if found[-1].state == TrialState.RUNNING}

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
    return found.state == TrialState.COMPLETE or found.user_attrs.get("status") in ("done", "diverged")


def in_short(error: Exception) -> str:
    """One line; Optuna's own error for a database in trouble does not say which trouble."""
    error = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return f"{type(error).__name__}: {error}".partition("\n")[0]


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
