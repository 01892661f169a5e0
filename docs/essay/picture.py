"""How the essay's pictures look, and how they become files that are the same each time."""

from __future__ import annotations

import io
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from docs.essay.page import Drawing

BLUE: Final = "#0072B2"  # the colours of Okabe and Ito 2008, which colour-blind eyes tell apart
ORANGE: Final = "#D55E00"
GREEN: Final = "#009E73"
GREY: Final = "#767676"

STYLE: Final[dict[Any, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # which matplotlib brings along
    "font.size": 9,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    "svg.hashsalt": "essay",
}


def svg(drawing: Drawing) -> bytes:
    """Draw in the essay's style: an SVG file without the date and the version, which would change it."""
    file = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        drawing().savefig(file, format="svg", metadata={"Creator": None, "Date": None})
    return file.getvalue()


def panels(width: float, height: float, columns: int, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """Start a picture of some panels side by side; sizes in inches."""
    figure = Figure(figsize=(width, height))
    grid = figure.subplots(1, columns, squeeze=False, sharey=share_y)
    return figure, list(grid[0])


def weight_table(axes: Axes, weights: Tensor, words: tuple[str, ...]) -> None:
    """Show weights `(Q, K)` as a table of shades with their numbers; a weight of zero is left blank."""
    axes.imshow(weights.numpy(), cmap="Blues", vmin=0.0, vmax=1.0)
    axes.grid(False)
    for row, column in weights.nonzero().tolist():
        weight = float(weights[row, column])
        axes.text(column, row, f"{weight:.2f}", ha="center", va="center", color="white" if weight > 0.5 else "black")
    axes.set_xticks(range(weights.size(1)), words)
    axes.set_yticks(range(weights.size(0)), words)
    axes.set(xlabel="is looked at", ylabel="looks", title="weights")
