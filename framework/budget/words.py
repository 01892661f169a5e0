"""A budget as text: a line per design, what it rests on, and a file that runs the first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from framework.budget.designs import Budget, Design, in_words, scaled
from framework.cost import RowCost, duration
from framework.spec import ExperimentSpec
from framework.spec.writing import short_yaml

ASSUMED_DEVIATION: Final = 0.01
"""Of the residual of log-perplexity, where no trials tell: an example to multiply, not a finding."""


def budget_text(budget: Budget, experiment: ExperimentSpec, costs: Mapping[str, RowCost], file: str) -> str:
    """Say what fits; `file` is the experiment's name as `extends` takes it, from beside it."""
    baseline = costs[experiment.baseline].steps
    head = ("seeds", experiment.baseline, "steps", "time at most", "finds a difference of")
    lines = [head, *(_cells(design, budget, experiment, baseline) for design in budget.designs)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    said = [f"Within {duration(budget.seconds)} on {in_words(budget.workers)}:"]
    said += ["  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([*said, *_rests_on(budget), "", *_to_run(budget, experiment, costs, file)]) + "\n"


def _cells(design: Design, budget: Budget, experiment: ExperimentSpec, steps: int) -> tuple[str, ...]:
    share = f"{scaled(steps, design.share):,}" + (f" of {steps:,}" if design.share < 1 else "")
    seeds = len(design.seeds[experiment.baseline])
    return str(design.number), str(seeds), share, duration(design.seconds), _found(design, budget)


def _found(design: Design, budget: Budget) -> str:
    if design.detectable is None:
        return "nothing: one row"
    deviation = budget.scatter.deviation if budget.scatter else ASSUMED_DEVIATION
    return f"{math.expm1(design.detectable * deviation):.1%} of perplexity ({design.detectable:.1f} deviations)"


def _rests_on(budget: Budget) -> list[str]:
    """What the figures mean and take for granted."""
    if budget.scatter is None:
        source = f"of {ASSUMED_DEVIATION:.0%}, which is assumed: no trials are done here that tell"
    else:
        source = (
            f"of {budget.scatter.deviation:.2%}, as in the {budget.scatter.trials} trials that are done "
            f"({budget.scatter.freedom} degrees of freedom)"
        )
    return [
        "Found: 8 times in 10, in the row that is compared least exactly, at a residual's standard deviation "
        f"{source}.",
        "Times are of trials alone on their device; side by side on one machine they may take longer.",
    ]


def _to_run(budget: Budget, experiment: ExperimentSpec, costs: Mapping[str, RowCost], file: str) -> list[str]:
    """The first design as an experiment that extends this one."""
    design = budget.designs[0]
    steps, warmup = scaled(costs[experiment.baseline].steps, design.share), experiment.train.warmup_steps
    said = [f"The first as an experiment, to be written beside {file}:", ""]
    said += short_yaml(_changes(design, experiment, costs, file)).splitlines()
    if steps < 2 * warmup:
        said += ["", f"Of these steps train.warmup_steps={warmup:,} would be most or all: lower it as well."]
    return said


def _changes(design: Design, experiment: ExperimentSpec, costs: Mapping[str, RowCost], file: str) -> dict[str, Any]:
    usual = tuple(design.seeds[experiment.baseline][: design.number])
    steps = scaled(costs[experiment.baseline].steps, design.share)
    rows: dict[str, Any] = {experiment.baseline: {"seeds": list(design.seeds[experiment.baseline])}}
    for name, cost in costs.items():
        own = scaled(cost.steps, design.share)
        if own != steps:
            rows.setdefault(name, {})["change"] = {"train.steps": own}
    return {"extends": file, "train": {"steps": steps}, "seeds": list(usual), "rows": rows}
