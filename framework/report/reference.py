"""How far a publication's figures and ours tell the same story, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from framework.report.statistics import FEWEST
from framework.report.summary import RowSummary
from framework.spec.experiment import rounds_to


def agreement(summaries: Sequence[RowSummary], threshold: float) -> list[str]:
    """Of perplexities, whatever their levels: the sides of the baseline, and the order of all rows."""
    return _directions(summaries, threshold) + _order(summaries)


def parameters(summaries: Sequence[RowSummary], extra_rows: int) -> list[str]:
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


def _directions(summaries: Sequence[RowSummary], threshold: float) -> list[str]:
    """On which side of the baseline a row lies, by its mean, decided or not."""
    sides = [
        (summary.row, summary.passed in ("better", "worse"), difference.estimate.mean * points > 0)
        for summary in summaries
        if (difference := summary.perplexity_difference)
        and (points := summary.reference.perplexity_points)
        # Printed figures differ by what they say in decimals: 5.12 - 4.92 is 0.2.
        and round(abs(points), 9) >= threshold
    ]
    if not sides:
        return []
    agree = [row for row, _, same in sides if same]
    against = [row for row, _, same in sides if not same]
    decided = [same for _, is_decided, same in sides if is_decided]
    which = f"by at least {threshold:g} in perplexity" if threshold else "in perplexity"
    line = (
        f"direction: {len(agree)} of {len(sides)} rows whose reference differs from its baseline {which} lie on the "
        f"reference's side of ours{_named(agree)}"
    )
    if against:
        line += f"; not {', '.join(against)}"
    return [f"{line}; {sum(decided)} of the {len(decided)} that are found better or worse"]


def _named(rows: Sequence[str]) -> str:
    return f" ({', '.join(rows)})" if rows else ""


def _order(summaries: Sequence[RowSummary]) -> list[str]:
    """Kendall's tau-b (1945), which allows for ties; its sign is sure of nothing with a handful of rows."""
    levels = [
        (summary.perplexity.mean, summary.reference.perplexity)
        for summary in summaries
        if summary.perplexity and summary.reference.perplexity
    ]
    if len(levels) < FEWEST:
        return []
    from scipy.stats import kendalltau  # takes half a second to import

    tau = float(kendalltau(*zip(*levels, strict=True)).statistic)
    if math.isnan(tau):
        return []
    return [
        f"order: Kendall's tau-b between the reference's perplexities and ours is {tau:.2f} over {len(levels)} rows"
    ]
