"""What MLflow has of an experiment: asked on attaching, and thrown away when a call fails."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from typing import Final

from mlflow import MlflowClient
from mlflow.entities import Run

from framework.journal import Status, TrialFolder, status
from framework.record.known_run import KnownRun
from framework.record.store import Store
from framework.record.trial_run import MLFLOW_STATUS, TrialRun
from framework.spec import TrialSpec

logger = logging.getLogger(__name__)

Place = tuple[str, int, str]
"""A trial, by row, seed and evaluate key: what its run is found by."""

_PARENT: Final = "ablation.parent"
_PARENT_RUN: Final = "mlflow.parentRunId"
_HOME: Final = "ablation.home"
"""The host and the home that a run was last written from: several homes may share one tracking server."""


def place_of(trial: TrialSpec) -> Place:
    """Where a trial that has its keys stands."""
    assert trial.evaluate_key is not None
    return trial.row, trial.seed, trial.evaluate_key


class Mirror:
    """An MLflow experiment, its parent run, and a run per trial. Every method raises what MLflow raises."""

    def __init__(self, client: MlflowClient, store: Store, name: str, plan: Sequence[TrialSpec]) -> None:
        """Attach to what there is, make what there is not, and end this home's runs that the plan no longer names."""
        self._client = client
        self._home = store.home
        self._home_tag = f"{os.uname().nodename}:{store.home.resolve()}"
        self._experiment_id = _experiment(client, store, name)
        parent = None
        self._runs: dict[Place, Run] = {}
        self._trials: dict[Place, TrialRun] = {}
        self._settled: set[Place] = set()
        for run in _runs(client, self._experiment_id):
            if run.data.tags.get(_PARENT) == name:
                parent = run
            elif place := _place_of_run(run):
                self._runs[place] = run
        if parent is None:
            parent = client.create_run(self._experiment_id, tags={_PARENT: name}, run_name=name)
        self.parent = KnownRun(client, parent)
        for place in self._runs.keys() - {place_of(trial) for trial in plan}:
            if self._runs[place].info.status == "RUNNING" and not self._is_anothers(place):
                TrialRun(client, self._runs[place]).interrupt()

    def send(self, trial: TrialSpec) -> None:
        """Bring a trial's run up to date with its folder; what has not begun gets no run."""
        assert trial.train_key is not None
        place, folder = place_of(trial), TrialFolder(self._home, trial.train_key)
        if place in self._settled:
            return
        standing = status(self._home, trial.train_key, trial.evaluate_key)
        is_final = standing in ("done", "diverged")
        if is_final and place not in self._trials and self._is_complete(place, standing):
            self._settled.add(place)
            return
        is_ours = place in self._runs and not self._is_anothers(place)
        if standing == "to do" and not is_ours and not _is_half_trained(folder):
            return
        names = ("row", "seed", "group", "train_key", "evaluate_key")
        tags = {f"ablation.{name}": str(value) for name in names if (value := getattr(trial, name)) is not None}
        tags |= {_HOME: self._home_tag, _PARENT_RUN: self.parent.id}
        if place not in self._runs:
            name = f"{trial.row} seed {trial.seed}"
            self._runs[place] = self._client.create_run(self._experiment_id, _began(folder), tags, name)
        if place not in self._trials:
            self._trials[place] = TrialRun(self._client, self._runs[place])
        self._trials[place].set_tags(tags)
        self._trials[place].update(trial, folder, standing)
        if is_final:
            self._settled.add(place)
            del self._trials[place]  # with every point that it has sent

    def _is_anothers(self, place: Place) -> bool:
        """Whether a run was last written from another home, where it may still be running."""
        return self._runs[place].data.tags.get(_HOME, self._home_tag) != self._home_tag

    def _is_complete(self, place: Place, standing: Status) -> bool:
        """Whether an earlier coordinator sent all of a trial: a run's status is the last thing that is sent."""
        run = self._runs.get(place)
        return (
            run is not None
            and run.info.status == MLFLOW_STATUS[standing]
            and run.data.tags.get("ablation.status") == standing
            and run.data.tags.get(_PARENT_RUN) == self.parent.id  # the parent may have been deleted since
        )


def _experiment(client: MlflowClient, store: Store, name: str) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        return client.create_experiment(name, artifact_location=store.artifacts(name))
    experiment_id: str = found.experiment_id
    if found.lifecycle_stage == "deleted":
        logger.warning("experiment %s was deleted in MLflow and is restored", name)
        client.restore_experiment(experiment_id)
    return experiment_id


def _runs(client: MlflowClient, experiment_id: str) -> Iterator[Run]:
    token = None
    while True:
        page = client.search_runs([experiment_id], page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _place_of_run(run: Run) -> Place | None:
    row, seed, key = (run.data.tags.get(f"ablation.{name}") for name in ("row", "seed", "evaluate_key"))
    return (row, int(seed), key) if row and seed and key else None


def _is_half_trained(folder: TrialFolder) -> bool:
    return folder.training() is None and bool(folder.curves.points())


def _began(folder: TrialFolder) -> int:
    """When, in milliseconds, as near as the curves tell."""
    points = folder.curves.points()
    return int((points[0].time if points else time.time()) * 1000)
