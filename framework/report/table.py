"""The report of an experiment, finished or not: its trials, its rows, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from framework.report import collect
from framework.report.notes import notes, warnings
from framework.report.statistics import Estimate
from framework.report.summary import RowSummary, summarize
from framework.report.yardstick import Yardstick, yardstick
from framework.spec import ExperimentSpec, TrialSpec


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What `render` turns into text, and `print` into the table.

    `trials` has a line per planned trial, `summaries` one per row.
    """

    experiment: ExperimentSpec
    plan: tuple[TrialSpec, ...]
    trials: pl.DataFrame
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
        return cls(experiment, plan, frame, summarize(experiment, plan, frame, measure), measure)

    def __repr__(self) -> str:
        done = self.trials["status"].to_list().count("done")
        return f"<Report of {self.experiment.name}: {done} of {len(self.plan)} trials done>"

    def __str__(self) -> str:
        from framework.report.render import render

        return render(self, "table").rstrip("\n")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader needs to judge the figures: scale, seeds, rules, what is missing and why."""
        return notes(self.experiment, self.plan, self.trials, self.summaries, self.yardstick)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes figures of this table unlike one another."""
        return warnings(self.trials, self.yardstick)

    @property
    def rows(self) -> pl.DataFrame:
        """The summaries as a frame: one line per row, in the experiment's order."""
        return pl.from_dicts([_flat(summary) for summary in self.summaries], schema=_SCHEMA)


_NUMBER = pl.Float64
_SCHEMA: dict[str, Any] = {
    "row": pl.String,
    "label": pl.String,
    "group": pl.String,
    "n": pl.Int64,
    "planned": pl.Int64,
    "diverged": pl.Int64,
    "failed": pl.Int64,
    "perplexity": _NUMBER,
    "perplexity_low": _NUMBER,
    "perplexity_high": _NUMBER,
    "perplexity_difference": _NUMBER,
    "perplexity_difference_low": _NUMBER,
    "perplexity_difference_high": _NUMBER,
    "perplexity_pairs": pl.Int64,
    "detectable": _NUMBER,
    "verdict": pl.String,
    "bleu": _NUMBER,
    "bleu_low": _NUMBER,
    "bleu_high": _NUMBER,
    "bleu_difference": _NUMBER,
    "bleu_difference_low": _NUMBER,
    "bleu_difference_high": _NUMBER,
    "bleu_pairs": pl.Int64,
    "parameters": pl.Int64,
    "compared_parameters": pl.Int64,
    "seconds": _NUMBER,
    "peak_memory_megabytes": _NUMBER,
    "reference_perplexity": _NUMBER,
    "reference_perplexity_difference": _NUMBER,
    "reference_bleu": _NUMBER,
    "reference_bleu_difference": _NUMBER,
    "reference_parameters_millions": _NUMBER,
    "train_keys": pl.List(pl.String),
    "evaluate_keys": pl.List(pl.String),
}

_AS_IT_IS = (
    *("row", "label", "group", "n", "planned", "diverged", "failed", "verdict"),
    *("parameters", "compared_parameters", "seconds", "train_keys", "evaluate_keys"),
)


def _flat(summary: RowSummary) -> dict[str, Any]:
    difference, memory = summary.perplexity_difference, summary.peak_memory_bytes
    return {
        **{name: getattr(summary, name) for name in _AS_IT_IS},
        **{f"reference_{name}": figure for name, figure in asdict(summary.reference).items()},
        **_interval("perplexity", summary.perplexity),
        **_interval("bleu", summary.bleu),
        **_change("perplexity", difference.estimate if difference else None),
        **_change("bleu", summary.bleu_difference),
        "detectable": difference.detectable if difference else None,
        "peak_memory_megabytes": None if memory is None else memory / 1e6,
    }


def _interval(name: str, found: Estimate | None) -> dict[str, float | None]:
    if found is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def _change(name: str, found: Estimate | None) -> dict[str, float | None]:
    return {**_interval(f"{name}_difference", found), f"{name}_pairs": found.n if found else None}
