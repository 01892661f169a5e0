"""Whether what two rows generated differs by more than chance would let it: sacreBLEU's paired randomisation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sacrebleu.significance import PairedTest

from framework.errors import SpecError
from framework.evaluate.text_metrics import TEXT_METRICS, TextMetric, text_metric
from framework.journal import Output, TrialFolder
from framework.plan import Plan
from framework.spec import TrialSpec
from framework.spec.suggest import choices

SAMPLES: Final = 10_000
"""Random exchanges of outputs, so that p is known to about 0.004 near 0.05."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rows at one seed."""

    seed: int
    score: float
    other_score: float
    p_value: float
    """How often a difference as large would be seen, up or down, if it were chance whose output is whose."""
    signature: str
    """How it was scored and tested."""


def compare(plan: Plan, home: Path, row: str, other: str, metric: str) -> tuple[Comparison, ...]:
    """Compare what two rows of a plan generated, at each seed that both have, by one of `TEXT_METRICS`.

    Approximate randomisation (Riezler and Maxwell 2005, section 3): how often exchanging outputs at random makes a
    difference as large as the one that was found. Each test is of two trained models on these lines; how far seeds
    differ it cannot see.

    Raises `SpecError` for a row or a metric that there is not, where the rows share no seed, where outputs are missing,
    and where they are not of the same references.
    """
    rows = list(dict.fromkeys(trial.row for trial in plan))
    for name in (row, other):
        if name not in rows:
            raise SpecError(f"the experiment has no row {name!r}{choices(name, rows)}", "compare")
    if metric not in TEXT_METRICS:
        raise SpecError(f"outputs are not compared by {metric!r}{choices(metric, TEXT_METRICS)}", "--metric")
    if row == other:
        raise SpecError(f"row {row!r} cannot be compared with itself: name another", "compare")
    first, second = ({trial.seed: trial for trial in plan if trial.row == name} for name in (row, other))
    seeds = [seed for seed in first if seed in second]
    if not seeds:
        raise SpecError(
            f"rows {row!r} and {other!r} have no seed in common: {row!r} has {_listed(first)}, and {other!r} has "
            f"{_listed(second)}; give both a seed in the experiment file",
            "seeds",
        )
    return tuple(_at_seed(first[seed], second[seed], home, metric) for seed in seeds)


def comparison_lines(row: str, other: str, comparisons: Sequence[Comparison]) -> list[str]:
    """Say each comparison in a line, and then, once each, how it was counted."""
    names = max(len(row), len(other))
    lines = []
    for found in comparisons:
        difference = found.other_score - found.score
        lines.append(
            f"seed {found.seed}: {row:<{names}} {found.score:6.2f}   {other:<{names}} {found.other_score:6.2f}   "
            f"difference {difference:+.2f}   p = {found.p_value:.4f}"
        )
    lines += dict.fromkeys(found.signature for found in comparisons)
    return lines


def _at_seed(trial: TrialSpec, other: TrialSpec, home: Path, metric: str) -> Comparison:
    outputs, other_outputs = _outputs(trial, home), _outputs(other, home)
    references = [output.reference for output in outputs]
    if references != [output.reference for output in other_outputs]:
        raise SpecError(
            f"rows {trial.row!r} and {other.row!r} were measured on unlike references at seed {trial.seed} "
            f"({len(outputs)} and {len(other_outputs)} lines): give them the same corpus, evaluate.split and "
            "data.max_pieces",
            "data",
        )
    counted = text_metric(metric, trial.evaluate.moses_language)
    return _tested(counted, trial.seed, _said(outputs), _said(other_outputs), references)


def _tested(
    counted: TextMetric, seed: int, hypotheses: Sequence[str], others: Sequence[str], references: Sequence[str]
) -> Comparison:
    systems: list[tuple[str, Sequence[str]]] = [
        ("row", counted.tokenised(hypotheses)),
        ("other", counted.tokenised(others)),
    ]
    test: Any = PairedTest(systems, {"metric": counted.counter}, [counted.tokenised(references)], "ar", SAMPLES)
    signatures, results = test()
    (name,) = signatures
    first, second = results[name]
    # sacreBLEU counts exchanges that make the difference larger, not those that only make it again. With d lines that
    # differ, leaving all and exchanging all make it again, 2 ways of 2^d: where d is small, p is no less than that.
    differing = sum(map(str.__ne__, hypotheses, others))
    p_value = max(second.p_value, min(1.0, 2.0 ** (1 - differing)))
    return Comparison(seed, first.score, second.score, p_value, counted.signature(signatures[name]))


def _outputs(trial: TrialSpec, home: Path) -> tuple[Output, ...]:
    found = None
    if trial.train_key is not None and trial.evaluate_key is not None:
        found = TrialFolder(home, trial.train_key).outputs(trial.evaluate_key)
    if not found:
        raise SpecError(
            f"row {trial.row!r} has no outputs at seed {trial.seed}: they are kept once `ablate run` has measured it "
            "by what it generates, such as bleu or chrf (evaluate.metrics)",
            f"rows.{trial.row}",
        )
    return found


def _said(outputs: Sequence[Output]) -> list[str]:
    return [output.hypothesis for output in outputs]


def _listed(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, seeds)) or "none"
