"""A trial's run in MLflow, kept equal to its folder: whatever is missing is sent, nothing twice."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, TypeVar

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run

from framework.curves import CurveReader
from framework.journal import Evaluation, Status, TrainingResult, TrialFolder
from framework.record.known_run import KnownRun, recordable
from framework.record.params import flat_params
from framework.spec import TrialSpec

MOST_METRICS: Final = 1000
MOST_PARAMS: Final = 100
"""Of one call, for MLflow."""

MLFLOW_STATUS: Final[Mapping[Status, str]] = {
    "done": "FINISHED",
    "diverged": "FAILED",
    "failed": "FAILED",
    "running": "RUNNING",
    "to do": "KILLED",  # begun, since it has a run, and nobody works on it
}

T = TypeVar("T")


class TrialRun(KnownRun):
    """What MLflow has of a trial: asked once for each curve, and then remembered."""

    def __init__(self, client: MlflowClient, run: Run) -> None:
        super().__init__(client, run)
        self._params = set(run.data.params)
        self._curves: CurveReader | None = None
        self._last_time: float | None = None
        self._histories: dict[str, dict[int, float]] = {}

    def update(self, trial: TrialSpec, folder: TrialFolder, status: Status) -> None:
        """Send what the folder has and MLflow has not."""
        assert trial.evaluate_key is not None
        training, failure = folder.training(), folder.failure()
        if self._curves is None:
            self._curves = folder.curves.follow()
        points = self._curves.more()
        evaluation = folder.evaluation(trial.evaluate_key)
        self._send_params(flat_params(trial))
        self.write("spec.json", trial.model_dump_json(indent=2))
        new = {  # a step that was run again after a kill stands twice in the curves
            (name, point.step): Metric(name, value, int(point.time * 1000), point.step)
            for point in points
            for name, value in _recordable(point.values).items()
            if point.step not in self._sent(name)
        }
        self._send_metrics(new.values())
        if points:
            self._last_time = points[-1].time
        # A millisecond after the curves, so that the scores of the table are the run's latest values.
        ended_at = int((self._last_time or time.time()) * 1000) + 1
        if training is not None:
            self._send_metrics(
                Metric(name, value, ended_at, training.steps)
                for name, value in _recordable(_scores(training, evaluation)).items()
                if self._sent(name).get(training.steps) != value
            )
            environment = {
                "training": training.environment,
                "evaluation": evaluation.environment if evaluation else None,
            }
            self.write("environment.json", json.dumps(environment, indent=2))
        reason = training.reason if training is not None else None
        if failure is not None and status == "failed":
            reason = failure.error
            self.write("failure.txt", f"{failure.error}\n\n{failure.trace}")
        self.set_tags({"ablation.status": status, "ablation.reason": reason, **_findings(training, evaluation)})
        self.set_status(MLFLOW_STATUS[status], ended_at)

    def interrupt(self) -> None:
        """Say that nothing works on the trial any more."""
        self.set_tags({"ablation.status": "to do"})
        self.set_status(MLFLOW_STATUS["to do"])

    def _send_params(self, params: Mapping[str, str]) -> None:
        missing = [Param(name, value) for name, value in params.items() if name not in self._params]
        for batch in _batches(missing, MOST_PARAMS):
            self._client.log_batch(self.id, params=batch, synchronous=True)
            self._params.update(param.key for param in batch)

    def _send_metrics(self, metrics: Iterable[Metric]) -> None:
        for batch in _batches(metrics, MOST_METRICS):
            self._client.log_batch(self.id, metrics=batch, synchronous=True)
            for metric in batch:
                self._sent(metric.key)[metric.step] = metric.value

    def _sent(self, name: str) -> dict[int, float]:
        """The values that MLflow has of a curve, by step.

        Its history is asked, not the run for the names of its curves: MLflow commits points before it commits that
        there is such a curve, and a kill may come between the two.
        """
        if name not in self._histories:
            history = self._client.get_metric_history(self.id, name)
            self._histories[name] = {metric.step: metric.value for metric in history}
        return self._histories[name]


def _recordable(values: Mapping[str, float]) -> dict[str, float]:
    """Names that MLflow takes, and numbers that it keeps: it would turn an infinity into 1.8e308."""
    return {recordable(name): value for name, value in values.items() if math.isfinite(value)}


def _scores(training: TrainingResult, evaluation: Evaluation | None) -> dict[str, float]:
    costs = {"parameters", "seconds", "peak_memory_bytes"}
    return {**training.model_dump(include=costs), **(evaluation.metrics if evaluation else {})}


def _findings(training: TrainingResult | None, evaluation: Evaluation | None) -> dict[str, str | None]:
    """What is no number of every trial: where it diverged, and the scorers' signatures."""
    found = {f"ablation.detail.{name}": text for name, text in evaluation.details.items()} if evaluation else {}
    names = ("diverged_at_step", "last_finite_loss")
    values = {name: getattr(training, name) for name in names} if training else dict.fromkeys(names)
    return found | {f"ablation.{name}": None if value is None else str(value) for name, value in values.items()}


def _batches(items: Iterable[T], size: int) -> Iterable[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
