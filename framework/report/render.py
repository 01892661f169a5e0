"""A report → text."""

from __future__ import annotations

from typing import Literal

from rich.console import Console

from framework.report.formats.csv import rows_csv, trials_csv
from framework.report.formats.json import rows_json, trials_json
from framework.report.formats.markdown import markdown
from framework.report.formats.terminal import terminal
from framework.report.table import Report

Format = Literal["table", "markdown", "csv", "json"]
Per = Literal["trial", "row"]


def render(report: Report, format: Format, console: Console | None = None, per: Per = "trial") -> str:
    """Give the report as text, ending in a line feed; `csv` and `json` have a line or an object per trial or row.

    `table` is drawn for `console`, by default standard output: as wide as it is, with colours only where
    it shows them.
    """
    match format:
        case "table":
            return terminal(report, console or Console())
        case "markdown":
            return markdown(report)
        case "csv":
            return rows_csv(report) if per == "row" else trials_csv(report)
        case "json":
            return rows_json(report) if per == "row" else trials_json(report)
