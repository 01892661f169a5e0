"""The columns of the table as text, for a terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from framework.report.statistics import Difference, Estimate
from framework.report.summary import RowSummary

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """A title and a cell by row."""

    title: str
    cells: Mapping[str, str]
    is_figure: bool
    """Figures are aligned right."""
    spare: int
    """0 is always shown; a narrow terminal drops the highest first."""


def columns(summaries: tuple[RowSummary, ...]) -> list[Column]:
    """All columns in which some row has something to say."""
    shown = []
    metrics = dict.fromkeys(metric for summary in summaries for metric in summary.scores)
    for title, cell, is_figure, spare in (*_ROW, *chain.from_iterable(map(_of, metrics)), *_COST):
        cells = {summary.row: cell(summary) or MISSING for summary in summaries}
        if spare == 0 or any(text != MISSING for text in cells.values()):
            shown.append(Column(title, cells, is_figure, spare))
    return shown


def _seeds(summary: RowSummary) -> str:
    return str(summary.n) if summary.n == summary.planned else f"{summary.n}/{summary.planned}"


def _estimate(found: Estimate | None, decimals: int) -> str:
    """`mean ± half`, or with fewer than three seeds the points themselves."""
    if found is None:
        return ""
    if found.half_width is None:
        return ", ".join(_number(value, decimals) for value in found.values)
    return f"{_number(found.mean, decimals)} ± {_number(found.half_width, decimals)}"


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.2e}"


def _perplexity_difference(summary: RowSummary) -> str:
    return _difference(summary.perplexity_difference, summary.n, _percent, "%")


def _score(metric: str, decimals: int) -> Callable[[RowSummary], str]:
    return lambda row: _estimate(row.scores[metric], decimals)


def _score_difference(metric: str, decimals: int) -> Callable[[RowSummary], str]:
    return lambda row: _difference(row.score_differences[metric], row.n, lambda value: f"{value:+.{decimals}f}", "")


def _difference(found: Difference | None, n: int, text: Callable[[float], str], unit: str) -> str:
    """`mean [low, high]`, or the points; with the number of pairs where it is not the row's n."""
    if found is None:
        return ""
    pairs = found.estimate
    if pairs.low is None or pairs.high is None:
        said = ", ".join(f"{text(value)}{unit}" for value in pairs.values)
    else:
        said = f"{text(pairs.mean)}{unit} [{text(pairs.low)}, {text(pairs.high)}]"
    return said if pairs.n == n else f"{said} ({pairs.n} of {n})"


def _percent(value: float) -> str:
    return f"{value * 100:+.1f}" if abs(value) < 1e3 else f"{value * 100:+.1e}"


def _reference_difference(value: float | None) -> str:
    return "" if value is None else f"{_percent(value)}%"


def _verdict(summary: RowSummary) -> str:
    """An undecided row says what it could have decided."""
    difference = summary.perplexity_difference
    if difference is None or summary.passed != "undecided" or difference.detectable is None:
        return summary.verdict
    return f"{summary.verdict} ({_percent(difference.detectable).replace('+', '±', 1)}%)"


def _optional(value: float | None, spec: str) -> str:
    return "" if value is None else format(value, spec)


def _scaled(value: float | None, scale: float, spec: str) -> str:
    return "" if value is None else format(value / scale, spec)


_Definition = tuple[str, Callable[[RowSummary], str], bool, int]
"""The first four fields of a column, of which the cells are yet to be filled in."""

_ROW: tuple[_Definition, ...] = (
    ("group", lambda row: row.group or "", False, 3),
    ("row", lambda row: row.label, False, 0),
    ("n", _seeds, True, 0),
    ("perplexity", lambda row: _estimate(row.perplexity, 2), True, 0),
    ("ref.", lambda row: _optional(row.reference.perplexity, ".2f"), True, 2),
    ("Δ perplexity", _perplexity_difference, True, 0),
    ("ref. Δ", lambda row: _reference_difference(row.reference.perplexity_difference), True, 5),
    ("verdict", _verdict, False, 0),
)
_BLEU: tuple[_Definition, ...] = (
    ("BLEU", _score("bleu", 2), True, 1),
    ("ref. BLEU", lambda row: _optional(row.reference.bleu, ".1f"), True, 4),
    ("Δ BLEU", _score_difference("bleu", 2), True, 7),
    ("ref. Δ BLEU", lambda row: _optional(row.reference.bleu_difference, "+.1f"), True, 8),
)
_COST: tuple[_Definition, ...] = (
    ("params (M)", lambda row: _scaled(row.parameters, 1e6, ".3g"), True, 6),
    ("ref. params", lambda row: _optional(row.reference.parameters_millions, "g"), True, 9),
    ("minutes", lambda row: _scaled(row.seconds, 60, ".1f"), True, 10),
    ("memory (MB)", lambda row: _scaled(row.peak_memory_bytes, 1e6, ",.0f"), True, 11),
)


def _of(metric: str) -> tuple[_Definition, ...]:
    """The columns of a metric other than perplexity."""
    if metric == "bleu":
        return _BLEU
    return ((metric, _score(metric, 3), True, 1), (f"Δ {metric}", _score_difference(metric, 3), True, 7))
