"""An experiment after the paper's Table 3, and folders as trials leave them."""

from __future__ import annotations

from typing import Any

import pytest

from framework.journal import Evaluation, TrainingResult, TrialFolder
from framework.report import Report
from framework.spec import ExperimentSpec, TrialSpec

SECTIONS: dict[str, Any] = {
    "model": {"d_model": 64, "num_layers": 2, "d_ff": 128, "num_heads": 4},
    "data": {"corpus": {"name": "text_pairs", "options": {"path": "pairs.tsv"}}},
    "train": {"steps": 400, "batch_tokens": 1000},
    "evaluate": {},
}
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


@pytest.fixture(scope="session")
def experiment(make):
    return make(
        ExperimentSpec,
        name="table3",
        **SECTIONS,
        seeds=[1, 2, 3],
        rows={
            "base": {"reference": {"perplexity": 4.92, "bleu": 25.8, "parameters_millions": 65}},
            "h1": {"group": "A", "label": "1 head", "reference": {"perplexity": 5.29, "bleu": 24.9}},
            "N8": {"group": "C", "reference": {"perplexity": 4.88, "bleu": 25.5, "parameters_millions": 80}},
        },
    )


@pytest.fixture(scope="session")
def trial(make):
    """`trial("h1", 1)`: a planned trial; any field may be set."""

    def build(row, seed, **fields):
        keys = {"data_key": "data", "train_key": f"{row}-{seed}", "evaluate_key": f"{row}-{seed}-scores"}
        rest = {"experiment": "table3", "group": None, "changes": {}, **keys, **SECTIONS}
        return make(TrialSpec, row=row, seed=seed, **{**rest, **fields})

    return build


@pytest.fixture(scope="session")
def plan(experiment, trial):
    groups = {name: row.group for name, row in experiment.rows.items()}
    return tuple(trial(row, seed, group=groups[row]) for row in experiment.rows for seed in (1, 2, 3))


@pytest.fixture
def finish(tmp_path):
    """`finish(trial, perplexity=4.9, further={"accuracy": 0.9})`: leave the folder of a trial that ended well."""

    def write(trial, perplexity, bleu=None, signature=SIGNATURE, further=None, scored=None, **training):
        folder = TrialFolder(tmp_path, trial.train_key)
        result = {
            "status": "trained",
            "steps": 400,
            "parameters": 285_000,
            "seconds": 90.0,
            "peak_memory_bytes": 500_000_000,
            "data": {"train/pairs": 2000, "train/left_out": 3},
            "environment": {"torch": "2.13.0", "device": "cpu"},
        }
        folder.write_training(TrainingResult(**{**result, **training}))
        split = trial.evaluate.split
        scores = {"perplexity": perplexity, **({} if bleu is None else {"bleu": bleu}), **(further or {})}
        metrics = {f"{split}/{name}": score for name, score in scores.items()}
        details = {} if bleu is None else {f"{split}/bleu": signature}
        details |= {} if scored is None else {f"{split}/scored": scored}
        folder.write_evaluation(trial.evaluate_key, Evaluation(metrics=metrics, details=details))

    return write


@pytest.fixture
def diverge(tmp_path):
    def write(trial, reason="loss is inf at step 7"):
        result = TrainingResult(
            status="diverged", steps=7, parameters=285_000, seconds=1.0, peak_memory_bytes=1, reason=reason
        )
        TrialFolder(tmp_path, trial.train_key).write_training(result)

    return write


@pytest.fixture
def fail(tmp_path):
    def write(trial, error="OSError: no space left on device"):
        TrialFolder(tmp_path, trial.train_key).add_failure(error, trace="")

    return write


PERPLEXITIES = {"base": (4.90, 4.95, 4.92), "h1": (5.21, 5.30, 5.22), "N8": (5.05, 4.85, 5.10)}
BLEUS = {"base": (25.8, 25.5, 25.9), "h1": (24.9, 24.6, 25.2), "N8": (25.7, 25.9, 25.5)}


@pytest.fixture
def finished(plan, finish):
    """The whole plan, done."""
    for trial in plan:
        finish(trial, PERPLEXITIES[trial.row][trial.seed - 1], BLEUS[trial.row][trial.seed - 1])
    return plan


@pytest.fixture
def report(experiment, tmp_path):
    """`report(plan)`: what the folders say now."""
    return lambda plan, parameters=None: Report.build(experiment, plan, tmp_path, parameters)


@pytest.fixture
def report_of(make, trial, tmp_path):
    """The report of an experiment of one's own, with a base of one seed, nothing done."""

    def build(parameters, rows, report, model):
        sections = {**SECTIONS, "model": {**SECTIONS["model"], **model}}
        experiment = make(ExperimentSpec, name="table3", **sections, rows=rows, report=report)
        return Report.build(experiment, (trial("base", 1, **sections),), tmp_path, parameters)

    return build
