"""ONE trial: its folder filled, from wherever an earlier attempt left it."""

from __future__ import annotations

import logging
import math
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import torch

from framework.contracts import Objective
from framework.data.prepared import PreparedData
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.measure import chosen_metrics, measure
from framework.evaluate.token_means import token_means
from framework.identity import provenance
from framework.journal import Evaluation, TrainingResult, TrialFolder
from framework.model.assemble import assemble, initialize
from framework.model.transformer import Transformer, num_parameters
from framework.peak_memory import peak_memory_bytes, restart_peak_memory
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.train import checkpoint
from framework.train.errors import CheckpointUnreadable, Diverged
from framework.train.loop import Training

_log = logging.getLogger(__name__)


def use_one_thread() -> None:
    """Make this process compute in one thread, on which "the same numbers, bit for bit" rests."""
    torch.set_num_threads(1)


def data_folder(home: Path, data_key: str) -> Path:
    """Where prepared data lies, for every trial with that key."""
    return home / "cache" / "data" / data_key


def run_trial(spec: TrialSpec, registry: Registry, home: Path) -> None:
    """Train and evaluate what is not yet there, waiting while another process fills the folder.

    The data must be prepared. Divergence is a result like any other, also where only the scores show it; whatever
    else goes wrong is raised: before training, `SpecError` for a metric or a split that there is not.
    """
    assert spec.train_key is not None, "a trial without its corpus cannot run"
    assert spec.data_key is not None
    assert spec.evaluate_key is not None
    folder = TrialFolder(home, spec.train_key)
    with folder.lock(wait=True):
        if folder.finished(spec.evaluate_key):
            return
        folder.write_spec(spec)
        folder.write_plugins(provenance(spec, registry))
        restart_peak_memory()
        data = PreparedData.open(data_folder(home, spec.data_key))
        objective: Objective = registry.plugin("objective", spec.train.objective.name)(spec.train.objective.options)
        chosen_metrics(objective, spec.evaluate)
        data.split(spec.evaluate.split)
        model = assemble(spec.model, spec.data, registry)
        result = folder.training()
        if result is None or not _weights_are_back(folder, model, result.steps):
            initialize(model, spec.seed)
            result = _train(spec, model, objective, data, folder)
            folder.write_training(result)
        if result.status == "trained":
            try:
                folder.write_evaluation(spec.evaluate_key, _evaluate(spec, model, objective, data))
            except Unmeasurable as error:  # the same weights would give the same on every attempt
                last = folder.curves.last()
                last_loss = last.values.get("train/loss") if last is not None else None
                folder.write_training(result.diverged(result.steps, str(error), last_loss))
        folder.forget_failure()


def _weights_are_back(folder: TrialFolder, model: Transformer, last_step: int) -> bool:
    """Fill a model from an earlier training that came to its end, and say whether these are its last weights.

    They are not where the checkpoint was lost and training, on its way to the same numbers, interrupted.
    """
    try:
        return checkpoint.load_weights(folder.checkpoint_path, model) == last_step
    except (CheckpointUnreadable, FileNotFoundError):
        return False


def _train(
    spec: TrialSpec, model: Transformer, objective: Objective, data: PreparedData, folder: TrialFolder
) -> TrainingResult:
    training = Training(model, objective, spec.train, spec.model.d_model, data.split("train"), spec.seed)
    seconds = 0.0
    try:
        if (extra := checkpoint.restore(folder.checkpoint_path, training)) is not None:
            seconds = float(str(extra["seconds"]))
    except CheckpointUnreadable as error:
        _log.warning("row %s, seed %d is trained from step 1: %s", spec.row, spec.seed, error)
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
            if _due(training, spec.train.checkpoint_every) and end is None:
                curves.sync()  # a checkpoint ahead of the curves would leave a gap in them for good
                checkpoint.save(folder.checkpoint_path, training, {"seconds": seconds})
    result = TrainingResult(
        status="trained",
        steps=training.step,
        parameters=num_parameters(model),
        seconds=seconds,
        peak_memory_bytes=peak_memory_bytes(),
        data=data.counts,
        environment=environment(),
    )
    if isinstance(end, Diverged):
        return result.diverged(end.step, end.reason, end.last_finite_loss)
    if end is not None:
        return result.diverged(training.step, str(end), training.last_loss)
    return result


def _dev_curve(training: Training, objective: Objective, data: PreparedData, spec: TrialSpec) -> dict[str, float]:
    """Measure as `measure` will, batches too, so that the last point and the score are one number."""
    loss = token_means(training.model, objective, data.split("dev"), spec.evaluate.batch_tokens).loss
    return {"dev/loss": loss, "dev/perplexity": math.exp(min(loss, _LARGEST_EXPONENT))}


_LARGEST_EXPONENT = math.log(sys.float_info.max)
"""exp of more does not fit a float64."""


def _due(training: Training, every: int) -> bool:
    return training.finished or training.step % every == 0


def _evaluate(spec: TrialSpec, model: Transformer, objective: Objective, data: PreparedData) -> Evaluation:
    started = time.perf_counter()
    measured = measure(model, objective, data, spec.evaluate)
    return Evaluation(
        metrics=measured.metrics,
        details=measured.details,
        seconds=time.perf_counter() - started,
        environment=environment(),
    )


def environment() -> dict[str, str]:
    """What ran the numbers: recorded, never part of a key."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        **{name: version(name) for name in ("tokenizers", "safetensors", "sacrebleu")},
        "device": "cpu",
        "threads": str(torch.get_num_threads()),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
