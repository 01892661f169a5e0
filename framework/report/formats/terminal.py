"""The table for a terminal: as wide as the terminal, without colours where they would not show."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from framework.report.layout import Column, columns, starts_group
from framework.report.table import Report

_GAP = 2


def terminal(report: Report, console: Console) -> str:
    """Draw as wide as `console`; what is no terminal, such as a pipe, gives the table all the room it needs."""
    everything = columns(report.summaries)
    shown = _fitting(everything, console.width) if console.is_terminal else everything
    table = Table(
        title=report.experiment.name, title_style="bold", title_justify="left", box=None, padding=(0, _GAP, 0, 0)
    )
    for column in shown:
        table.add_column(column.title, justify="right" if column.is_figure else "left")
    for i, starts in enumerate(starts_group(report.summaries)):
        if starts:
            table.add_row()
        table.add_row(*(Text(column.cells[i]) for column in shown))
    notes = list(report.notes)
    if hidden := [column.title for column in everything if column not in shown]:
        notes.append(f"not shown for want of width: {', '.join(hidden)}")
    width = console.width if console.is_terminal else max(console.width, _width(shown))
    paper = Console(file=StringIO(), width=width, color_system=_colours(console), force_terminal=console.is_terminal)
    with paper.capture() as capture:
        paper.print(table)
        paper.print()
        for note in notes:
            paper.print(Text(note), soft_wrap=not console.is_terminal)
        for warning in report.warnings:
            paper.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=not console.is_terminal)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _colours(console: Console) -> Any:
    return None if console.no_color else console.color_system


def _fitting(everything: list[Column], width: int) -> list[Column]:
    """Drop what can be spared, the most dispensable first, until the rest fits."""
    shown = list(everything)
    for column in sorted(everything, key=lambda column: -column.spare):
        if _width(shown) <= width or column.spare == 0:
            break
        shown.remove(column)
    return shown


def _width(shown: list[Column]) -> int:
    return sum(max(map(cell_len, (column.title, *column.cells))) + _GAP for column in shown)
