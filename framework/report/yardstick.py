"""How the figures of the table are measured, and which trials are measured otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from framework.report.collect import DETAIL, metric_names
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
        (trial.row, trial.seed): f"on another split ({trial.evaluate.split})"
        for trial in plan
        if trial.evaluate.split != split
    }
    signatures = {place: text for place, text in _signatures(frame, split).items() if place not in unlike}
    own = [text for (row, _), text in signatures.items() if row == experiment.baseline]
    signature = next(iter([*own, *signatures.values()]), None)
    others = {place: text for place, text in signatures.items() if text != signature}
    return Yardstick(split, _metrics(frame, split), signature, unlike, others)


def _metrics(frame: pl.DataFrame, split: str) -> tuple[str, ...]:
    measured = [name for name in metric_names(frame) if frame[name].null_count() < frame.height]
    names = {name.removeprefix(f"{split}/") for name in measured if name.startswith(f"{split}/")}
    # The loss is the logarithm of the perplexity.
    return tuple(sorted(names - {"perplexity", "loss"}, key=lambda name: (name != "bleu", name)))


def _signatures(frame: pl.DataFrame, split: str) -> dict[Place, str]:
    column = f"{DETAIL}{split}/bleu"
    if column not in frame.columns:
        return {}
    lines = zip(frame["row"], frame["seed"], frame[column], strict=True)
    return {(row, seed): text for row, seed, text in lines if text is not None}
