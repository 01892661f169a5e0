"""A surveyed plan → text: what would run, what each row changes and costs, and parameters beside the publication's."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from framework.cost import RowCost
from framework.report.plan_costs import cost_cells, cost_notes, cost_titles, cost_values
from framework.spec import ExperimentSpec
from framework.spec.experiment import rounds_to
from framework.survey import Surveyed


def render_plan(
    experiment: ExperimentSpec,
    lines: Sequence[Surveyed],
    costs: Mapping[str, RowCost],
    format: str,
    console: Console,
) -> str:
    """Give the plan as `table`, `csv` or `json`, ending in a line feed; `costs` are by row."""
    if format == "json":
        values = [_plain(line, costs[line.trial.row]) for line in lines]
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    if format == "csv":
        frame = pl.from_dicts([_flat(line, costs[line.trial.row]) for line in lines], infer_schema_length=None)
        return frame.write_csv()
    return _table(experiment, lines, costs, console)


def _plain(line: Surveyed, cost: RowCost) -> dict[str, Any]:
    trial = line.trial
    return {
        "row": trial.row,
        "group": trial.group,
        "seed": trial.seed,
        "changes": trial.changes,
        "derived": line.derived,
        "parameters": line.parameters,
        **cost_values(cost),
        "status": line.status,
        "train_key": trial.train_key,
        "evaluate_key": trial.evaluate_key,
    }


def _flat(line: Surveyed, cost: RowCost) -> dict[str, Any]:
    return _plain(line, cost) | {"changes": changes_text(line), "derived": _derived_text(line)}


def changes_text(line: Surveyed) -> str:
    """What a row changes, each `key=value` without the section that goes without saying."""
    return ", ".join(f"{key.removeprefix('model.')}={_value(value)}" for key, value in line.trial.changes.items())


def _derived_text(line: Surveyed) -> str:
    return ", ".join(f"{name}={value}" for name, value in line.derived.items())


def _value(value: Any) -> str:
    if isinstance(value, dict) and "name" in value:
        options = ", ".join(f"{key}={_value(option)}" for key, option in value.get("options", {}).items())
        return f"{value['name']}({options})" if options else value["name"]
    return value if isinstance(value, str) else json.dumps(value)


def _table(
    experiment: ExperimentSpec, lines: Sequence[Surveyed], costs: Mapping[str, RowCost], console: Console
) -> str:
    compared = {line.trial.row: _comparison(experiment, line) for line in lines}
    has_reference = any(compared.values())
    table = Table(
        box=SIMPLE, header_style="bold", title=f"{experiment.name}, trials: {len(lines)}", title_justify="left"
    )
    for title in ("group", "row", "seed", "changes [derived]"):
        table.add_column(title, justify="right" if title == "seed" else "left", overflow="fold")
    table.add_column("parameters", justify="right")
    if has_reference:
        table.add_column("ref. (M)", justify="right")
    titles = cost_titles(costs)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("status", "train key", "evaluate key"):
        table.add_column(title, no_wrap=title == "status", overflow="fold")
    for line in lines:
        trial = line.trial
        derived = f" [{_derived_text(line)}]" if line.derived else ""
        cells = [trial.group or "", trial.row, str(trial.seed), (changes_text(line) + derived) or "–"]
        cells.append(f"{line.parameters:,}")
        if has_reference:
            cells.append(compared[trial.row] or "–")
        cells += cost_cells(costs[trial.row])[: len(titles)]
        cells += [line.status, (trial.train_key or "–")[:8], (trial.evaluate_key or "–")[:8]]
        table.add_row(*map(Text, cells))
    return _drawn(table, console) + _verdict(experiment, lines) + cost_notes(lines, costs)


def _comparison(experiment: ExperimentSpec, line: Surveyed) -> str:
    printed = _printed(experiment, line)
    if printed is None:
        return ""
    return f"{printed:g}" + ("" if rounds_to(_as_published(experiment, line), printed) else " ≠")


def _printed(experiment: ExperimentSpec, line: Surveyed) -> float | None:
    """The parameter count that the row's reference prints, in millions."""
    reference = experiment.rows[line.trial.row].reference
    return reference.parameters_millions if reference else None


def _as_published(experiment: ExperimentSpec, line: Surveyed) -> int:
    return experiment.report.as_published(line.parameters, line.trial.model.d_model)


def _verdict(experiment: ExperimentSpec, lines: Sequence[Surveyed]) -> str:
    by_row = {line.trial.row: line for line in lines}
    counts = {row: _as_published(experiment, line) for row, line in by_row.items()}
    printed = {row: value for row, line in by_row.items() if (value := _printed(experiment, line))}
    if not printed:
        return ""
    unlike = {row: value for row, value in printed.items() if not rounds_to(counts[row], value)}
    extra = experiment.report.reference_embedding_rows
    said = f"Parameters against the reference: {len(printed)} compared, {len(printed) - len(unlike)} match"
    said += f" ({extra} embedding rows that the reference counted are added)." if extra else "."
    for row, value in unlike.items():
        said += f"\nMismatch: {row} has {counts[row] / 1e6:.3f} million here, the reference prints {value:g}."
    return said + "\n"


def _drawn(table: Table, console: Console) -> str:
    target = Console(
        file=io.StringIO(),
        width=console.width if console.is_terminal else 160,
        force_terminal=console.is_terminal,
        color_system=console.color_system if console.is_terminal else None,  # type: ignore[arg-type]  # rich's own name
    )
    with target.capture() as capture:
        target.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"
