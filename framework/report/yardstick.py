"""How the figures of the table are measured, and which trials are measured otherwise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import mode

import polars as pl

from framework.report.collect import DETAIL, SCORED, metric_names
from framework.report.statistics import finite
from framework.spec import ExperimentSpec, TrialSpec

Place = tuple[str, int]
"""A trial, by row and seed."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The baseline's way of measuring: a figure measured otherwise is no figure of this table."""

    split: str
    metrics: tuple[str, ...]
    """What some trial has a score of on that split, besides perplexity; BLEU first, the rest by name."""
    signatures: dict[str, str]
    """Of the scorer, by metric that has one: BLEU depends on its tokeniser."""
    scored: dict[str, str]
    """By row, which tokens entered the loss on that split; rows that score the same have it alike."""
    unlike: dict[Place, str]
    """Trials measured otherwise, and in what."""
    unlike_scorer: dict[str, dict[Place, str]]
    """By metric, trials scored otherwise, and by which signature."""

    def scores(self, frame: pl.DataFrame, metric: str) -> dict[str, dict[int, float]]:
        """By row and seed, what is a number and measured as the baseline is; every row of `frame` has its place."""
        excluded = self.unlike | self.unlike_scorer.get(metric, {})
        found: dict[str, dict[int, float]] = {row: {} for row in frame["row"]}
        for row, seed, score in frame.select("row", "seed", f"{self.split}/{metric}").iter_rows():
            if (row, seed) not in excluded and finite([score]):
                found[row][seed] = score
        return found


def yardstick(experiment: ExperimentSpec, plan: tuple[TrialSpec, ...], frame: pl.DataFrame) -> Yardstick:
    """The baseline's, or without a planned baseline the first trial's; `frame` is `collect.trials` of the plan."""
    first = next((trial for trial in plan if trial.row == experiment.baseline), plan[0])
    split = first.evaluate.split
    unlike = {
        (trial.row, trial.seed): f"on another split ({trial.evaluate.split}) than the baseline"
        for trial in plan
        if trial.evaluate.split != split
    }
    scored, odd = _scored(_details(frame, f"{split}/{SCORED}"))
    unlike |= {place: f"on {text}, not on those of the row's other seeds" for place, text in odd.items()}
    metrics = _metrics(frame, split)
    signatures, unlike_scorer = {}, {}
    for metric in metrics:
        found = {place: text for place, text in _signatures(frame, split, metric).items() if place not in unlike}
        own = [text for (row, _), text in found.items() if row == experiment.baseline]
        if found:
            usual = signatures[metric] = next(iter([*own, *found.values()]))
            unlike_scorer[metric] = {place: text for place, text in found.items() if text != usual}
    return Yardstick(split, metrics, signatures, scored, unlike, unlike_scorer)


def _metrics(frame: pl.DataFrame, split: str) -> tuple[str, ...]:
    measured = [name for name in metric_names(frame) if frame[name].null_count() < frame.height]
    names = {name.removeprefix(f"{split}/") for name in measured if name.startswith(f"{split}/")}
    # The loss is the logarithm of the perplexity.
    return tuple(sorted(names - {"perplexity", "loss"}, key=lambda name: (name != "bleu", name)))


def _signatures(frame: pl.DataFrame, split: str, metric: str) -> dict[Place, str]:
    """The detail of a score that bears the metric's own name says how it was scored; a perplexity's, over what."""
    if metric.endswith("perplexity"):
        return {}
    return _details(frame.filter(pl.col(f"{split}/{metric}").is_not_null()), f"{split}/{metric}")


def _details(frame: pl.DataFrame, name: str) -> dict[Place, str]:
    """The words of each trial that has such a detail."""
    column = f"{DETAIL}{name}"
    if column not in frame.columns:
        return {}
    lines = zip(frame["row"], frame["seed"], frame[column], strict=True)
    return {(row, seed): text for row, seed, text in lines if text is not None}


def _scored(found: dict[Place, str]) -> tuple[dict[str, str], dict[Place, str]]:
    """What each row scores, and the seeds that do not, as where another torch drew what is hidden."""
    by_row: defaultdict[str, list[str]] = defaultdict(list)
    for (row, _), text in found.items():
        by_row[row].append(text)
    most = {row: mode(texts) for row, texts in by_row.items()}
    return most, {(row, seed): text for (row, seed), text in found.items() if text != most[row]}
