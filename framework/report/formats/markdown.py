"""The table in Markdown, with what must be said as a list below."""

from __future__ import annotations

import re
from collections.abc import Iterable

from framework.report.layout import columns
from framework.report.table import Report


def markdown(report: Report) -> str:
    """Show every column that has something to say."""
    shown = columns(report.summaries)
    table = [
        _line(column.title for column in shown),
        _line("---:" if column.is_figure else ":---" for column in shown),
        *(_line(cells) for cells in zip(*(column.cells for column in shown), strict=True)),
    ]
    said = [f"- {_literal(note)}" for note in report.notes]
    said += [f"- **warning:** {_literal(warning)}" for warning in report.warnings]
    return "\n".join([f"# {report.experiment.name}", "", *table, "", *said]) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_literal, cells))} |"


def _literal(text: str) -> str:
    """What Markdown would read as its own signs, shown as written."""
    return re.sub(r"([\\|*_`]|<(?=[A-Za-z/!?]))", r"\\\1", text).replace("\n", " ")
