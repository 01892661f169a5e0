"""What the intervals of a section rest on, in words: the residual, who scatters unlike the rest, what can be found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from framework.report.sections import Section
from framework.report.statistics import FEWEST, POWER, Comparison, Scatter
from framework.report.summary import RowSummary
from framework.spec import TrialSpec


def certainty(found: Comparison, baseline: str, summaries: Sequence[RowSummary]) -> list[str]:
    """Of the differences in perplexity of one section; nothing where no row has an interval."""
    return _pooled(found, baseline) + _apart(found, baseline) + _detectable(summaries)


def seeds_of_baselines(sections: Sequence[Section], plan: Sequence[TrialSpec]) -> list[str]:
    """Where the seeds of baselines could say more: every comparison leans on them."""
    by_row: defaultdict[str, set[int]] = defaultdict(set)
    for trial in plan:
        by_row[trial.row].add(trial.seed)
    few, alone = [], []
    for section in sections:
        if section.baseline not in section.rows:
            continue
        base = by_row[section.baseline]
        others = [by_row[row] for row in section.rows if row != section.baseline]
        most = max(map(len, others), default=0)
        if most < FEWEST:
            continue
        if len(base) < 2 * most:
            few.append(section.baseline)
        if unshared := sorted(base.difference(*others)):
            alone.append(f"{', '.join(map(str, unshared))} of {section.baseline}")
    lines = []
    if few:
        lines.append(
            f"fewer than twice the seeds of other rows: {', '.join(few)}; every difference leans on its baseline, so "
            "that more seeds of it, which the rows share in sets that overlap, make all intervals narrower"
        )
    if alone:
        lines.append(
            f"seeds that say nothing of any difference, because no other row has them: {'; '.join(alone)}; share "
            "them out among the rows in sets that overlap"
        )
    return lines


def _pooled(found: Comparison, baseline: str) -> list[str]:
    if found.critical is None or found.deviation is None:
        return []
    compared = "1 comparison" if found.compared == 1 else f"{found.compared} comparisons"
    return [
        f"log-perplexity = row + seed by least squares, the residual pooled over {found.rows} rows: standard deviation "
        f"{found.deviation:.2g}, {found.freedom} degrees of freedom; {compared} with {baseline} at "
        f"{found.critical:.2f} standard errors ({'Dunnett' if found.compared > 1 else 'Student'})",
        _alike(found.widest),
    ]


def _alike(widest: Scatter | None) -> str:
    if widest is None:
        return "too few rows to tell whether they scatter alike, which pooling takes for granted"
    return (
        f"no pooled row scatters more than by chance: {widest.row} the most, with {widest.ratio:.2g} times the "
        f"variance of the others (p {_p(widest.p)}; F test, Bonferroni over rows)"
    )


def _apart(found: Comparison, baseline: str) -> list[str]:
    if not found.apart:
        return []
    them = ", ".join(f"{each.row} ({each.ratio:.2g} times, p {_p(each.p)})" for each in found.apart)
    if any(each.row == baseline for each in found.apart):
        consequence = "nothing is pooled, and every row has the interval of its own pairs of seeds"
    else:
        consequence = "they are not pooled and have intervals of their own pairs of seeds"
    return [
        f"more variance than the other rows' can have by chance: {them}; {consequence} (Student's t at Bonferroni's "
        "share of the level)"
    ]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"


def _detectable(summaries: Sequence[RowSummary]) -> list[str]:
    found = [
        difference.detectable
        for summary in summaries
        if (difference := summary.perplexity_difference) and difference.detectable is not None
    ]
    if not found:
        return []
    usual, most = (f"{share(found) * 100:.2g}%" for share in (median, max))
    rows = usual if usual == most else f"{usual} (median over rows; {most} at most)"
    return [f"smallest true difference in perplexity that such a table finds {POWER * 10:g} times in 10: {rows}"]
