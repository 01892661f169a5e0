"""What a plan amounts to before anything is trained: parameters and status, trial by trial."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from framework.errors import PluginError, Problem, SpecError
from framework.fit import misfits, too_long
from framework.frames import innermost_frame
from framework.journal import Status, status
from framework.model.assemble import assemble
from framework.model.transformer import num_parameters
from framework.plan import Plan
from framework.registry import Registry
from framework.spec import Component, ModelSpec, ResolvedSpec, TrialSpec
from framework.spec.load import Loaded, ResolvedRow
from framework.testing.row import broken, parts_of


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A planned trial and what is known of it."""

    trial: TrialSpec
    parameters: int
    status: Status
    derived: dict[str, int]
    """Sizes that the row's changes imply: d_k and d_v where they differ from the baseline's and are not stated."""


def survey(plan: Plan, loaded: Loaded, registry: Registry, home: Path) -> list[Surveyed]:
    """Look at every trial of a plan."""
    parameters = parameters_by_row(plan, loaded, registry)
    baseline = loaded.rows[loaded.experiment.baseline].spec.model.resolved()
    return [
        Surveyed(
            trial,
            parameters[trial.row],
            status(home, trial.train_key, trial.evaluate_key),
            _derived(trial, baseline),
        )
        for trial in plan
    ]


def parameters_by_row(plan: Plan, loaded: Loaded, registry: Registry) -> dict[str, int]:
    """Count each row's parameters on a model without storage, a tied table once.

    Raises `SpecError` with every place where parts of a row do not fit each other: what can be found without
    data is found here. What a row's changes bring about is placed at them.
    """
    fitting = _Fitting(registry)
    rows = dict.fromkeys(trial.row for trial in plan)
    found = {name: fitting.problems(loaded.rows[name]) for name in rows}
    if any(found.values()):
        own = fitting.problems(loaded.unchanged) if loaded.unchanged else []
        placed = [
            problem if problem in own else loaded.rows[name].caused(problem)
            for name, problems in found.items()
            for problem in problems
        ]
        raise SpecError(dict.fromkeys(placed))
    return {name: fitting.parameters(loaded.rows[name].spec) for name in rows}


@dataclass(frozen=True, slots=True)
class _Built:
    """What is kept of a model that was put together."""

    parameters: int
    max_positions: int | None


class _Fitting:
    """Puts the parts of rows together, each model once, and tries whether they keep their contracts, each once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._models: dict[str, _Built] = {}
        self._broken: dict[tuple[object, ...], str | None] = {}

    def problems(self, row: ResolvedRow) -> list[Problem]:
        """What does not fit, each at the place where that part was written."""
        found: list[Problem] = []
        try:
            found += misfits(row.spec, self._registry)
            found += too_long(self._built(row.spec).max_positions, row.spec, self._registry)
        except SpecError as error:
            found += error.problems
        except (Exception, SystemExit) as error:  # whatever a plugin raises while it is built
            words = str(error) if isinstance(error, PluginError) else _in_words(error)
            found.append(Problem(words, self._culprit(error, row.spec)))
        return list(dict.fromkeys(map(row.placed, found or self._broken_contracts(row.spec.model))))

    def parameters(self, spec: ResolvedSpec) -> int:
        return self._built(spec).parameters

    def _built(self, spec: ResolvedSpec) -> _Built:
        model = f"{spec.model.model_dump_json()}{spec.data.model_dump_json()}"
        if model not in self._models:
            with torch.device("meta"):
                transformer = assemble(spec.model, spec.data, self._registry)
            self._models[model] = _Built(num_parameters(transformer), transformer.max_positions)
        return self._models[model]

    def _broken_contracts(self, model: ModelSpec) -> Iterator[Problem]:
        for part in parts_of(model, self._registry):
            if part.identity not in self._broken:
                self._broken[part.identity] = broken(part, self._registry)
            if words := self._broken[part.identity]:
                yield Problem(words, part.path)

    def _culprit(self, error: BaseException, spec: ResolvedSpec) -> str:
        """The key of the component in whose code an exception arose or that it names; or the model, if of none."""
        files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
        for path, kind, component in _components(spec):
            named = isinstance(error, PluginError) and repr(component.name) in str(error)
            if named or self._registry.entry(kind, component.name).module.__file__ in files:
                return path
        return "model"


def _components(spec: ResolvedSpec) -> Iterator[tuple[str, str, Component]]:
    """Every component of a row's model and objective as it was written, by its key, sites first."""
    for stack, sites in spec.model.sites:
        for site, chosen in sites:
            for kind, component in chosen:
                if component is not None:
                    yield f"model.sites.{stack}.{site}.{kind}", kind, component
    for kind, value in spec.model:
        if isinstance(value, Component):
            yield f"model.{kind}", kind, value
    yield "train.objective", "objective", spec.train.objective


def _derived(trial: TrialSpec, baseline: ModelSpec) -> dict[str, int]:
    model = trial.model.resolved()
    unstated = [name for name in ("d_k", "d_v") if f"model.{name}" not in trial.changes]
    return {name: getattr(model, name) for name in unstated if getattr(model, name) != getattr(baseline, name)}


def _in_words(error: BaseException) -> str:
    where = innermost_frame(error)
    said = str(error).partition("\n")[0]  # torch goes on with frames of its own
    return f"the model cannot be built: {type(error).__name__}: {said} ({where.filename}:{where.lineno})"
