"""The trials of a section → every row's difference to its baseline, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from framework.report.sections import Section
from framework.report.statistics import Comparison, compare
from framework.report.yardstick import Yardstick

PERPLEXITY = "perplexity"
"""Compared as its logarithm; every other metric in its own unit."""


def differences(section: Section, frame: pl.DataFrame, measure: Yardstick, confidence: float) -> dict[str, Comparison]:
    """A comparison per metric, perplexity first; none without a baseline. `frame` is `collect.trials` of the plan."""
    baseline = section.baseline
    if baseline is None:
        return {}
    own = frame.filter(pl.col("row").is_in(section.rows))
    repeats = _repeats(own, (baseline, *section.rows))
    found = {}
    for metric in (PERPLEXITY, *measure.metrics):
        scores = measure.scores(own, metric)
        if metric == PERPLEXITY:
            scores = {row: {seed: math.log(score) for seed, score in mine.items()} for row, mine in scores.items()}
        found[metric] = compare(scores, baseline, confidence, repeats)
    return found


def _repeats(frame: pl.DataFrame, rows: tuple[str, ...]) -> Mapping[str, str]:
    """Rows all of whose trials are another's, which stands before them in `rows`, and that row."""
    measured: dict[str, set[str]] = {row: set() for row in rows}
    for row, key in frame.select("row", "evaluate_key").drop_nulls().iter_rows():
        measured.setdefault(row, set()).add(key)
    owner: dict[str, str] = {}
    repeats = {}
    for row, keys in measured.items():
        owners = {owner.setdefault(key, row) for key in keys}
        if len(owners) == 1 and row not in owners:
            (repeats[row],) = owners
    return repeats
