"""A trial's folder: the truth about it. Optuna and MLflow are mirrors of what stands here.

    trials/TRAIN_KEY/
        spec.json                      what was asked
        plugins.json                   whose code answered: each plugin's module, origin and digest
        lock                           held while a process fills the folder
        metrics.jsonl                  a line per point of the curves
        checkpoint.safetensors         the last good one (framework/train/checkpoint.py), until the trial is measured
        weights/STEP.safetensors       what is measured: the last weights, and those averaged with them
        training.json                  how training ended, written after the last step
        failure.json                   why the last attempt crashed; gone once one succeeds
        evaluations/EVALUATE_KEY.outputs.jsonl  what was generated, and the references: a line for each
        evaluations/EVALUATE_KEY.json  the scores, written last

Every file but the lock and the curves appears whole or not at all. Torch-free.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, ValidationError

from framework.curves import Curves
from framework.errors import TrialError
from framework.files import first_problem, held, is_held, write_whole
from framework.spec import Spec, TrialSpec


class Finding(Spec):
    """What a trial's folder says. A field that a newer version has written is passed over."""

    model_config = ConfigDict(extra="ignore")


class TrainingResult(Finding):
    """How training ended. A diverged trial is final; a crash leaves no result and is tried again."""

    status: Literal["trained", "diverged"]
    steps: int
    parameters: int
    seconds: float
    """Of the steps that count: what was run again after a kill is not counted twice."""
    peak_memory_bytes: int
    """Of the process that finished it."""
    reason: str | None = None
    """Why it diverged."""
    diverged_at_step: int | None = None
    last_finite_loss: float | None = None
    data: dict[str, int] = Field(default_factory=dict)
    """What the data held: pairs kept and pairs left out, by split."""
    environment: dict[str, str] = Field(default_factory=dict)

    def diverged(self, step: int, reason: str, last_finite_loss: float | None) -> TrainingResult:
        """The same training, which turned out to have diverged at `step`."""
        found = {
            "status": "diverged",
            "reason": f"diverged at step {step}: {reason}",
            "diverged_at_step": step,
            "last_finite_loss": last_finite_loss,
        }
        return self.model_copy(update=found)


class Evaluation(Finding):
    """The scores of a trained model under one evaluate spec."""

    metrics: dict[str, float]
    """By full name, such as `dev/perplexity`."""
    details: dict[str, str] = Field(default_factory=dict)
    """What a reader needs to judge them, such as the sacreBLEU signature."""
    averaged_steps: tuple[int, ...] = ()
    """The updates whose weights were averaged into the model that was measured; one where none were."""
    seconds: float = 0.0
    environment: dict[str, str] = Field(default_factory=dict)


class Output(Finding):
    """A line of text that a model generated, and what it should have been."""

    hypothesis: str
    reference: str


class Failure(Finding):
    """Why an attempt crashed. Not final: the next run tries again."""

    attempts: int
    """That crashed in a row."""
    error: str
    """One line: the exception's type and words."""
    trace: str = ""


class TrialFolder:
    """Reads and fills one trial's folder. Reading raises `TrialError` for a file that is damaged."""

    def __init__(self, home: Path, train_key: str) -> None:
        self.path = home / "trials" / train_key
        self.curves = Curves(self.path / "metrics.jsonl")

    @property
    def checkpoint_path(self) -> Path:
        return self.path / "checkpoint.safetensors"

    def weights_path(self, step: int) -> Path:
        """Where the weights after an update lie."""
        return self.path / "weights" / f"{step}.safetensors"

    def keep(self, what: Literal["checkpoint", "weights", "nothing"]) -> None:
        """Remove from the disk what `TrainSpec.keep` does not keep of a trial that has come to its end."""
        if what != "checkpoint":
            self.checkpoint_path.unlink(missing_ok=True)
        if what == "nothing":
            shutil.rmtree(self.path / "weights", ignore_errors=True)

    def lock(self, wait: bool = False) -> AbstractContextManager[None]:
        """Hold the folder. Raises `Locked` while another process does, unless asked to wait for it."""
        return held(self.path / "lock", {"pid": os.getpid(), "host": os.uname().nodename}, wait)

    @property
    def is_locked(self) -> bool:
        """Whether some process fills the folder now."""
        return is_held(self.path / "lock")

    def write_spec(self, spec: TrialSpec) -> None:
        if not (self.path / "spec.json").exists():
            write_whole(self.path / "spec.json", spec.model_dump_json(indent=2))

    def write_plugins(self, plugins: Sequence[Mapping[str, str]]) -> None:
        if not (self.path / "plugins.json").exists():
            write_whole(self.path / "plugins.json", json.dumps(plugins, indent=2))

    def training(self) -> TrainingResult | None:
        return _read(self.path / "training.json", TrainingResult, "trains on from the last checkpoint")

    def write_training(self, result: TrainingResult) -> None:
        write_whole(self.path / "training.json", result.model_dump_json(indent=2))

    def evaluation(self, evaluate_key: str) -> Evaluation | None:
        return _read(self._evaluation_path(evaluate_key), Evaluation, "measures the model again")

    def write_evaluation(self, evaluate_key: str, evaluation: Evaluation, outputs: Sequence[Output] = ()) -> None:
        """Write the scores, and before them what was generated, so that scores are never without it."""
        if outputs:
            lines = "".join(f"{output.model_dump_json()}\n" for output in outputs)
            write_whole(self._outputs_path(evaluate_key), lines)
        write_whole(self._evaluation_path(evaluate_key), evaluation.model_dump_json(indent=2))

    def outputs(self, evaluate_key: str) -> tuple[Output, ...] | None:
        """Give what an evaluation generated, in the order of its split; None where it generated nothing."""
        path = self._outputs_path(evaluate_key)
        try:
            lines = path.read_bytes().splitlines()  # JSON has no line ends of its own, in bytes none but these
            return tuple(map(Output.model_validate_json, lines))
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise TrialError(
                f"{path} is damaged: {first_problem(error)}. Delete it and {self._evaluation_path(evaluate_key).name} "
                "beside it, and the next run measures the model again"
            ) from error

    def failure(self) -> Failure | None:
        return _read(self.path / "failure.json", Failure, "tries the trial again")

    def add_failure(self, error: str, trace: str) -> None:
        """Remember that an attempt crashed, and how many have in a row."""
        earlier = self.failure()
        failure = Failure(attempts=earlier.attempts + 1 if earlier else 1, error=error, trace=trace)
        write_whole(self.path / "failure.json", failure.model_dump_json(indent=2))

    def forget_failure(self) -> None:
        (self.path / "failure.json").unlink(missing_ok=True)

    def _evaluation_path(self, evaluate_key: str) -> Path:
        return self.path / "evaluations" / f"{evaluate_key}.json"

    def _outputs_path(self, evaluate_key: str) -> Path:
        return self.path / "evaluations" / f"{evaluate_key}.outputs.jsonl"

    def finished(self, evaluate_key: str) -> bool:
        """Whether nothing is left to do: the scores are there, or training diverged."""
        if self._evaluation_path(evaluate_key).exists():
            return True
        training = self.training()
        return training is not None and training.status == "diverged"


Status: TypeAlias = Literal["done", "diverged", "failed", "running", "to do", "no corpus"]


def status(home: Path, train_key: str | None, evaluate_key: str | None) -> Status:
    """Where a trial stands, by its folder alone. `failed` means that the last attempt crashed."""
    if train_key is None or evaluate_key is None:
        return "no corpus"
    folder = TrialFolder(home, train_key)
    if folder.evaluation(evaluate_key) is not None:
        return "done"
    if (training := folder.training()) is not None and training.status == "diverged":
        return "diverged"
    if folder.is_locked:
        return "running"
    return "to do" if folder.failure() is None else "failed"


def _read(path: Path, kind: type[Finding], without_it: str) -> Any:
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        reason = first_problem(error)
        raise TrialError(f"{path} is damaged: {reason}. Delete this file, and the next run {without_it}") from error
