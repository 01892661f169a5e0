"""ONE trial: its folder filled, from wherever an earlier attempt left it."""

from __future__ import annotations

import logging
import math
import platform
import time
from pathlib import Path

import torch

from framework.contracts import Objective
from framework.data.prepared import PreparedData
from framework.evaluate.errors import Unmeasurable
from framework.evaluate.measure import chosen_metrics, measure
from framework.evaluate.perplexity import loss_per_token
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

    The data must be prepared. Divergence is a result like any other; whatever else goes wrong is raised.
    """
    assert spec.train_key is not None, "a trial without its corpus cannot run"
    assert spec.data_key is not None
    assert spec.evaluate_key is not None
    folder = TrialFolder(home, spec.train_key)
    with folder.lock(wait=True):
        if folder.finished(spec.evaluate_key):
            return
        folder.write_spec(spec)
        restart_peak_memory()
        data = PreparedData.open(data_folder(home, spec.data_key))
        objective: Objective = registry.plugin("objective", spec.train.objective.name)(spec.train.objective.options)
        chosen_metrics(objective, spec.evaluate)
        model = assemble(spec.model, spec.data, registry)
        result = folder.training()
        if result is None or not _weights_are_back(folder, model):
            initialize(model, spec.seed)
            result = _train(spec, model, objective, data, folder)
            folder.write_training(result)
        if result.status == "trained":
            folder.write_evaluation(spec.evaluate_key, _evaluate(spec, model, objective, data))
        folder.forget_failure()


def _weights_are_back(folder: TrialFolder, model: Transformer) -> bool:
    """Fill a model from an earlier training; where its checkpoint is torn or gone, the same numbers come again."""
    try:
        checkpoint.load_weights(folder.checkpoint_path, model)
    except (CheckpointUnreadable, FileNotFoundError):
        return False
    return True


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
    diverged: Diverged | None = None
    with folder.curves.open() as curves:
        while diverged is None and not training.finished:
            started = time.perf_counter()
            try:
                values = training.update()
                seconds += time.perf_counter() - started
                if _due(training, spec.train.evaluate_every):
                    values |= _dev_curve(training, objective, data, spec)
            except Diverged as error:
                diverged = error
                continue
            if _due(training, spec.train.log_every) or "dev/loss" in values:
                curves.append(training.step, values)
            if _due(training, spec.train.checkpoint_every):
                checkpoint.save(folder.checkpoint_path, training, {"seconds": seconds})
    return TrainingResult(
        status="diverged" if diverged else "trained",
        steps=training.step,
        parameters=num_parameters(model),
        seconds=seconds,
        peak_memory_bytes=peak_memory_bytes(),
        reason=f"diverged at step {diverged.step}: {diverged.reason}" if diverged else None,
        diverged_at_step=diverged.step if diverged else None,
        last_finite_loss=diverged.last_finite_loss if diverged else None,
        data=data.counts,
        environment=environment(),
    )


def _dev_curve(training: Training, objective: Objective, data: PreparedData, spec: TrialSpec) -> dict[str, float]:
    try:
        loss = loss_per_token(training.model, objective, data.split("dev"), spec.train.batch_tokens)
    except Unmeasurable as error:
        raise Diverged(training.step, str(error), training.last_loss) from error
    return {"dev/loss": loss, "dev/perplexity": math.exp(min(loss, _LARGEST_EXPONENT))}


_LARGEST_EXPONENT = 700.0
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
        "device": "cpu",
        "threads": str(torch.get_num_threads()),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }
