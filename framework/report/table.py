"""The report of an experiment, finished or not: its trials, its rows, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from framework.report import collect
from framework.report.differences import differences
from framework.report.notes import notes, warnings
from framework.report.sections import Section, sections
from framework.report.statistics import Comparison, Difference, Estimate
from framework.report.summary import RowSummary, summarize
from framework.report.yardstick import Yardstick, yardstick
from framework.spec import ExperimentSpec, TrialSpec


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What `render` turns into text, and `print` into the table.

    `trials` has a line per planned trial, `summaries` one per row, section after section; `compared` has for each
    section, by metric, what the intervals of its differences rest on.
    """

    experiment: ExperimentSpec
    plan: tuple[TrialSpec, ...]
    trials: pl.DataFrame
    sections: tuple[Section, ...]
    compared: tuple[Mapping[str, Comparison], ...]
    summaries: tuple[RowSummary, ...]
    yardstick: Yardstick

    @classmethod
    def build(
        cls,
        experiment: ExperimentSpec,
        plan: tuple[TrialSpec, ...],
        home: Path,
        parameters: Mapping[str, int] | None = None,
    ) -> Report:
        """Read the folders under `home`. `parameters`, by row, stand in where no model is trained yet."""
        frame = collect.trials(plan, home, parameters)
        measure = yardstick(experiment, plan, frame)
        parts = sections(experiment, plan, measure.scored)
        compared = tuple(differences(part, frame, measure, experiment.report.confidence) for part in parts)
        lines = summarize(experiment, plan, frame, measure, parts, compared)
        return cls(experiment, plan, frame, parts, compared, lines, measure)

    def __repr__(self) -> str:
        done = self.trials["status"].to_list().count("done")
        return f"<Report of {self.experiment.name}: {done} of {len(self.plan)} trials done>"

    def __str__(self) -> str:
        from framework.report.render import render

        return render(self, "table").rstrip("\n")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader needs to judge the figures: scale, seeds, rules, what is missing and why."""
        return notes(
            self.experiment, self.plan, self.trials, self.sections, self.compared, self.summaries, self.yardstick
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes figures of this table unlike one another."""
        return warnings(self.trials, self.yardstick)

    @property
    def rows(self) -> pl.DataFrame:
        """The summaries as a frame: one line per row, section after section.

        Metrics other than perplexity and BLEU have columns named by their split too, such as `dev/accuracy`.
        """
        further = {metric: f"{self.yardstick.split}/{metric}" for metric in self.yardstick.metrics if metric != "bleu"}
        lines = [_flat(summary, {"bleu": "bleu", **further}) for summary in self.summaries]
        return pl.from_dicts(lines, schema={**_SCHEMA, **_figures(*further.values())})


_NUMBER = pl.Float64


def _figures(*names: str) -> dict[str, Any]:
    """The columns of metrics: the mean, the difference to the baseline, the pairs that this is taken from."""
    columns: dict[str, Any] = {}
    for name in names:
        columns |= dict.fromkeys(_interval_of(name) + _interval_of(f"{name}_difference"), _NUMBER)
        columns[f"{name}_pairs"] = pl.Int64
    return columns


def _interval_of(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


_SCHEMA: dict[str, Any] = {
    "row": pl.String,
    "label": pl.String,
    "group": pl.String,
    "n": pl.Int64,
    "planned": pl.Int64,
    "diverged": pl.Int64,
    "failed": pl.Int64,
    **_figures("perplexity"),
    "interval": pl.String,
    "degrees_of_freedom": pl.Int64,
    "detectable": _NUMBER,
    "verdict": pl.String,
    "baseline": pl.String,
    **_figures("bleu"),
    "parameters": pl.Int64,
    "compared_parameters": pl.Int64,
    "seconds": _NUMBER,
    "peak_memory_megabytes": _NUMBER,
    "reference_perplexity": _NUMBER,
    "reference_perplexity_difference": _NUMBER,
    "reference_perplexity_points": _NUMBER,
    "reference_bleu": _NUMBER,
    "reference_bleu_difference": _NUMBER,
    "reference_parameters_millions": _NUMBER,
    "train_keys": pl.List(pl.String),
    "evaluate_keys": pl.List(pl.String),
}

_AS_IT_IS = (
    *("row", "label", "group", "n", "planned", "diverged", "failed", "verdict", "baseline"),
    *("parameters", "compared_parameters", "seconds", "train_keys", "evaluate_keys"),
)


def _flat(summary: RowSummary, columns: Mapping[str, str]) -> dict[str, Any]:
    """A line of `rows`; `columns` by the metrics other than perplexity."""
    difference, memory = summary.perplexity_difference, summary.peak_memory_bytes
    line = {
        **{name: getattr(summary, name) for name in _AS_IT_IS},
        **{f"reference_{name}": figure for name, figure in asdict(summary.reference).items()},
        **_found("perplexity", summary.perplexity, difference),
        "interval": difference.interval if difference else None,
        "degrees_of_freedom": difference.freedom if difference else None,
        "detectable": difference.detectable if difference else None,
        "peak_memory_megabytes": None if memory is None else memory / 1e6,
    }
    for metric, column in columns.items():
        line |= _found(column, summary.scores.get(metric), summary.score_differences.get(metric))
    return line


def _found(name: str, score: Estimate | None, difference: Difference | None) -> dict[str, float | None]:
    pairs = difference.estimate if difference else None
    counted = {f"{name}_pairs": pairs.n if pairs else None}
    return {**_interval(name, score), **_interval(f"{name}_difference", pairs), **counted}


def _interval(name: str, found: Estimate | None) -> dict[str, float | None]:
    figures = (found.mean, found.low, found.high) if found else (None, None, None)
    return dict(zip(_interval_of(name), figures, strict=True))
