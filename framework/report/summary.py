"""The trials of a row → one line of the table: estimates, differences to the baseline, a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import polars as pl

from framework.report.differences import PERPLEXITY
from framework.report.sections import Section
from framework.report.statistics import Comparison, Difference, Estimate, Verdict, estimate, judge, relative
from framework.report.yardstick import Yardstick
from framework.spec import ExperimentSpec, ReferenceSpec, TrialSpec


@dataclass(frozen=True, slots=True)
class Reference:
    """What a publication printed for a row, and how far that is from what it printed for the baseline."""

    perplexity: float | None
    bleu: float | None
    parameters_millions: float | None
    perplexity_difference: float | None
    """Relative, as ours is."""
    perplexity_points: float | None
    """The same in units of perplexity, as `report.reference_threshold` is."""
    bleu_difference: float | None


@dataclass(frozen=True, slots=True)
class RowSummary:
    """One row of the experiment over its seeds. None stands for what is not known."""

    row: str
    label: str
    group: str | None
    baseline: str | None
    """The row that differences are taken from; the baseline's own line names itself."""
    planned: int
    n: int
    """Seeds that are done."""
    diverged: int
    failed: int
    perplexity: Estimate | None
    perplexity_difference: Difference | None
    """Relative: 0.02 is two percent more."""
    passed: Verdict | None
    """On that difference."""
    scores: Mapping[str, Estimate | None]
    """By every other metric that the table has."""
    score_differences: Mapping[str, Difference | None]
    parameters: int | None
    compared_parameters: int | None
    """With what the publication counted and this model has not."""
    seconds: float | None
    """Of training, mean over the seeds that ended."""
    peak_memory_bytes: int | None
    reference: Reference
    train_keys: tuple[str, ...]
    evaluate_keys: tuple[str, ...]

    @property
    def is_baseline(self) -> bool:
        return self.row == self.baseline

    @property
    def verdict(self) -> str:
        """On perplexity; a row that lost seeds says so, since those left may be the lucky ones."""
        passed = "baseline" if self.is_baseline else self.passed
        return ", ".join(filter(None, (passed, f"{self.diverged} diverged" if self.diverged else "")))


def summarize(
    experiment: ExperimentSpec,
    plan: tuple[TrialSpec, ...],
    frame: pl.DataFrame,
    measure: Yardstick,
    sections: tuple[Section, ...],
    compared: tuple[Mapping[str, Comparison], ...],
) -> tuple[RowSummary, ...]:
    """One summary per planned row, section after section; `frame` is `collect.trials` of the plan.

    `compared` has the differences of each section, by metric.
    """
    widths = {trial.row: trial.model.d_model for trial in plan}
    lines = {str(row): own for (row,), own in frame.partition_by("row", as_dict=True).items()}
    scores = {metric: measure.scores(frame, metric) for metric in (PERPLEXITY, *measure.metrics)}
    return tuple(
        _summary(
            row,
            section.baseline,
            experiment,
            lines[row],
            {metric: estimate(found[row].values(), experiment.report.confidence) for metric, found in scores.items()},
            {metric: found.differences.get(row) for metric, found in differences.items()},
            widths[row],
        )
        for section, differences in zip(sections, compared, strict=True)
        for row in section.rows
    )


def _summary(
    name: str,
    baseline: str | None,
    experiment: ExperimentSpec,
    lines: pl.DataFrame,
    scores: Mapping[str, Estimate | None],
    differences: Mapping[str, Difference | None],
    d_model: int,
) -> RowSummary:
    spec, rules = experiment.rows[name], experiment.report
    statuses = lines["status"].to_list()
    parameters = next(iter(lines["parameters"].drop_nulls()), None)
    seconds = lines["seconds"].drop_nulls().to_list()
    logs = differences.get(PERPLEXITY)
    base_reference = experiment.rows[baseline].reference if baseline and baseline != name else None
    metrics = [metric for metric in scores if metric != PERPLEXITY]
    return RowSummary(
        row=name,
        label=spec.label or name,
        group=spec.group,
        baseline=baseline,
        planned=len(statuses),
        n=statuses.count("done"),
        diverged=statuses.count("diverged"),
        failed=statuses.count("failed"),
        perplexity=scores[PERPLEXITY],
        perplexity_difference=relative(logs) if logs else None,
        passed=judge(logs.estimate, math.log1p(rules.margin)) if logs else None,
        scores={metric: scores[metric] for metric in metrics},
        score_differences={metric: differences.get(metric) for metric in metrics},
        parameters=parameters,
        compared_parameters=None if parameters is None else experiment.report.as_published(parameters, d_model),
        seconds=fmean(seconds) if seconds else None,
        peak_memory_bytes=max(lines["peak_memory_bytes"].drop_nulls(), default=None),
        reference=_reference(spec.reference or ReferenceSpec(), base_reference or ReferenceSpec()),
        train_keys=tuple(lines["train_key"].drop_nulls()),
        evaluate_keys=tuple(lines["evaluate_key"].drop_nulls()),
    )


def _reference(row: ReferenceSpec, base: ReferenceSpec) -> Reference:
    return Reference(
        perplexity=row.perplexity,
        bleu=row.bleu,
        parameters_millions=row.parameters_millions,
        perplexity_difference=row.perplexity / base.perplexity - 1 if row.perplexity and base.perplexity else None,
        perplexity_points=row.perplexity - base.perplexity if row.perplexity and base.perplexity else None,
        bleu_difference=row.bleu - base.bleu if row.bleu and base.bleu else None,
    )
