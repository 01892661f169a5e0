"""The plan and the trials' folders → a line per planned trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from framework.journal import TrialFolder, status
from framework.spec import TrialSpec

ENVIRONMENT: Final = ("torch", "device", "cpu_capability")
"""What changes the last digits: trials that differ in it are not compared without a warning."""

DETAIL: Final = "detail "
"""Begins the name of a column of words about a metric, such as `detail dev/bleu`, its signature."""

SCORED: Final = "scored"
"""The detail of a split that says which of its tokens entered the loss; figures of others do not compare."""

_FIXED: Final[dict[str, type[pl.DataType]]] = {
    "row": pl.String,
    "group": pl.String,
    "seed": pl.Int64,
    "status": pl.String,
    "train_key": pl.String,
    "evaluate_key": pl.String,
    "parameters": pl.Int64,
    "seconds": pl.Float64,
    "peak_memory_bytes": pl.Int64,
    "reason": pl.String,
    "data": pl.String,
    **dict.fromkeys(ENVIRONMENT, pl.String),
}


def trials(plan: tuple[TrialSpec, ...], home: Path, parameters: Mapping[str, int] | None = None) -> pl.DataFrame:
    """Read where every planned trial stands, in the plan's order.

    Columns: row, group, seed, status (as `framework.journal.status` has it), train_key, evaluate_key,
    parameters (of the trained model, or else from `parameters` by row), seconds of training,
    peak_memory_bytes, reason (why it diverged or failed), data (what it held, in words), torch, device, a
    float column for perplexity, every metric that the plan names and every one that a trial has (null where
    there is none), and a text column for every metric's detail.
    """
    lines = [_line(trial, home, parameters or {}) for trial in plan]
    metrics = {name for _, scores, _ in lines for name in scores}
    for trial in plan:
        metrics |= {f"{trial.evaluate.split}/{name}" for name in ("perplexity", *(trial.evaluate.metrics or ()))}
    details = {f"{DETAIL}{name}" for _, _, words in lines for name in words}
    schema: dict[str, type[pl.DataType]] = dict(_FIXED)
    schema |= dict.fromkeys(sorted(metrics), pl.Float64)
    schema |= dict.fromkeys(sorted(details), pl.String)
    rows = [
        {**fixed, **scores, **{f"{DETAIL}{name}": text for name, text in words.items()}}
        for fixed, scores, words in lines
    ]
    return pl.from_dicts([dict.fromkeys(schema) | row for row in rows], schema=schema)


def metric_names(frame: pl.DataFrame) -> list[str]:
    """The columns of `trials` that hold metrics."""
    return [name for name in frame.columns if name not in _FIXED and not name.startswith(DETAIL)]


def _line(
    trial: TrialSpec, home: Path, parameters: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, float], dict[str, str]]:
    """The fixed columns, the metrics and the details of one trial."""
    line: dict[str, Any] = {
        "row": trial.row,
        "group": trial.group,
        "seed": trial.seed,
        "status": status(home, trial.train_key, trial.evaluate_key),
        "train_key": trial.train_key,
        "evaluate_key": trial.evaluate_key,
        "parameters": parameters.get(trial.row),
    }
    if trial.train_key is None or trial.evaluate_key is None:
        return line, {}, {}
    folder = TrialFolder(home, trial.train_key)
    if (training := folder.training()) is not None:
        line |= {
            "parameters": training.parameters,
            "seconds": training.seconds,
            "peak_memory_bytes": training.peak_memory_bytes,
            "reason": training.reason,
            "data": ", ".join(f"{name} {count}" for name, count in training.data.items()),
            **{name: training.environment.get(name) for name in ENVIRONMENT},
        }
    if line["status"] == "failed" and (failure := folder.failure()) is not None:
        line["reason"] = failure.error
    if (evaluation := folder.evaluation(trial.evaluate_key)) is None:
        return line, {}, {}
    return line, evaluation.metrics, evaluation.details
