"""The report as CSV, a line per trial or per row: equal experiments give equal bytes.

Times, memory, devices and paths are left out, because they differ when nothing else does.
"""

from __future__ import annotations

import csv
from io import StringIO

import polars as pl

from framework.report.collect import metric_names
from framework.report.table import Report

_MEASURED_ANEW = ("seconds", "peak_memory_megabytes")


def trials_csv(report: Report) -> str:
    """A line per trial in the plan's order: keys and numbers, floats so that they read back the same."""
    names = ["row", "group", "seed", "status", "train_key", "evaluate_key", "parameters"]
    return _written(report.trials.select(names + metric_names(report.trials)))


def rows_csv(report: Report) -> str:
    """A line per row in the experiment's order: n, means, intervals, differences; keys separated by spaces."""
    keys = pl.col("train_keys", "evaluate_keys").list.join(" ")
    return _written(report.rows.drop(_MEASURED_ANEW).with_columns(keys))


def _written(frame: pl.DataFrame) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows(frame.iter_rows())
    return text.getvalue()
