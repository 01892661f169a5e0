"""The table for a terminal: as wide as the terminal, without colours where they would not show."""

from __future__ import annotations

from io import StringIO
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from framework.report.layout import Column, columns
from framework.report.sections import Section
from framework.report.table import Report

_GAP = 2


def terminal(report: Report, console: Console) -> str:
    """Draw as wide as `console`; what is no terminal, such as a pipe, gives the table all the room it needs."""
    everything = columns(report.summaries)
    shown = _fitting(everything, console.width) if console.is_terminal else everything
    notes = list(report.notes)
    if hidden := [column.title for column in everything if column not in shown]:
        notes.append(f"not shown for want of width: {', '.join(hidden)}")
    width = console.width if console.is_terminal else max(console.width, _width(shown))
    paper = Console(file=StringIO(), width=width, color_system=_colours(console), force_terminal=console.is_terminal)
    head = _table(shown, width)
    head.title, head.show_header = report.experiment.name, True
    with paper.capture() as capture:
        paper.print(head)
        for section in report.sections:
            if section.heading:
                paper.print("\n", Text(section.heading, style="italic"), sep="")
            paper.print(_rows(section, report, shown, width))
        paper.print()
        for note in notes:
            paper.print(Text(note), soft_wrap=not console.is_terminal)
        for warning in report.warnings:
            paper.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=not console.is_terminal)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _table(shown: list[Column], room: int) -> Table:
    """An empty table; all that are made for the same room have the same widths."""
    table = Table(show_header=False, title_style="bold", title_justify="left", box=None, padding=(0, _GAP, 0, 0))
    for column, width in zip(shown, _widths(shown, room), strict=True):
        table.add_column(column.title, justify="right" if column.is_figure else "left", width=width)
    return table


def _rows(section: Section, report: Report, shown: list[Column], room: int) -> Table:
    """The rows of a section, an empty line between groups."""
    table = _table(shown, room)
    groups = {summary.row: summary.group for summary in report.summaries}
    for i, (_, rows) in enumerate(groupby(section.rows, groups.get)):
        if i:
            table.add_row()
        for row in rows:
            table.add_row(*(Text(column.cells[row]) for column in shown))
    return table


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
    return sum(width + _GAP for width in _natural_widths(shown))


def _natural_widths(shown: list[Column]) -> list[int]:
    return [max(map(cell_len, (column.title, *column.cells.values()))) for column in shown]


def _widths(shown: list[Column], room: int) -> list[int]:
    """Let the widest columns break their lines until all fit side by side."""
    widths = _natural_widths(shown)
    while sum(widths) + _GAP * len(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths
