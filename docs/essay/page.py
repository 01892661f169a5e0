"""A page of the essay: a template, the values that are set into it, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Final, TypeAlias

from matplotlib.figure import Figure
from torch import Tensor

FOLDER: Final = Path(__file__).parent

Drawing: TypeAlias = Callable[[], Figure]


@dataclass(frozen=True)
class Page:
    """What one page says and shows."""

    name: str
    """The file's name without its ending; its template is `NAME.md.in`, in which `$value` stands for a value."""
    values: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Drawing] = field(default_factory=dict)
    """Name of an SVG file beside the page → what draws it."""

    @property
    def template(self) -> Template:
        """The prose without its values."""
        return Template((FOLDER / f"{self.name}.md.in").read_text(encoding="utf-8"))

    @property
    def text(self) -> str:
        """The whole page as Markdown."""
        return self.template.substitute(self.values)


def number(value: float | Tensor, digits: int = 2) -> str:
    """Write with a fixed number of digits, and zero without a sign."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def vector(values: Iterable[float | Tensor], digits: int = 2) -> str:
    """Write as `(1.00, 2.00)`."""
    return f"({', '.join(number(value, digits) for value in values)})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Write a Markdown table: the first columns, which hold words, to the left, the others to the right."""
    lines = [head, [*[":---"] * words, *["---:"] * (len(head) - words)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
