"""What a plan says of each row's cost: cells of the table, values of the formats, and what they were counted for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.cost import RowCost, duration
from framework.survey import Surveyed


def cost_titles(costs: Mapping[str, RowCost]) -> tuple[str, ...]:
    """Head the first of `cost_cells`; times have a column where there are any."""
    timed = any(cost.pace for cost in costs.values())
    return ("FLOPs", "memory", *(("time",) if timed else ()))


def cost_values(cost: RowCost) -> dict[str, Any]:
    """Plain values; null is what is not known."""
    count, pace = cost.count, cost.pace
    return {
        "training_flops": cost.training_flops,
        "update_flops": count and count.flops,
        "state_bytes": count and count.state_bytes,
        "activation_bytes": count and count.activation_bytes,
        "update_seconds": pace and pace.update,
        "evaluation_seconds": pace and pace.evaluation,
        "seconds": cost.seconds,
        "seconds_from": pace and pace.source,
    }


def cost_cells(cost: RowCost) -> tuple[str, str, str]:
    """FLOPs of the whole training, memory at once, seconds of the whole trial."""
    flops, memory, seconds = cost.training_flops, cost.memory_bytes, cost.seconds
    return (
        "–" if flops is None else f"{flops:.1e}".replace("e+", "e"),
        "–" if memory is None else _memory(memory),
        "–" if seconds is None else duration(seconds),
    )


def cost_notes(lines: Sequence[Surveyed], costs: Mapping[str, RowCost]) -> str:
    """What the figures are of, a line each."""
    batches: dict[str, list[str]] = {}
    for row, cost in costs.items():
        batches.setdefault(str(cost.batch), []).append(row)
    usual, *others = sorted(batches, key=lambda batch: -len(batches[batch]))
    said = [
        "FLOPs: products of the whole training. Memory: weights, gradients, Adam, and about what the backward pass "
        "needs, in float32.",
        f"Counted for batches of {usual}.",
    ]
    said += [f"Rows {', '.join(batches[batch])}: of {batch}." for batch in others]
    said += [
        f"Not counted: row {row}, which cannot be put through without numbers: {cost.uncounted}"
        for row, cost in costs.items()
        if cost.uncounted
    ]
    return "".join(f"{line}\n" for line in [*said, *_time_notes(lines, costs)])


def _time_notes(lines: Sequence[Surveyed], costs: Mapping[str, RowCost]) -> list[str]:
    left = [line for line in lines if line.status not in ("done", "diverged")]
    taken = [costs[line.trial.row].seconds for line in left]
    known = [seconds for seconds in taken if seconds is not None]
    if not known:
        return []
    untimed = f" ({len(left) - len(known)} more are not timed)" if len(known) < len(left) else ""
    return [f"Left to do: {duration(sum(known))} of one worker{untimed}."]


def _memory(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"
