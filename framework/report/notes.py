"""What must be said beside a table for its figures to be judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import polars as pl

from framework.report.certainty import certainty, seeds_of_baselines
from framework.report.collect import DETAIL, ENVIRONMENT, SCORED
from framework.report.differences import PERPLEXITY
from framework.report.reference import agreement, parameters
from framework.report.sections import Section
from framework.report.statistics import Comparison
from framework.report.summary import RowSummary
from framework.report.yardstick import Place, Yardstick
from framework.spec import ExperimentSpec, TrialSpec


def notes(
    experiment: ExperimentSpec,
    plan: tuple[TrialSpec, ...],
    frame: pl.DataFrame,
    sections: tuple[Section, ...],
    compared: tuple[Mapping[str, Comparison], ...],
    summaries: tuple[RowSummary, ...],
    measure: Yardstick,
) -> tuple[str, ...]:
    """Scale, rules, certainty, agreement with the reference, what is unfinished, and every failure with its reason."""
    rules = experiment.report
    seeds = sorted({trial.seed for trial in plan})
    scorers = "".join(f"; {_title(metric)}: {signature}" for metric, signature in measure.signatures.items())
    baselines = ", ".join(filter(None, (section.baseline for section in sections))) or experiment.baseline
    lines = [section.says(_scale(section, plan, frame)) for section in sections]
    lines += [
        f"seeds {', '.join(map(str, seeds))}; differences to {baselines} are paired by seed; "
        f"{rules.confidence * 100:g}% intervals: ± of a row's own seeds (Student's t), [ ] of all differences of a "
        f"column together; equivalent: the whole interval within ±{rules.margin * 100:g}% perplexity",
        f"perplexity per piece, natural log, unsmoothed, {measure.split} split{scorers}",
    ]
    lines += _across(sections, experiment.baseline)
    for section, found in zip(sections, compared, strict=True):
        own = [summary for summary in summaries if summary.row in section.rows]
        said = agreement(own, rules.reference_threshold)
        if section.baseline is not None:
            said = certainty(found[PERPLEXITY], section.baseline, own) + said
        lines += map(section.says, said)
    lines += seeds_of_baselines(sections, plan)
    lines += parameters(summaries, rules.reference_embedding_rows)
    lines += _details(frame, measure) + _unfinished(frame)
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
        f"{place} is scored by another {_title(metric)} ({signature}): it is left out of the column of "
        f"{measure.signatures[metric]}"
        for metric, places in measure.unlike_scorer.items()
        for place, signature in _by_row(places)
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


def _details(frame: pl.DataFrame, measure: Yardstick) -> list[str]:
    """What the scores of single trials are to be read with; signatures are said above, tokens by headings."""
    said = {SCORED, *measure.signatures}
    done = frame["status"].to_list().count("done")
    lines = []
    for name in frame.columns:
        if not name.startswith(DETAIL) or name.rpartition("/")[2] in said:
            continue
        places: defaultdict[str, dict[Place, str]] = defaultdict(dict)
        for row, seed, text in frame.select("row", "seed", name).drop_nulls().iter_rows():
            places[text][row, seed] = text
        for text, own in places.items():
            rows = [place for place, _ in _by_row(own)]
            of = "" if len(rows) > 1 and len(own) == done else f" of {', '.join(rows)}"
            lines.append(f"{name.removeprefix(DETAIL)}{of}: {text}")
    return lines


def _title(metric: str) -> str:
    return "BLEU" if metric == "bleu" else metric


def _unfinished(frame: pl.DataFrame) -> list[str]:
    statuses = frame["status"].to_list()
    done = statuses.count("done")
    if done == len(statuses):
        return []
    rest = {status: statuses.count(status) for status in ("diverged", "failed", "running", "to do", "no corpus")}
    said = ", ".join(f"{count} {status}" for status, count in rest.items() if count)
    return [f"{done} of {len(statuses)} trials are done; {said}"]
