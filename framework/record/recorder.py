"""An experiment's mirror in MLflow: an experiment, a parent run, and a run per trial.

The trials' folders are the truth. Whatever fails here is told once, tried again later, and never stops
training; what MLflow misses meanwhile is sent when it is back.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from mlflow.exceptions import MlflowException

from framework.record.breaker import Breaker
from framework.record.mirror import Mirror, Place, place_of
from framework.record.store import Store, in_short
from framework.spec import ExperimentSpec, TrialSpec

logger = logging.getLogger(__name__)

_REFUSALS: Final = ("INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST", "INVALID_STATE")
"""Errors of MLflow about one run, such as one that was deleted; the next run may well be taken."""


class Recorder:
    """Mirrors one experiment. Only the process that coordinates the experiment may have one.

    Nothing but the constructor raises: it raises `SpecError` for an address that cannot be used.
    """

    def __init__(
        self,
        home: Path,
        tracking: str | None,
        experiment: ExperimentSpec,
        plan: Sequence[TrialSpec],
        resolved: str,
        plugins: Sequence[Mapping[str, Any]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the store; `tracking` None is a SQLite file in `home`.

        `plan` is the whole experiment's, also where only some of it is run: the parent run shows all of it.
        `resolved` is the experiment as YAML with everything filled in, `plugins` where each plugin comes
        from; both are kept with the parent run.
        """
        self._name = experiment.name
        self._plan = [trial for trial in plan if trial.evaluate_key is not None]
        self._twins: dict[str, list[TrialSpec]] = {}
        for trial in self._plan:
            self._twins.setdefault(str(trial.evaluate_key), []).append(trial)
        self._store = Store.at(tracking, home)
        self._client = self._store.open()
        self._breaker = Breaker(clock)
        self._mirror: Mirror | None = None
        self._unsent: dict[Place, TrialSpec] = {}
        self._files = {"experiment.yaml": resolved, "plugins.json": json.dumps(list(plugins), indent=2)}
        self._status = "RUNNING"
        self._parent_is_sent = False

    @property
    def behind(self) -> bool:
        """Whether something that is known here has not reached MLflow."""
        return bool(self._unsent) or not self._parent_is_sent

    def sync(self, trial: TrialSpec) -> None:
        """Bring a trial's run up to date with its folder.

        Rows that ask for the very same trial have runs of their own, which follow. A trial that has not begun
        gets no run, and neither does one without a corpus.
        """
        if trial.evaluate_key is not None:
            twins = self._twins.get(trial.evaluate_key, ())
            self._unsent |= {place_of(each): each for each in (trial, *twins)}
            self._send()

    def sync_all(self) -> None:
        """Bring every planned trial up to date; of runs that nobody works on any more, say so."""
        self._unsent |= {place_of(trial): trial for trial in self._plan}
        self._send()

    def table(self, markdown: str, csv: str) -> None:
        """Keep the table with the parent run, in place of an earlier one."""
        self._files |= {"table.md": markdown, "table.csv": csv}
        self._parent_is_sent = False
        self._send()

    def close(self, status: Literal["FINISHED", "FAILED", "KILLED"]) -> None:
        """Say how the experiment ended, with one last try at whatever is unsent, pause or not."""
        self._status = status
        self._parent_is_sent = False
        self._unsent |= {place_of(trial): trial for trial in self._plan}
        self._breaker.let_one_through()
        self._send()
        if self.behind:
            logger.warning("%s is behind the trials' folders: `ablate sync` brings it up to date", self._store.shown)

    def _send(self) -> None:
        if self._breaker.is_open:
            return
        try:
            if self._mirror is None:
                self._mirror = Mirror(self._client, self._store, self._name, self._plan)
            refusal = self._send_trials(self._mirror)
            for name, content in self._files.items():
                self._mirror.parent.write(name, content)
            self._mirror.parent.set_status(self._status)
            self._parent_is_sent = True
            if refusal is not None:
                raise refusal
        except Exception as error:  # in whatever way a mirror breaks, it stops no training
            self._fail(error)
        else:
            if self._breaker.has_tripped:
                logger.warning("MLflow at %s is up to date again", self._store.shown)
            self._breaker.reset()

    def _send_trials(self, mirror: Mirror) -> MlflowException | None:
        """Send what is unsent; a run that MLflow refuses keeps no other from being sent, and is returned."""
        refusal = None
        for place, trial in list(self._unsent.items()):
            try:
                mirror.send(trial)
            except MlflowException as error:
                if error.error_code not in _REFUSALS:
                    raise
                refusal = error
            else:
                del self._unsent[place]
        return refusal

    def _fail(self, error: Exception) -> None:
        if not self._breaker.has_tripped:
            logger.warning(
                "MLflow at %s fails (%s): training goes on, and what is missing is sent once it answers",
                self._store.shown,
                in_short(error),
            )
        logger.debug("MLflow's error", exc_info=error)
        self._breaker.trip()
        self._mirror = None  # a call that failed may have arrived all the same, so MLflow is asked again
