"""The trials as CSV: equal experiments give equal bytes."""

from __future__ import annotations

import csv
from io import StringIO

from framework.report.collect import metric_names
from framework.report.table import Report


def trials_csv(report: Report) -> str:
    """A line per trial in the plan's order: keys and numbers, floats so that they read back the same.

    Times, memory, devices and paths are left out, because they differ when nothing else does.
    """
    names = ["row", "group", "seed", "status", "train_key", "evaluate_key", "parameters"]
    names += metric_names(report.trials)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(report.trials.select(names).iter_rows())
    return text.getvalue()
