"""Rows against a baseline, by seed: differences, intervals that hold for all of them together, what could be found.

Seeds are paired across rows: at a seed, all rows share initialisation and data order. With three seeds a row's own
scatter is hardly known, and its interval would reach 4.3 standard errors to each side; so the residual of the additive
model is pooled over all rows. A row that scatters unlike the rest (`scatter`) has the interval of its own pairs
(Student's), at Bonferroni's share of the level, and the other rows have the rest of it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, Literal

import numpy as np
from scipy.special import nctdtrinc

from framework.report.statistics.critical import critical_value
from framework.report.statistics.design import Design
from framework.report.statistics.sample import FEWEST, Estimate, t_quantile
from framework.report.statistics.scatter import Scatter, pool

POWER: Final = 0.8
"""How often a difference that counts as detectable is found better or worse."""

Interval = Literal["pooled", "own"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A row's difference to the baseline."""

    estimate: Estimate
    """Its values are the differences by seed, over the seeds that both have; its interval is simultaneous."""
    interval: Interval | None
    """From the pooled residual, or from the row's own pairs; null with fewer than three of these."""
    freedom: int | None
    """Degrees of freedom of the interval."""
    detectable: float | None
    """The true difference that a design with this scatter would find better or worse in 8 of 10 tables."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every row's difference to the baseline, and what the intervals rest on."""

    differences: Mapping[str, Difference]
    """By row; none where a row shares no seed with the baseline."""
    rows: int
    """Whose residual is pooled, the baseline among them."""
    deviation: float | None
    """Of the pooled residual; null without an interval from it."""
    freedom: int
    compared: int
    """How many differences have an interval from it."""
    critical: float | None
    """Standard errors that these reach to each side."""
    widest: Scatter | None
    """Of the pooled rows, the one whose scatter is the least likely among the others'; null where none can be told."""
    apart: tuple[Scatter, ...]
    """Rows that scatter more than the pooled ones and are none of them; without the baseline nothing is pooled."""


def compare(
    scores: Mapping[str, Mapping[int, float]],
    baseline: str,
    confidence: float,
    repeats: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare finite scores, by row and seed, with those of `baseline`.

    `repeats` names, for a row that is made of another row's trials, that other row: their scores count once. A row that
    repeats the baseline differs from it by exactly nothing.
    """
    repeats = repeats or {}
    base = scores.get(baseline, {})
    pairs = {
        row: {seed: own[seed] - base[seed] for seed in sorted(own.keys() & base.keys())}
        for row, own in scores.items()
        if row != baseline
    }
    pooled = pool({row: own for row, own in scores.items() if row not in repeats})
    fit, apart = pooled.fit, {each.row for each in pooled.apart}
    source = {row: repeats.get(row, row) for row, own in pairs.items() if len(own) >= FEWEST}
    family = {row for row in source.values() if row != baseline and len(pairs[row]) >= FEWEST}
    alone = family if baseline in apart else family & apart
    alike = sorted(family - alone)
    share = (1 - confidence) / max(1, len(family))
    critical = critical_value(fit.design, baseline, alike, 1 - share * len(alike)) if alike else None
    deviation = fit.deviation if alike else None

    def difference(row: str) -> Difference:
        values = tuple(pairs[row].values())
        first = source.get(row)
        if first == baseline:
            return Difference(Estimate(values, 0.0, 0.0, 0.0), "pooled", fit.design.freedom, None)
        if first in alone:
            return _own(tuple(pairs[first].values()), share)
        if first in family and critical is not None and deviation is not None:
            error = deviation * float(np.linalg.norm(fit.design.loadings(first, baseline)))
            mean = fit.difference(first, baseline)
            return _reaching(values, mean, error, critical, fit.design.freedom, "pooled")
        return Difference(Estimate(values, fmean(values), None, None), None, None, None)

    return Comparison(
        {row: difference(row) for row, own in pairs.items() if own},
        len(fit.design.rows),
        deviation,
        fit.design.freedom,
        len(alike),
        critical,
        pooled.widest,
        pooled.apart,
    )


def detectable_differences(
    seeds: Mapping[str, Collection[int]], baseline: str, deviation: float, confidence: float
) -> dict[str, float]:
    """What each row's true difference to the baseline must be for a table to find it, 8 times in 10.

    Of a plan, before anything is measured: `seeds` by row, and the standard deviation that the residual is thought to
    have. Rows that share fewer than three seeds with the baseline are left out, for they get no verdict.
    """
    design = Design.of(seeds)
    base = set(seeds[baseline])
    rows = [row for row, own in seeds.items() if row != baseline and len(base.intersection(own)) >= FEWEST]
    if not rows:
        return {}
    critical = critical_value(design, baseline, rows, confidence)
    errors = deviation * _detectable_errors(critical, design.freedom)
    return {row: errors * float(np.linalg.norm(design.loadings(row, baseline))) for row in rows}


def _own(values: tuple[float, ...], share: float) -> Difference:
    """From the pairs of one row alone, which leave it `share` to be wrong."""
    freedom = len(values) - 1
    error = stdev(values) / math.sqrt(len(values))
    return _reaching(values, fmean(values), error, t_quantile(freedom, 1 - share / 2), freedom, "own")


def _reaching(
    values: tuple[float, ...], mean: float, error: float, critical: float, freedom: int, interval: Interval
) -> Difference:
    estimate = Estimate(values, mean, mean - critical * error, mean + critical * error)
    return Difference(estimate, interval, freedom, error * _detectable_errors(critical, freedom))


def _detectable_errors(critical: float, freedom: int) -> float:
    """The true difference, in standard errors, that an interval of `critical` estimated ones tells from 0 in 8 of 10.

    The noncentrality of Student's distribution; that the interval may lie on the wrong side of 0 is neglected.
    """
    return float(nctdtrinc(freedom, 1 - POWER, critical))
