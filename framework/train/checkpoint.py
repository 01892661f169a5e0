"""Everything that training goes on from, in one safetensors file that appears whole or not at all.

Tensors: `model/NAME` for each weight (one that has several names is stored under its first), `adam/NAME/PART`
for each part of Adam's state, and `generator/DEVICE`, the states that dropout draws from: the CPU's, and that of the
device which the model is on. One metadata key holds the rest as JSON. Reading the file runs no code from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from pydantic import ConfigDict, JsonValue, NonNegativeInt, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from framework.data.batches import Position
from framework.files import first_problem, write_whole
from framework.spec import Spec
from framework.train.errors import CheckpointUnreadable
from framework.train.loop import Training

_METADATA: Final = "training"  # one key only: with more, the order in the file would differ from save to save
_ADAM: Final = {"step", "exp_avg", "exp_avg_sq"}
"""What Adam remembers of a weight that it has updated."""


class _Progress(Spec):
    """Where training stood, and what the caller added."""

    model_config = ConfigDict(extra="ignore")

    step: NonNegativeInt
    skipped: NonNegativeInt
    position: tuple[NonNegativeInt, NonNegativeInt]
    arithmetic: dict[str, int | float]
    last_loss: float | None
    extra: dict[str, JsonValue]


def save(path: Path, training: Training, extra: Mapping[str, JsonValue]) -> None:
    """Write what training needs to go on as if it had never stopped, and `extra` for the caller."""
    tensors = weights_of(training.model)
    for name, parameter in training.model.named_parameters():
        for part, tensor in training.optimizer.state[parameter].items():
            tensors[f"adam/{name}/{part}"] = tensor
    for device in _drawn_from(training):
        tensors[f"generator/{device.type}"] = _generator(device).get_rng_state()
    progress = {
        "step": training.step,
        "skipped": training.skipped,
        "position": tuple(training.position),
        "arithmetic": training.arithmetic.state(),
        "last_loss": training.last_loss,
        "extra": dict(extra),
    }
    write_whole(path, to_bytes(tensors, {_METADATA: json.dumps(progress, allow_nan=False)}))


def restore(path: Path, training: Training) -> dict[str, JsonValue] | None:
    """Put `training` where it was when `path` was saved and give the caller's `extra`; None without the file.

    Raises `CheckpointUnreadable` for a file that is torn, lacks a part, or is of another model, precision or device;
    `training` is then as it was, its generators too if they are the CPU's alone.
    """
    if not path.exists():
        return None
    tensors, progress = _read(path)
    stored = weights_in(path, tensors, training.model)
    state = _adam_in(path, tensors, training.model)
    if training.arithmetic.state().keys() != progress.arithmetic.keys():
        raise CheckpointUnreadable(path, "it is of a training in another precision")
    _draw_from(path, tensors, training)  # the last that can fail
    training.arithmetic.restore(progress.arithmetic)
    fill(training.model, stored)
    training.optimizer.state.clear()
    training.optimizer.state.update(state)
    training.resume(progress.step, progress.skipped, Position(*progress.position), progress.last_loss)
    return progress.extra


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Give what a file holds of a model: `model/NAME` for each weight, detached, under the first of its names."""
    return {f"model/{name}": tensor.detach() for name, tensor in _weights(model).items()}


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and persistent buffers, each under the first of its names."""
    seen: set[int] = set()
    weights = {}
    for name, tensor in model.state_dict(keep_vars=True).items():  # the tensors themselves, so that ties show
        if id(tensor) not in seen:
            seen.add(id(tensor))
            weights[name] = tensor
    return weights


def _read(path: Path) -> tuple[dict[str, Tensor], _Progress]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # not a mapping
    except SafetensorError as error:
        raise CheckpointUnreadable(path, str(error)) from error
    if _METADATA not in metadata:
        raise CheckpointUnreadable(path, "it is not a checkpoint of training")
    try:
        return tensors, _Progress.model_validate_json(metadata[_METADATA])
    except ValidationError as error:
        raise CheckpointUnreadable(path, f"it does not say where training stood: {first_problem(error)}") from error


def weights_in(path: Path, tensors: Mapping[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """Give a model's weights out of a file's tensors, by name. Raises `CheckpointUnreadable` for another model's."""
    stored = {key.removeprefix("model/"): tensor for key, tensor in tensors.items() if key.startswith("model/")}
    shapes = {(name, tensor.shape) for name, tensor in _weights(model).items()}
    if unlike := sorted(dict({(name, tensor.shape) for name, tensor in stored.items()} ^ shapes)):
        raise CheckpointUnreadable(path, f"it is of another model, which differs in {', '.join(unlike[:3])}")
    return stored


def _adam_in(path: Path, tensors: Mapping[str, Tensor], model: nn.Module) -> dict[Tensor, dict[str, Tensor]]:
    """Adam's state by parameter: of those that have had a gradient, in all its parts."""
    parts: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("adam/"):
            name, _, part = key.removeprefix("adam/").rpartition("/")
            parts.setdefault(name, {})[part] = tensor.clone()  # the file's own memory is not ours
    parameters = dict(model.named_parameters())
    for name, found in parts.items():
        fits = name in parameters and all(part.shape in (parameters[name].shape, ()) for part in found.values())
        if not fits or found.keys() != _ADAM:
            raise CheckpointUnreadable(path, f"what it holds of Adam does not fit {name}")
    return {
        parameters[name]: {part: tensor.to(parameters[name].device) for part, tensor in found.items()}
        for name, found in parts.items()
    }


def _drawn_from(training: Training) -> set[torch.device]:
    """The devices whose generators dropout may draw from."""
    return {torch.device("cpu"), torch.device(training.device.type)}


def _generator(device: torch.device) -> Any:
    """What holds a device's generator: `torch.cuda`, say, in which the current one counts, which a worker sets."""
    return torch if device.type == "cpu" else torch.get_device_module(device)


def _draw_from(path: Path, tensors: Mapping[str, Tensor], training: Training) -> None:
    """Let dropout go on where it was. What torch refuses leaves its generator as it was."""
    wanted = {f"generator/{device.type}" for device in _drawn_from(training)}
    if held := {name for name in tensors if name.startswith("generator/")} - wanted:
        raise CheckpointUnreadable(path, f"it is of a training on another device: it holds {', '.join(sorted(held))}")
    for device in _drawn_from(training):
        try:
            _generator(device).set_rng_state(tensors[f"generator/{device.type}"])
        except (KeyError, TypeError, RuntimeError) as error:
            reason = f"it does not hold the state of torch's generator on {device.type}"
            raise CheckpointUnreadable(path, reason) from error


def fill(model: nn.Module, stored: Mapping[str, Tensor]) -> None:
    """Copy weights, by name, into a model, wherever it is."""
    with torch.no_grad():
        for name, weight in _weights(model).items():
            weight.copy_(stored[name])
