"""The page: a template, and values that are all computed from the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from string import Template
from typing import Final

from docs.essay.picture import svg
from docs.results.table3_small import tables
from docs.results.table3_small.picture import draw
from docs.results.table3_small.record import RECORD
from docs.results.table3_small.results import Results, results
from framework.journal import TrainingResult, TrialFolder
from framework.report.certainty import certainty
from framework.report.differences import PERPLEXITY
from framework.report.reference import agreement
from framework.report.table import Report

PAGE: Final = RECORD.with_suffix(".md")
TEMPLATE: Final = RECORD.with_suffix(".md.in")
PICTURE: Final = "differences.svg"


def text(found: Results, record: Path = RECORD) -> str:
    """Write the whole page as Markdown."""
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(values(found, record))


def values(found: Results, record: Path = RECORD) -> dict[str, str]:
    """What is set into the template."""
    report = found.report
    rules = report.experiment.report
    trained = [
        training
        for key in report.trials["train_key"].drop_nulls()
        if (training := TrialFolder(record, key).training()) is not None
    ]
    return {
        "standing": standing(report),
        "earlier": earlier(found),
        "sizes": tables.sizes(found),
        "data": data(trained),
        "costs": costs(trained),
        "confidence": f"{rules.confidence * 100:g} %",
        "margin": f"±{rules.margin * 100:g} %",
        "threshold": f"{rules.reference_threshold:g}",
        "paper": tables.scores(found, found.paper, tables.PERPLEXITY),
        "own": tables.scores(found, found.own, tables.PERPLEXITY),
        "certainty": bullets(assumptions(report)),
        "directions": tables.directions(tables.large(found)),
        "agreement": bullets([*agreement(report.summaries, rules.reference_threshold), *disagreement(found)]),
        "translations": tables.scores(found, report.summaries, tables.TRANSLATIONS),
        "signatures": bullets(f"{name}: `{signature}`" for name, signature in report.yardstick.signatures.items()),
        "trials": tables.trials(report),
    }


def standing(report: Report) -> str:
    """How much of the table is in."""
    found = Counter(report.trials["status"])
    planned, ended = len(report.plan), found["done"] + found["diverged"]
    lost = f", of which {found['diverged']} diverged" if found["diverged"] else ""
    if ended == planned:
        return f"All {planned} trials are in{lost}."
    rows = sum(row.n + row.diverged == row.planned for row in report.summaries)
    return (
        f"**Unfinished: {ended} of {planned} trials are in{lost}**, and {rows} of {len(report.summaries)} rows have "
        "all their seeds. What is said below is said of these alone, and may change with the rest."
    )


def earlier(found: Results) -> str:
    """Whether today's program takes the recorded trials for its own."""
    if not found.earlier:
        return "Today's program takes them for its own: it trains none of them anew."
    return (
        f"Code of the program has changed since: {found.earlier} of them have keys that today's program would not "
        "give, and it would train these anew."
    )


def data(trained: Sequence[TrainingResult]) -> str:
    """How many pairs there are of each split, and how many are too long for it; alike in all trials."""
    if not trained:
        return "no trial is in yet"
    counts = trained[0].data
    splits = dict.fromkeys(name.partition("/")[0] for name in counts)
    return "; ".join(
        f"{counts[f'{split}/pairs']:,} in {split}, without {counts[f'{split}/left_out']:,} that are longer"
        for split in splits
    )


def costs(trained: Sequence[TrainingResult]) -> str:
    """What trials took, and which libraries they ran with."""
    if not trained:
        return "No trial is in yet."
    minutes = [training.seconds / 60 for training in trained]
    environments = Counter(
        ", ".join(f"{name} {value}" for name, value in training.environment.items()) for training in trained
    )
    ran = "; ".join(
        said if len(environments) == 1 else f"{said} ({count} trials)" for said, count in environments.most_common()
    )
    return (
        f"Training took {min(minutes):.0f} to {max(minutes):.0f} minutes a trial, {median(minutes):.0f} in the middle, "
        f"and {sum(minutes) / 60:.1f} hours of one core in all, on a machine that had other work as well. Versions: "
        f"{ran.replace('_', ' ')}."
    )


def assumptions(report: Report) -> list[str]:
    """What the intervals rest on, which trials came to a bad end, and which are unlike the rest."""
    said = []
    for section, compared in zip(report.sections, report.compared, strict=True):
        if section.baseline is not None:
            said += certainty(compared[PERPLEXITY], section.baseline, report.summaries)
    for row, seed, status, reason in report.trials.select("row", "seed", "status", "reason").iter_rows():
        if status == "diverged":
            said.append(f"{row}, seed {seed}: {reason}")
    said += [f"**warning:** {warning}" for warning in report.warnings]
    return said or ["no row has three seeds yet, which an interval of its difference needs"]


def disagreement(found: Results) -> list[str]:
    """The rows with a large difference in the paper that lie on the other side of base here, and what was tried."""
    rows = tables.large(found)
    against = [row for row in rows if tables.same_side(row) is False]
    missing = [f"`{row.row}`" for row in rows if tables.same_side(row) is None]
    said = []
    if against:
        them = ", ".join(f"`{row.row}` ({row.verdict})" for row in against)
        said.append(
            f"on the other side than in the paper: {them}. What was tried is the search for the regime, which looked "
            "at depth and at dropout 0 alone; no row has a regime of its own"
        )
    if missing:
        said.append(f"yet to be measured: {', '.join(missing)}")
    return said or ["no row with a large difference in the paper lies on the other side here"]


def bullets(lines: Iterable[str]) -> str:
    """Write a list."""
    return "\n".join(f"- {line}" for line in lines)


def write(record: Path = RECORD, page: Path = PAGE) -> None:
    """Write the page and its picture from the record."""
    found = results(record)
    page.write_text(text(found, record), encoding="utf-8")
    (record / PICTURE).write_bytes(svg(lambda: draw(found)))
