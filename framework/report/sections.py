"""Rows → the parts of the table within which figures compare: the same data, in the same pieces, equally scored."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.contracts import ADDRESSES, SITES
from framework.identity import SITE_KINDS
from framework.spec import DataSpec, ExperimentSpec, ModelSpec, TrialSpec, identity


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that share their data and score the same tokens of it.

    Perplexity per piece depends on the sentences, on the pieces, and on which of these enter the loss.
    """

    heading: str
    """Names the data, such as `on reverse(max_length=24)`, and where rows on it score unlike tokens what these score;
    empty if the whole table is one section."""
    rows: tuple[str, ...]
    """In the experiment's order."""
    baseline: str | None
    """The row that the others are compared with: the experiment's baseline, or on other data the first row that
    differs from it in nothing but the data. Null if there is none, and for rows that score other tokens than it."""
    scores_unlike: str | None = None
    """A row on the same data from which these are parted, because they score other tokens: the baseline, if there is
    one; null if these rows' tokens are the baseline's."""

    def says(self, line: str) -> str:
        """A line about this section alone."""
        return f"{self.heading}: {line}" if self.heading else line


def sections(experiment: ExperimentSpec, plan: tuple[TrialSpec, ...], scored: Mapping[str, str]) -> tuple[Section, ...]:
    """Part the planned rows by their data and by what they score, in the order in which the experiment names each.

    `scored` says by row which tokens it was found to score. A row that it lacks, such as one that is yet to be
    measured, stands with its data's baseline.
    """
    trials = {trial.row: trial for trial in plan}
    by_data: defaultdict[str, list[str]] = defaultdict(list)
    for row in experiment.rows:
        if row in trials:
            by_data[_data_of(trials[row])].append(row)
    headings = _headings([trials[rows[0]].data for rows in by_data.values()])
    found: list[Section] = []
    for heading, rows in zip(headings, by_data.values(), strict=True):
        found += _parted(heading, rows, _baseline(experiment.baseline, rows, trials), trials, scored)
    return tuple(found) if len(found) > 1 else (Section("", found[0].rows, experiment.baseline),)


def _parted(
    heading: str,
    rows: Sequence[str],
    baseline: str | None,
    trials: Mapping[str, TrialSpec],
    scored: Mapping[str, str],
) -> list[Section]:
    """The sections of rows on the same data."""
    usual = _usual(rows, baseline, trials, scored)
    by_tokens: defaultdict[str | None, list[str]] = defaultdict(list)
    for row in rows:
        by_tokens[scored.get(row, usual)].append(row)
    if len(by_tokens) == 1:
        return [Section(heading, tuple(rows), baseline)]
    first = baseline or by_tokens[usual][0]
    return [
        Section(
            f"{heading}, scoring {tokens}" if tokens else heading,
            tuple(own),
            baseline if tokens == usual else None,
            None if tokens == usual else first,
        )
        for tokens, own in by_tokens.items()
    ]


def _usual(
    rows: Sequence[str], baseline: str | None, trials: Mapping[str, TrialSpec], scored: Mapping[str, str]
) -> str | None:
    """What the baseline scores; until that is measured, what the first row that has its objective scores."""
    if baseline is None:
        return next((scored[row] for row in rows if row in scored), None)
    objective = trials[baseline].train.objective
    alike = [row for row in rows if trials[row].train.objective == objective]
    return next((scored[row] for row in (baseline, *alike) if row in scored), None)


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
    """Equal for equal rows, however they are written."""
    evaluation = identity(trial.evaluate) | {"metrics": sorted(trial.evaluate.metrics or ())}
    return [_model(trial.model.resolved()), identity(trial.train), evaluation]


def _model(model: ModelSpec) -> dict[str, Any]:
    """A model whose sites are told one by one, whether it named what stands there for all or for each."""
    rest = {name: part for name, part in identity(model).items() if name not in SITE_KINDS}
    sites = {site.value: identity(model.site(*ADDRESSES[site])) for site in SITES[model.architecture]}
    return rest | {"sites": sites}


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
