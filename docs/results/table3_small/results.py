"""The record and the experiment file → the report, without the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import framework as fw
from docs.results.table3_small.record import RECORD, finished, question
from framework.experiment import Experiment
from framework.identity import evaluate_key, train_key, weights_identity
from framework.plan import Plan
from framework.registry import Registry
from framework.report.summary import RowSummary
from framework.report.table import Report
from framework.spec import TrialSpec

EXPERIMENTS: Final = Path(__file__).parents[3] / "experiments"
SMALL: Final = EXPERIMENTS / "verses" / "table3-small.yaml"
PAPER: Final = EXPERIMENTS / "table3.yaml"
OWN: Final = "F"
"""The group of the rows that the paper does not have."""


@dataclass(frozen=True)
class Results:
    """What the page is made of."""

    report: Report
    base: TrialSpec
    paper_base: TrialSpec
    changes: Mapping[str, Mapping[str, object]]
    """By row, what it changes here."""
    paper_changes: Mapping[str, Mapping[str, object]]
    """By our row, what the paper's row changes at the paper's scale; none for group F."""
    earlier: int
    """Recorded trials that today's program would train under another key, because its code is another."""

    @property
    def paper(self) -> tuple[RowSummary, ...]:
        """The rows of the paper's table."""
        return tuple(summary for summary in self.report.summaries if summary.group != OWN)

    @property
    def own(self) -> tuple[RowSummary, ...]:
        """The rows of group F."""
        return tuple(summary for summary in self.report.summaries if summary.group == OWN)


def results(record: Path = RECORD) -> Results:
    """Read the record. It may be unfinished: a trial that it lacks is one to do."""
    small, paper = fw.load(SMALL), fw.load(PAPER)
    registry = small.registry
    found = finished(record, small.plan(), registry)
    data = next((trial.data_key for trial in found.values()), None)
    plan = tuple(
        _placed(trial, found.get(question(trial, trial.seed, registry)), data, registry) for trial in small.plan()
    )
    changes, paper_changes = _changes(small), _changes(paper)
    ours = [name for name, row in small.spec.rows.items() if row.group != OWN]
    theirs = [name for name, row in paper.spec.rows.items() if row.group != OWN]
    return Results(
        report=Report.build(small.spec, plan, record),
        base=_row(small.plan(), small.spec.baseline),
        paper_base=_row(paper.plan(), paper.spec.baseline),
        changes=changes,
        paper_changes={name: paper_changes[their] for name, their in zip(ours, theirs, strict=True)},
        earlier=sum(trial.train_key != _train_key(trial, data, registry) for trial in found.values()),
    )


def _placed(trial: TrialSpec, recorded: TrialSpec | None, data: str | None, registry: Registry) -> TrialSpec:
    """Give a planned trial the keys under which it was recorded, or would be."""
    if recorded is not None:
        keys = {name: getattr(recorded, name) for name in ("data_key", "train_key", "evaluate_key")}
    else:
        key = _train_key(trial, data, registry)
        keys = {
            "data_key": data,
            "train_key": key,
            "evaluate_key": None if key is None else evaluate_key(key, trial, registry),
        }
    return trial.model_copy(update=keys)


def _train_key(trial: TrialSpec, data: str | None, registry: Registry) -> str | None:
    return None if data is None else train_key(weights_identity(trial, data, registry), trial.seed)


def _changes(experiment: Experiment) -> dict[str, dict[str, object]]:
    return {trial.row: trial.changes for trial in experiment.plan()}


def _row(plan: Plan, name: str) -> TrialSpec:
    return next(trial for trial in plan if trial.row == name)
