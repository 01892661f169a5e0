"""The table in Markdown, with what must be said as a list below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from framework.report.collect import metric_names
from framework.report.layout import MISSING, columns
from framework.report.table import Report


def markdown(report: Report) -> str:
    """Show every column that has something to say, and the trials with their keys."""
    shown = columns(report.summaries)
    said = [f"- {_literal(note)}" for note in report.notes]
    said += [f"- **warning:** {_literal(warning)}" for warning in report.warnings]
    rows = _table({column.title: column.cells for column in shown}, [column.is_figure for column in shown])
    return "\n".join([f"# {report.experiment.name}", "", *rows, "", *said, "", *_trials(report)]) + "\n"


def _trials(report: Report) -> list[str]:
    """A line per trial: its scores and the keys that tell it from every other."""
    names = ["row", "seed", "status", *metric_names(report.trials), "train_key", "evaluate_key"]
    trials = report.trials.select(names)
    cells = {
        name.replace("_", " "): tuple(
            MISSING if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
            for value in trials[name]
        )
        for name in names
    }
    return _table(cells, [trials[name].dtype.is_numeric() for name in names])


def _table(columns: Mapping[str, Iterable[str]], is_figure: Iterable[bool]) -> list[str]:
    return [
        _line(columns),
        _line("---:" if figure else ":---" for figure in is_figure),
        *(_line(cells) for cells in zip(*columns.values(), strict=True)),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_literal, cells))} |"


def _literal(text: str) -> str:
    """What Markdown would read as its own signs, shown as written."""
    return re.sub(r"([\\|*_`]|<(?=[A-Za-z/!?]))", r"\\\1", text).replace("\n", " ")
