"""Every row's difference to base in one picture, with the paper's beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from docs.essay.picture import BLUE, GREY, ORANGE
from docs.results.table3_small.results import Results
from framework.report.summary import RowSummary

COLOURS: Final = {"better": BLUE, "worse": ORANGE}
"""By verdict; every other one is grey."""
BESIDE: Final = 0.22
"""How far below ours the paper's marker is drawn, in rows."""


def draw(found: Results) -> Figure:
    """Show the paper's rows above and our own below, each on a scale of its own."""
    groups = ([row for row in found.paper if not row.is_baseline], found.own)
    figure = Figure(figsize=(7.2, 8.4))
    grid = figure.subplots(2, 1, height_ratios=[len(rows) for rows in groups])
    margin = found.report.experiment.report.margin
    for axes, rows, title in zip(grid, groups, ("rows of the paper's table", "rows of our own"), strict=True):
        _rows(axes, rows, margin)
        axes.set_title(title)
    grid[-1].set_xlabel("perplexity against base's")
    handles = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3)
    return figure


def _rows(axes: Axes, rows: Sequence[RowSummary], margin: float) -> None:
    axes.axvspan(-margin, margin, color="#E4E4E4", linewidth=0, label="margin of equivalence")
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    for place, row in enumerate(rows):
        _ours(axes, place, row)
        if row.reference.perplexity_difference is not None:
            axes.plot(
                row.reference.perplexity_difference,
                place + BESIDE,
                "D",
                color="black",
                markerfacecolor="none",
                label="the paper (one run)",
            )
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(visible=False, axis="y")


def _ours(axes: Axes, place: int, row: RowSummary) -> None:
    """A mean with its interval; without one, the pairs of seeds themselves."""
    if row.perplexity_difference is None:
        return
    pairs = row.perplexity_difference.estimate
    if pairs.low is None or pairs.high is None:
        axes.plot(pairs.values, [place] * pairs.n, "x", color=GREY, label="a pair of seeds, without a verdict")
        return
    passed = row.passed or ""
    axes.errorbar(
        pairs.mean,
        place,
        xerr=[[pairs.mean - pairs.low], [pairs.high - pairs.mean]],
        fmt="o",
        capsize=2.5,
        color=COLOURS.get(passed, GREY),
        label=passed if passed in COLOURS else "equivalent or undecided",
    )
