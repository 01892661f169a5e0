"""What must be said beside a table for its figures to be judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import polars as pl

from framework.report.collect import DETAIL, ENVIRONMENT, SCORED
from framework.report.sections import Section
from framework.report.statistics import order_agreement
from framework.report.summary import RowSummary
from framework.report.yardstick import Place, Yardstick
from framework.spec import ExperimentSpec, TrialSpec
from framework.spec.experiment import rounds_to


def notes(
    experiment: ExperimentSpec,
    plan: tuple[TrialSpec, ...],
    frame: pl.DataFrame,
    sections: tuple[Section, ...],
    summaries: tuple[RowSummary, ...],
    measure: Yardstick,
) -> tuple[str, ...]:
    """Scale, rules, agreement with the reference, what is unfinished, and every failure with its reason."""
    rules = experiment.report
    seeds = sorted({trial.seed for trial in plan})
    scorer = f"; BLEU: {measure.signature}" if measure.signature else ""
    shares = [(section, [summary for summary in summaries if summary.row in section.rows]) for section in sections]
    baselines = ", ".join(filter(None, (section.baseline for section in sections))) or experiment.baseline
    lines = [section.says(_scale(section, plan, frame)) for section in sections]
    lines += [
        f"seeds {', '.join(map(str, seeds))}; differences to {baselines} are paired by seed; ± and [ ] are "
        f"{rules.confidence * 100:g}% intervals (Student's t); equivalent: the whole interval within "
        f"±{rules.margin * 100:g}% perplexity",
        f"perplexity per piece, natural log, unsmoothed, {measure.split} split{scorer}",
    ]
    lines += _across(sections, experiment.baseline)
    lines += [section.says(line) for section, own in shares for line in _detectable(own) + _agreement(own)]
    lines += _parameters(summaries, rules.reference_embedding_rows)
    lines += _details(frame) + _unfinished(frame)
    lines += [
        f"{row}, seed {seed} {status}: {reason or 'no reason given'}"
        for row, seed, status, reason in frame.select("row", "seed", "status", "reason").iter_rows()
        if status in ("diverged", "failed")
    ]
    return tuple(lines)


def warnings(frame: pl.DataFrame, measure: Yardstick) -> tuple[str, ...]:
    """Trials that were not measured, scored or computed like the rest."""
    lines = [
        f"{place} is measured {what}: its figures have no place in these columns, the formats csv and json have them"
        for place, what in _by_row(measure.unlike)
    ]
    lines += [
        f"{place} is scored by another BLEU ({signature}): it is left out of the column of {measure.signature}"
        for place, signature in _by_row(measure.unlike_bleu)
    ]
    for name in ENVIRONMENT:
        found = sorted(frame[name].drop_nulls().unique())
        if len(found) > 1:
            lines.append(f"the trials differ in {name} ({', '.join(found)}): small differences may come from that")
    return tuple(lines)


def _by_row(places: Mapping[Place, str]) -> list[tuple[str, str]]:
    seeds = defaultdict(list)
    for (row, seed), what in places.items():
        seeds[row, what].append(str(seed))
    return [(f"{row} (seed {', '.join(them)})", what) for (row, what), them in seeds.items()]


def _scale(section: Section, plan: tuple[TrialSpec, ...], frame: pl.DataFrame) -> str:
    plan = tuple(trial for trial in plan if trial.row in section.rows)
    frame = frame.filter(pl.col("row").is_in(section.rows))
    parts = [
        next(iter(frame["data"].drop_nulls()), "no trial is trained yet"),
        _span((trial.train.steps for trial in plan), "steps"),
        _span((trial.train.batch_tokens for trial in plan), "padded tokens a side at most"),
        _span(frame["parameters"].drop_nulls().to_list(), "parameters"),
    ]
    return f"scale: {'; '.join(filter(None, parts))}"


def _across(sections: tuple[Section, ...], baseline: str) -> list[str]:
    """What compares with what where there are several sections, and what with nothing."""
    if len(sections) == 1:
        return []
    lines = [
        "figures compare only within a section, whose rows share their data and the tokens of it that are scored; "
        "differences are to its baseline"
    ]
    if any(baseline in section.rows for section in sections):
        lines += [
            section.says(
                f"no differences for {', '.join(section.rows)}, because no row here is {baseline} on other data: add "
                "one that changes only the data"
            )
            for section in sections
            if section.baseline is None and section.scores_unlike is None
        ]
    else:
        lines.append(f"{baseline} is not among these rows, so that no section has a baseline")
    return lines + [
        section.says(
            f"{', '.join(section.rows)} cannot be compared with {section.scores_unlike}, because other tokens are "
            "scored: by another objective, by other options of it, or under a mask that leaves tokens out"
        )
        for section in sections
        if section.scores_unlike is not None
    ]


def _span(values: Iterable[int], unit: str) -> str:
    found = sorted(set(values))
    if not found:
        return ""
    return f"{found[0]:,} {unit}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,} {unit}"


def _detectable(summaries: Sequence[RowSummary]) -> list[str]:
    widths = [
        difference.detectable
        for summary in summaries
        if (difference := summary.perplexity_difference) and difference.detectable is not None
    ]
    if not widths:
        return []
    return [
        "smallest difference in perplexity that these seeds can tell from none: "
        f"{median(widths) * 100:.2g}% (median over rows; {max(widths) * 100:.2g}% at most)"
    ]


def _agreement(summaries: Sequence[RowSummary]) -> list[str]:
    """How far our perplexities and the reference's tell the same story, whatever their levels."""
    signs = [
        (difference.verdict == "worse") == (summary.reference.perplexity_difference > 0)
        for summary in summaries
        if (difference := summary.perplexity_difference)
        and difference.verdict in ("better", "worse")
        and summary.reference.perplexity_difference
    ]
    levels = [
        (summary.perplexity.mean, summary.reference.perplexity)
        for summary in summaries
        if summary.perplexity and summary.reference.perplexity
    ]
    lines = []
    if signs:
        found = f"{sum(signs)} of {len(signs)} rows found better or worse"
        lines.append(f"{found} differ from the baseline in the reference's direction")
    agree, of = order_agreement(levels)
    if of:
        lines.append(f"{agree} of {of} pairs of rows stand in the reference's order of perplexity")
    return lines


def _parameters(summaries: tuple[RowSummary, ...], extra_rows: int) -> list[str]:
    """Compare with the printed counts, at the precision they are printed with."""
    printed = [
        (summary.row, summary.compared_parameters, summary.reference.parameters_millions)
        for summary in summaries
        if summary.compared_parameters is not None and summary.reference.parameters_millions is not None
    ]
    if not printed:
        return []
    other = [f"{row} ({ours / 1e6:.1f})" for row, ours, theirs in printed if not rounds_to(ours, theirs)]
    counted = f", counted with {extra_rows} more embedding rows," if extra_rows else ""
    line = f"parameters{counted} agree with {len(printed) - len(other)} of {len(printed)} printed figures"
    return [f"{line}; not with those of {', '.join(other)}" if other else line]


def _details(frame: pl.DataFrame) -> list[str]:
    """What the scores of single trials are to be read with; BLEU's signature is said above, tokens by headings."""
    lines = []
    for name in frame.columns:
        if name.startswith(DETAIL) and not name.endswith(("/bleu", f"/{SCORED}")):
            found = {(row, seed): text for row, seed, text in frame.select("row", "seed", name).iter_rows() if text}
            lines += [f"{name.removeprefix(DETAIL)} of {place}: {text}" for place, text in _by_row(found)]
    return lines


def _unfinished(frame: pl.DataFrame) -> list[str]:
    statuses = frame["status"].to_list()
    done = statuses.count("done")
    if done == len(statuses):
        return []
    rest = {status: statuses.count(status) for status in ("diverged", "failed", "running", "to do", "no corpus")}
    said = ", ".join(f"{count} {status}" for status, count in rest.items() if count)
    return [f"{done} of {len(statuses)} trials are done; {said}"]
