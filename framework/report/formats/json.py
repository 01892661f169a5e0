"""The report as JSON, for other programs: all that is known of each trial, or of each row."""

from __future__ import annotations

import json
from typing import Any

from framework.report.collect import DETAIL, metric_names
from framework.report.table import Report


def trials_json(report: Report) -> str:
    """A list with an object per trial, in the plan's order; null is what is not known, and no number is NaN."""
    metrics = metric_names(report.trials)
    details = [name for name in report.trials.columns if name.startswith(DETAIL)]
    objects = []
    for trial, line in zip(report.plan, report.trials.iter_rows(named=True), strict=True):
        scores = {name: line.pop(name) for name in metrics}
        words = {name.removeprefix(DETAIL): line.pop(name) for name in details}
        objects.append(
            {
                **line,
                "changes": trial.changes,
                "metrics": {name: score for name, score in scores.items() if score is not None},
                "details": {name: text for name, text in words.items() if text is not None},
            }
        )
    return _dumped(objects)


def rows_json(report: Report) -> str:
    """A list with an object per row, in the experiment's order: n, means, intervals, differences, keys."""
    return _dumped(report.rows.to_dicts())


def _dumped(objects: list[dict[str, Any]]) -> str:
    return json.dumps(objects, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
