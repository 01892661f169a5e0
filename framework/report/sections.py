"""Rows → the parts of the table within which figures compare: those measured on the same data, in the same pieces."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.spec import DataSpec, ExperimentSpec, TrialSpec, identity


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that share their data. Perplexity per piece depends on the sentences and on the pieces."""

    heading: str
    """Names the data, such as `on reverse(max_length=24)`; empty if the whole table is one section."""
    rows: tuple[str, ...]
    """In the experiment's order."""
    baseline: str | None
    """The row that the others are compared with: the experiment's baseline, or where that stands in another section
    the first row that differs from it in nothing but the data; null if there is none."""

    def says(self, line: str) -> str:
        """A line about this section alone."""
        return f"{self.heading}: {line}" if self.heading else line


def sections(experiment: ExperimentSpec, plan: tuple[TrialSpec, ...]) -> tuple[Section, ...]:
    """Part the planned rows by their data, in the order in which the experiment first names each."""
    trials = {trial.row: trial for trial in plan}
    by_data: defaultdict[str, list[str]] = defaultdict(list)
    for row in experiment.rows:
        if row in trials:
            by_data[_data_of(trials[row])].append(row)
    if len(by_data) == 1:
        (rows,) = by_data.values()
        return (Section("", tuple(rows), experiment.baseline),)
    headings = _headings([trials[rows[0]].data for rows in by_data.values()])
    return tuple(
        Section(heading, tuple(rows), _baseline(experiment.baseline, rows, trials))
        for heading, rows in zip(headings, by_data.values(), strict=True)
    )


def _data_of(trial: TrialSpec) -> str:
    """Without the corpus nothing is known of the data but how it is asked for."""
    return trial.data_key or json.dumps(identity(trial.data), sort_keys=True)


def _baseline(name: str, rows: Sequence[str], trials: Mapping[str, TrialSpec]) -> str | None:
    if name in rows:
        return name
    if name not in trials:
        return None
    wanted = _all_but_data(trials[name])
    return next((row for row in rows if _all_but_data(trials[row]) == wanted), None)


def _all_but_data(trial: TrialSpec) -> list[dict[str, Any]]:
    return [identity(part) for part in (trial.model, trial.train, trial.evaluate)]


def _headings(data: Sequence[DataSpec]) -> list[str]:
    """The corpus with its options, and whatever else of the data is not the same in all sections."""
    others = [_leaves({name: part for name, part in identity(each).items() if name != "corpus"}) for each in data]
    headings = []
    for each, settings in zip(data, others, strict=True):
        told = [f"{key}={value}" for key, value in settings.items() if any(o.get(key) != value for o in others)]
        headings.append(", ".join([f"on {each.corpus}", *told]))
    return headings


def _leaves(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The values of nested mappings by dotted key."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{inner}": leaf for inner, leaf in _leaves(value).items()}
        else:
            flat[key] = value
    return flat
