"""The table in Markdown, with what must be said as a list below."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from framework.report.collect import metric_names
from framework.report.layout import MISSING, columns
from framework.report.table import Report


def markdown(report: Report) -> str:
    """Show every column that has something to say, and the trials with their keys."""
    shown = columns(report.summaries)
    said = [f"- {_literal(note)}" for note in report.notes]
    said += [f"- **warning:** {_literal(warning)}" for warning in report.warnings]
    lines = []
    for section in report.sections:
        if section.heading:
            lines.append(_line([f"**{_literal(section.heading)}**", *[""] * (len(shown) - 1)]))
        lines += [_line(_literal(column.cells[row]) for column in shown) for row in section.rows]
    rows = [*_head([column.title for column in shown], [column.is_figure for column in shown]), *lines]
    return "\n".join([f"# {report.experiment.name}", "", *rows, "", *said, "", *_trials(report)]) + "\n"


def _trials(report: Report) -> list[str]:
    """A line per trial: its scores and the keys that tell it from every other."""
    names = ["row", "seed", "status", *metric_names(report.trials), "train_key", "evaluate_key"]
    trials = report.trials.select(names)
    titles = [name.replace("_", " ") if name.endswith("_key") else name for name in names]
    head = _head(titles, [trials[name].dtype.is_numeric() for name in names])
    return head + [_line(map(_cell, line)) for line in trials.iter_rows()]


def _head(titles: Iterable[str], is_figure: Iterable[bool]) -> list[str]:
    return [_line(map(_literal, titles)), _line("---:" if figure else ":---" for figure in is_figure)]


def _cell(value: Any) -> str:
    return MISSING if value is None else f"{value:.4g}" if isinstance(value, float) else _literal(str(value))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _literal(text: str) -> str:
    """What Markdown would read as its own signs, shown as written."""
    return re.sub(r"([\\|*_`]|<(?=[A-Za-z/!?]))", r"\\\1", text).replace("\n", " ")
