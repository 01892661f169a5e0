"""The trials of a row → one line of the table: estimates, differences to the baseline, a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import polars as pl

from framework.report.sections import Section
from framework.report.statistics import Difference, Estimate, compare_means, compare_perplexities, estimate
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
    scores: Mapping[str, Estimate | None]
    """By every other metric that the table has."""
    score_differences: Mapping[str, Estimate | None]
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
        difference = self.perplexity_difference
        passed = "baseline" if self.is_baseline else difference.verdict if difference else ""
        return ", ".join(filter(None, (passed, f"{self.diverged} diverged" if self.diverged else "")))


def summarize(
    experiment: ExperimentSpec,
    plan: tuple[TrialSpec, ...],
    frame: pl.DataFrame,
    measure: Yardstick,
    sections: tuple[Section, ...],
) -> tuple[RowSummary, ...]:
    """One summary per planned row, section after section; `frame` is `collect.trials` of the plan."""
    widths = {trial.row: trial.model.d_model for trial in plan}
    return tuple(
        _summary(row, section.baseline, experiment, frame, measure, widths[row])
        for section in sections
        for row in section.rows
    )


def _summary(
    name: str,
    baseline: str | None,
    experiment: ExperimentSpec,
    frame: pl.DataFrame,
    measure: Yardstick,
    d_model: int,
) -> RowSummary:
    spec, rules = experiment.rows[name], experiment.report
    lines = frame.filter(pl.col("row") == name)
    statuses = lines["status"].to_list()
    parameters = next(iter(lines["parameters"].drop_nulls()), None)
    seconds = lines["seconds"].drop_nulls().to_list()
    base = None if name == baseline else baseline
    perplexities, base_perplexities = (measure.scores(frame, row, "perplexity") for row in (name, base))
    scores = {metric: measure.scores(frame, name, metric) for metric in measure.metrics}
    base_scores = {metric: measure.scores(frame, base, metric) for metric in measure.metrics}
    base_reference = experiment.rows[base].reference if base else None
    return RowSummary(
        row=name,
        label=spec.label or name,
        group=spec.group,
        baseline=baseline,
        planned=len(statuses),
        n=statuses.count("done"),
        diverged=statuses.count("diverged"),
        failed=statuses.count("failed"),
        perplexity=estimate(list(perplexities.values()), rules.confidence),
        perplexity_difference=compare_perplexities(perplexities, base_perplexities, rules.confidence, rules.margin),
        scores={metric: estimate(list(found.values()), rules.confidence) for metric, found in scores.items()},
        score_differences={
            metric: compare_means(found, base_scores[metric], rules.confidence) for metric, found in scores.items()
        },
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
        bleu_difference=row.bleu - base.bleu if row.bleu and base.bleu else None,
    )
