"""How fast a row's trials go: as those did that are done, or as a probe measured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final, Literal

import torch
from pydantic import ValidationError

from framework.contracts import Objective
from framework.data.prepared import PreparedData
from framework.files import write_whole
from framework.journal import Finding, TrialFolder
from framework.spec import TrialSpec
from framework.trial import data_folder, environment

FORWARD: Final = 1 / 3
"""Of an update, what the forward pass takes: the backward pass computes two products for each of its own."""


class Pace(Finding):
    """Seconds on one device, for a trial alone on it."""

    update: float
    point: float
    """Of a point of the dev curve."""
    evaluation: float
    """Of measuring the trained model."""
    source: Literal["trials", "probe"]

    def trial(self, steps: int, evaluate_every: int) -> float:
        """Seconds of a whole trial."""
        return steps * self.update + math.ceil(steps / evaluate_every) * self.point + self.evaluation


def pace_of_trials(trials: Iterable[TrialSpec], objective: Objective, home: Path, device: torch.device) -> Pace | None:
    """Give the median of a row's trials that were trained and measured on such a device, or None."""
    updates, evaluations = [], []
    for trial in trials:
        if trial.train_key is None or trial.evaluate_key is None:
            continue
        folder = TrialFolder(home, trial.train_key)
        training, evaluation = folder.training(), folder.evaluation(trial.evaluate_key)
        if training is None or evaluation is None or training.environment.get("device") != _name(device):
            continue
        updates.append(training.seconds / training.steps)
        evaluations.append(evaluation.seconds)
    if not updates:
        return None
    update = median(updates)
    point = forward_seconds(update, trial, objective, home, "dev")
    return Pace(update=update, point=point, evaluation=median(evaluations), source="trials")


def forward_seconds(update: float, spec: TrialSpec, objective: Objective, home: Path, split: str) -> float:
    """Seconds of reading a split once, from those of an update; 0 where its data is gone."""
    folder = data_folder(home, str(spec.data_key))
    if not folder.exists():
        return 0.0
    examples = PreparedData.open(folder).split(split)
    positions = int(objective.lengths(examples.source_lengths, examples.target_lengths).sum())
    return update * FORWARD * positions / spec.train.batch_tokens


def pace_path(home: Path, key: str) -> Path:
    return home / "cache" / "probe" / f"{key}.json"


def read_pace(path: Path) -> Pace | None:
    """Give what a probe has left, or None; a file that is damaged counts as none, and the next probe replaces it."""
    try:
        return Pace.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_pace(path: Path, pace: Pace) -> None:
    write_whole(path, pace.model_dump_json(indent=2))


def _name(device: torch.device) -> str:
    return environment(device)["device"]
