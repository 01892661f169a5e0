"""ONE trial: its folder filled, from wherever an earlier attempt left it."""

from __future__ import annotations

import logging
import math
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch

from framework.contracts import Objective
from framework.data.prepared import LAYOUT, PreparedData
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.measure import measure
from framework.evaluate.metrics import chosen_metrics
from framework.evaluate.token_means import token_means
from framework.identity import provenance
from framework.journal import Evaluation, Output, TrainingResult, TrialFolder
from framework.model.assemble import assemble, initialize
from framework.model.transformer import Transformer, num_parameters
from framework.peak_memory import peak_memory_bytes, restart_peak_memory
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.train import averaged_steps, checkpoint, float32_products, load_mean, save_weights
from framework.train.errors import CheckpointUnreadable, Diverged
from framework.train.loop import Training

_log = logging.getLogger(__name__)

CPU: Final = torch.device("cpu")


def use_one_thread() -> None:
    """Make this process compute in one thread, on which "the same numbers, bit for bit" rests."""
    torch.set_num_threads(1)


def data_folder(home: Path, data_key: str) -> Path:
    """Where prepared data lies, for every trial with that key."""
    return home / "cache" / "data" / f"{data_key}-{LAYOUT}"


def run_trial(spec: TrialSpec, registry: Registry, home: Path, device: torch.device = CPU) -> None:
    """Train and evaluate what is not yet there, waiting while another process fills the folder.

    The data must be prepared. Divergence is a result like any other, also where only the scores show it; whatever
    else goes wrong is raised: before training, `SpecError` for a metric or a split that there is not.
    """
    assert spec.train_key is not None, "a trial without its corpus cannot run"
    assert spec.data_key is not None
    assert spec.evaluate_key is not None
    folder = TrialFolder(home, spec.train_key)
    with folder.lock(wait=True), float32_products():
        if folder.finished(spec.evaluate_key):
            return
        folder.write_spec(spec)
        folder.write_plugins(provenance(spec, registry))
        restart_peak_memory(device)
        data = PreparedData.open(data_folder(home, spec.data_key))
        objective: Objective = registry.plugin("objective", spec.train.objective.name)(spec.train.objective.options)
        chosen_metrics(objective, spec.evaluate)
        data.split(spec.evaluate.split)
        model = assemble(spec.model, spec.data, registry)
        result = folder.training()
        if result is None or not _is_filled(model, spec, folder):
            result = _train(spec, model, objective, data, folder, device)
            folder.write_training(result)
            if result.status == "trained":
                _fill(model, spec, folder)
        if result.status == "trained":
            try:
                folder.write_evaluation(spec.evaluate_key, *_evaluate(spec, model.to(device), objective, data))
            except Unmeasurable as error:  # the same weights would give the same on every attempt
                last = folder.curves.last()
                last_loss = last.values.get("train/loss") if last is not None else None
                folder.write_training(result.diverged(result.steps, str(error), last_loss))
        folder.keep(spec.train.keep)
        folder.forget_failure()


def _measured_steps(spec: TrialSpec) -> tuple[int, ...]:
    """The updates whose weights are averaged into the model that is measured."""
    return averaged_steps(spec.train.steps, spec.evaluate.average_last, spec.evaluate.average_every)


def _fill(model: Transformer, spec: TrialSpec, folder: TrialFolder) -> None:
    load_mean([folder.weights_path(step) for step in _measured_steps(spec)], model)


def _is_filled(model: Transformer, spec: TrialSpec, folder: TrialFolder) -> bool:
    """Fill a model from an earlier training that came to its end; where its weights are lost, it is made again."""
    try:
        _fill(model, spec, folder)
    except FileNotFoundError:
        return False
    except CheckpointUnreadable as error:
        _log.warning("row %s, seed %d is trained again: %s", spec.row, spec.seed, error)
        for step in _measured_steps(spec):
            folder.weights_path(step).unlink(missing_ok=True)
        return False
    return True


def _train(
    spec: TrialSpec,
    model: Transformer,
    objective: Objective,
    data: PreparedData,
    folder: TrialFolder,
    device: torch.device,
) -> TrainingResult:
    training, seconds = _begin(spec, model, objective, data, folder, device)
    measured_steps = frozenset(_measured_steps(spec))
    end: Diverged | Unmeasurable | None = None
    with folder.curves.open() as curves:
        while end is None and not training.finished:
            started = time.perf_counter()
            try:
                values = training.update()
            except Diverged as error:
                end = error
                continue
            seconds += time.perf_counter() - started
            if _due(training, spec.train.evaluate_every):
                try:
                    values |= _dev_curve(training, objective, data, spec)
                except Unmeasurable as error:
                    # How often the curve is measured decides nothing: a point is missing, unless it is the last.
                    end = error if training.finished else None
            if _due(training, spec.train.log_every) or "dev/loss" in values:
                curves.append(training.step, values)
            if training.step in measured_steps and end is None:
                save_weights(folder.weights_path(training.step), model)
            if _due(training, spec.train.checkpoint_every) and end is None:
                curves.sync()  # a checkpoint ahead of the curves would leave a gap in them for good
                checkpoint.save(folder.checkpoint_path, training, {"seconds": seconds})
    result = TrainingResult(
        status="trained",
        steps=training.step,
        parameters=num_parameters(model),
        seconds=seconds,
        peak_memory_bytes=peak_memory_bytes(training.device),
        data=data.counts,
        environment=environment(training.device),
    )
    if isinstance(end, Diverged):
        return result.diverged(end.step, end.reason, end.last_finite_loss)
    if end is not None:
        return result.diverged(training.step, str(end), training.last_loss)
    return result


def _begin(
    spec: TrialSpec,
    model: Transformer,
    objective: Objective,
    data: PreparedData,
    folder: TrialFolder,
    device: torch.device,
) -> tuple[Training, float]:
    """Give a training that goes on from the checkpoint, and the seconds that it took so far.

    From step 1 where there is none, and where weights to be measured were not kept as training passed them by, because
    an earlier attempt was asked for others.
    """

    def begun() -> Training:
        initialize(model.cpu(), spec.seed)  # the same weights to start from, whatever the device
        return Training(model.to(device), objective, spec.train, spec.model.d_model, data.split("train"), spec.seed)

    training = begun()
    try:
        extra = checkpoint.restore(folder.checkpoint_path, training)
    except CheckpointUnreadable as error:
        _log.warning("row %s, seed %d is trained from step 1: %s", spec.row, spec.seed, error)
        extra = None
    if extra is None:
        return training, 0.0
    if all(folder.weights_path(step).exists() for step in _measured_steps(spec) if step <= training.step):
        return training, float(str(extra["seconds"]))
    return begun(), 0.0


def _dev_curve(training: Training, objective: Objective, data: PreparedData, spec: TrialSpec) -> dict[str, float]:
    """Measure as `measure` will, batches too, so that the last point and the score are one number."""
    loss = token_means(training.model, objective, data.split("dev"), spec.evaluate.batch_tokens).loss
    return {"dev/loss": loss, "dev/perplexity": math.exp(min(loss, _LARGEST_EXPONENT))}


_LARGEST_EXPONENT = math.log(sys.float_info.max)
"""exp of more does not fit a float64."""


def _due(training: Training, every: int) -> bool:
    return training.finished or training.step % every == 0


def _evaluate(
    spec: TrialSpec, model: Transformer, objective: Objective, data: PreparedData
) -> tuple[Evaluation, tuple[Output, ...]]:
    started = time.perf_counter()
    steps = _measured_steps(spec)
    measured = measure(model, objective, data, spec.evaluate, spec.train)
    evaluation = Evaluation(
        metrics=measured.metrics,
        details=measured.details | _averaged(spec, steps),
        averaged_steps=steps,
        seconds=time.perf_counter() - started,
        environment=environment(next(model.parameters()).device),
    )
    return evaluation, measured.outputs


def _averaged(spec: TrialSpec, steps: tuple[int, ...]) -> dict[str, str]:
    """In words, which weights were averaged, where any were."""
    if len(steps) == 1:
        return {}
    return {f"{spec.evaluate.split}/averaged": f"weights after {len(steps)} updates, {steps[0]} to {steps[-1]}"}


def environment(device: torch.device) -> dict[str, str]:
    """What ran the numbers: recorded, never part of a key."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        **{name: version(name) for name in ("tokenizers", "safetensors", "sacrebleu")},
        "device": "cpu" if device.type == "cpu" else torch.get_device_module(device).get_device_name(device),
        "threads": str(torch.get_num_threads()),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
