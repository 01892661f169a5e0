"""How the figures of the table are measured, and which trials are measured otherwise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import mode

import polars as pl

from framework.report.collect import DETAIL, SCORED, metric_names
from framework.spec import ExperimentSpec, TrialSpec

Place = tuple[str, int]
"""A trial, by row and seed."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The baseline's way of measuring: a figure measured otherwise is no figure of this table."""

    split: str
    metrics: tuple[str, ...]
    """What some trial has a score of on that split, besides perplexity; BLEU first, the rest by name."""
    signature: str | None
    """Of the BLEU scorer: BLEU depends on its tokeniser."""
    scored: dict[str, str]
    """By row, which tokens entered the loss on that split; rows that score the same have it alike."""
    unlike: dict[Place, str]
    """Trials measured otherwise, and in what."""
    unlike_bleu: dict[Place, str]
    """Trials scored otherwise, and by which signature."""

    def scores(self, frame: pl.DataFrame, row: str | None, metric: str) -> dict[int, float | None]:
        """A row's scores by seed, null where there is none or one measured otherwise; without a row, none at all."""
        if row is None:
            return {}
        excluded = self.unlike | self.unlike_bleu if metric == "bleu" else self.unlike
        lines = frame.filter(pl.col("row") == row)
        return {
            seed: None if (row, seed) in excluded else score
            for seed, score in zip(lines["seed"], lines[f"{self.split}/{metric}"], strict=True)
        }


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
    signatures = {place: text for place, text in _details(frame, f"{split}/bleu").items() if place not in unlike}
    own = [text for (row, _), text in signatures.items() if row == experiment.baseline]
    signature = next(iter([*own, *signatures.values()]), None)
    others = {place: text for place, text in signatures.items() if text != signature}
    return Yardstick(split, _metrics(frame, split), signature, scored, unlike, others)


def _metrics(frame: pl.DataFrame, split: str) -> tuple[str, ...]:
    measured = [name for name in metric_names(frame) if frame[name].null_count() < frame.height]
    names = {name.removeprefix(f"{split}/") for name in measured if name.startswith(f"{split}/")}
    # The loss is the logarithm of the perplexity.
    return tuple(sorted(names - {"perplexity", "loss"}, key=lambda name: (name != "bleu", name)))


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
