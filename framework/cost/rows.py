"""Every row of a plan with its cost: counted anew each time, timed as far as something was measured."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from framework.contracts import Objective
from framework.cost.batch import TypicalBatch, typical_batch
from framework.cost.count import Count, Counting
from framework.cost.pace import Pace, pace_of_trials, pace_path, read_pace, write_pace
from framework.cost.probe import probe
from framework.cost.workload import probe_key
from framework.plan import Plan
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.trial import use_one_thread

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RowCost:
    """What each trial of a row costs."""

    steps: int
    evaluate_every: int
    batch: TypicalBatch
    """What it is counted for."""
    count: Count | None
    """Of an update; null where `uncounted` says why."""
    uncounted: str | None
    pace: Pace | None
    """Null where nothing was measured."""

    @property
    def training_flops(self) -> int | None:
        return None if self.count is None else self.steps * self.count.flops

    @property
    def memory_bytes(self) -> int | None:
        return None if self.count is None else self.count.state_bytes + self.count.activation_bytes

    @property
    def seconds(self) -> float | None:
        return None if self.pace is None else self.pace.trial(self.steps, self.evaluate_every)


def row_costs(plan: Plan, registry: Registry, home: Path, device: torch.device) -> dict[str, RowCost]:
    """Give every row's cost: by counting, and in seconds where trials are done or a probe was made before."""
    counting = Counting(registry)
    found = {}
    for row, trials in _by_row(plan):
        spec = trials[0]
        objective = _objective(spec, registry)
        batch = typical_batch(spec, objective, registry, home)
        pace = _pace(trials, objective, registry, home, device)
        found[row] = RowCost(
            spec.train.steps, spec.train.evaluate_every, batch, *_count(counting, spec, batch, objective), pace
        )
    return found


def probe_rows(
    plan: Plan, registry: Registry, home: Path, device: torch.device, watch: Callable[[str], None] = lambda _: None
) -> None:
    """Measure every row of which nothing is known, and keep what was found in the home, for later plans.

    The data must be prepared. `watch` is told each row. A row that cannot be measured is logged.
    """
    use_one_thread()  # as workers do
    for row, trials in _by_row(plan):
        if _pace(trials, _objective(trials[0], registry), registry, home, device) is not None:
            continue
        watch(row)
        try:
            pace = probe(trials[0], registry, home, device)
        except Exception as error:  # divergence, too little memory, a plugin's mistake: the other rows can be timed
            _log.warning("row %s cannot be timed: %s", row, _in_a_line(error))
        else:
            write_pace(pace_path(home, probe_key(trials[0], registry, device)), pace)


def _by_row(plan: Plan) -> Iterator[tuple[str, list[TrialSpec]]]:
    for row in dict.fromkeys(trial.row for trial in plan):
        yield row, [trial for trial in plan if trial.row == row]


def _pace(
    trials: list[TrialSpec], objective: Objective, registry: Registry, home: Path, device: torch.device
) -> Pace | None:
    of_trials = pace_of_trials(trials, objective, home, device)
    return of_trials or read_pace(pace_path(home, probe_key(trials[0], registry, device)))


def _count(
    counting: Counting, spec: TrialSpec, batch: TypicalBatch, objective: Objective
) -> tuple[Count | None, str | None]:
    """Count, or say in one line why that is impossible: plugins need not work without numbers."""
    try:
        return counting.of(spec, batch, objective), None
    except Exception as error:
        return None, _in_a_line(error)


def _in_a_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _objective(spec: TrialSpec, registry: Registry) -> Objective:
    objective: Objective = registry.plugin("objective", spec.train.objective.name)(spec.train.objective.options)
    return objective
