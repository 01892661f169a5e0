"""What a plan amounts to before anything is trained: parameters and status, trial by trial."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

import torch

from framework.contracts import Objective
from framework.errors import PluginError, Problem, SpecError
from framework.evaluate.measure import chosen_metrics
from framework.journal import Status, status
from framework.model.assemble import assemble
from framework.model.transformer import num_parameters
from framework.plan import Plan
from framework.registry import Registry
from framework.spec import ModelSpec, TrialSpec
from framework.spec.load import Loaded


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
    data is found here.
    """
    counts: dict[str, int] = {}
    by_model: dict[str, int] = {}
    problems: list[Problem] = []
    for trial in {trial.row: trial for trial in plan}.values():
        model = f"{trial.model.model_dump_json()}{trial.data.model_dump_json()}"
        try:
            _require_measurable(trial, registry)
            if model not in by_model:
                with torch.device("meta"):
                    by_model[model] = num_parameters(assemble(trial.model, trial.data, registry))
            counts[trial.row] = by_model[model]
        except SpecError as error:
            problems += map(loaded.rows[trial.row].placed, error.problems)
        except PluginError as error:
            problems.append(Problem(str(error)))
        except Exception as error:  # whatever a plugin raises while it is built
            problems.append(Problem(_in_words(error), f"rows.{trial.row}"))
    if problems:
        raise SpecError(dict.fromkeys(problems))
    return counts


def _require_measurable(trial: TrialSpec, registry: Registry) -> None:
    component, architecture = trial.train.objective, trial.model.architecture
    objective: Objective = registry.plugin("objective", component.name)(component.options)
    if architecture not in objective.architectures:
        trains = ", ".join(sorted(objective.architectures))
        raise SpecError(f"{component.name!r} trains {trains}; model.architecture is {architecture}", "train.objective")
    chosen_metrics(objective, trial.evaluate)


def _derived(trial: TrialSpec, baseline: ModelSpec) -> dict[str, int]:
    model = trial.model.resolved()
    unstated = [name for name in ("d_k", "d_v") if f"model.{name}" not in trial.changes]
    return {name: getattr(model, name) for name in unstated if getattr(model, name) != getattr(baseline, name)}


def _in_words(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"the model cannot be built: {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
