"""Designs that fit into a length of time: from what rows cost, and from what a table of such a design can find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Final

from framework.budget.scatter import Scatter, scatter_so_far
from framework.cost import Pace, RowCost, duration
from framework.errors import SpecError
from framework.journal import status
from framework.plan import Plan
from framework.report.statistics import FEWEST, detectable_differences
from framework.spec import ExperimentSpec

SEEDS: Final = (FEWEST, 5, 10, 20)
"""Of a row, to choose from: the fewest that give a verdict, and more."""

BASELINE_SHARE: Final = 2
"""Times as many seeds as a row's, because every comparison rests on the baseline's."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a row costs per trial, and what the experiment states of it."""

    pace: Pace
    steps: int
    evaluate_every: int
    seeds: tuple[int, ...] | None
    """Its own; null where it has the experiment's."""

    def seconds(self, share: float) -> float:
        """Of a trial with this share of the row's steps."""
        return self.pace.trial(scaled(self.steps, share), self.evaluate_every)


@dataclass(frozen=True, slots=True)
class Design:
    """Seeds and steps that fit."""

    number: int
    """Seeds of a row that has the experiment's."""
    seeds: Mapping[str, tuple[int, ...]]
    """By row."""
    share: float
    """Of every row's steps."""
    seconds: float
    """At most, of what is not done yet."""
    detectable: float | None
    """The true difference to the baseline that is found 8 times in 10, in standard deviations of the residual; of the
    row that is compared least exactly. Null where no row is compared."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What fits into a length of time on some workers."""

    seconds: int
    workers: int
    designs: tuple[Design, ...]
    """From few seeds to many; more seeds of fewer steps."""
    scatter: Scatter | None
    """Of scores, where trials are done that tell."""


def budget_of(
    experiment: ExperimentSpec, plan: Plan, home: Path, costs: Mapping[str, RowCost], seconds: int, workers: int
) -> Budget:
    """Propose designs for the rows of a plan. Raises `SpecError` where nothing fits, and for rows without a time."""
    if experiment.baseline not in costs:
        raise SpecError(
            f"a budget compares rows with the baseline {experiment.baseline!r}: choose that too, --row "
            f"{experiment.baseline}",
            "--row",
        )
    rows = {}
    for name, cost in costs.items():
        if cost.pace is None:
            raise SpecError(
                f"row {name!r} could not be timed: leave it out with --row, which names the others", "--budget"
            )
        rows[name] = Row(cost.pace, cost.steps, cost.evaluate_every, experiment.rows[name].seeds)
    done = {
        (trial.row, trial.seed)
        for trial in plan
        if status(home, trial.train_key, trial.evaluate_key) in ("done", "diverged")
    }
    return propose(
        rows,
        experiment.baseline,
        experiment.seeds,
        done,
        seconds,
        workers,
        experiment.report.confidence,
        scatter_so_far(plan, home),
    )


def propose(
    rows: Mapping[str, Row],
    baseline: str,
    experiment_seeds: tuple[int, ...],
    done: Collection[tuple[str, int]],
    seconds: int,
    workers: int,
    confidence: float,
    scatter: Scatter | None,
) -> Budget:
    """Find the most steps, up to the experiment's own, that fit with 3, 5, 10 and 20 seeds of a row.

    Every row keeps its share of steps, and the seeds that it states itself; the baseline has twice a row's. `done` are
    the trials that need no time with the experiment's own steps. Raises `SpecError` where nothing fits.
    """
    steps = rows[baseline].steps

    def needed(seeds: Mapping[str, tuple[int, ...]], share: float) -> float:
        finished = done if share == 1 else ()
        taken = [
            row.seconds(share) for name, row in rows.items() for seed in seeds[name] if (name, seed) not in finished
        ]
        return _at_most(taken, workers)

    designs = []
    for number in SEEDS:
        seeds = _seeds(rows, baseline, experiment_seeds, number)
        most = _most(steps, lambda tried, seeds=seeds: needed(seeds, tried / steps) <= seconds)  # type: ignore[misc]
        if most:
            share = most / steps
            detectable = detectable_differences(seeds, baseline, 1.0, confidence)
            worst = max(detectable.values(), default=None)
            designs.append(Design(number, seeds, share, needed(seeds, share), worst))
    if not designs:
        least = needed(_seeds(rows, baseline, experiment_seeds, FEWEST), 1 / steps)
        raise SpecError(
            f"{duration(seconds)} on {in_words(workers)} is too short: {FEWEST} seeds of a single step would take "
            f"up to {duration(least)}; allow more time or workers, or choose fewer rows with --row",
            "--budget",
        )
    whole = [design for design in designs if design.share == 1]
    # Of those that need no step less, the one with the most seeds is better than the others in everything.
    chosen = (*whole[-1:], *(design for design in designs if design.share < 1))
    return Budget(seconds, workers, chosen, scatter)


def in_words(workers: int) -> str:
    """Such as `1 worker`."""
    return f"{workers} worker{'' if workers == 1 else 's'}"


def scaled(steps: int, share: float) -> int:
    """A share of a row's steps."""
    return max(1, round(steps * share))


def _seeds(rows: Mapping[str, Row], baseline: str, first: tuple[int, ...], number: int) -> dict[str, tuple[int, ...]]:
    """Give each row its seeds: the experiment's, and what follows them."""
    seeds = tuple(islice(_continued(first), number * BASELINE_SHARE))
    return {
        name: seeds if name == baseline else seeds[:number] if row.seeds is None else row.seeds
        for name, row in rows.items()
    }


def _continued(seeds: tuple[int, ...]) -> Iterator[int]:
    yield from seeds
    yield from (seed for seed in count(1) if seed not in seeds)


def _at_most(taken: list[float], workers: int) -> float:
    """Seconds of some trials, each given to the first worker that is free (Graham 1969, SIAM J. Appl. Math. 17)."""
    return sum(taken) / workers + (1 - 1 / workers) * max(taken, default=0.0)


def _most(steps: int, fits: Callable[[int], bool]) -> int:
    """The most steps that fit, of two digits unless they are all; 0 where not even one does."""
    if fits(steps):
        return steps
    fitting, beyond = 0, steps
    while beyond - fitting > 1:
        middle = (fitting + beyond) // 2
        fitting, beyond = (middle, beyond) if fits(middle) else (fitting, middle)
    digits = 10 ** max(0, len(str(fitting)) - 2)
    return fitting // digits * digits
