"""Everything that training goes on from, in one safetensors file that appears whole or not at all.

Tensors: `model/NAME` for each weight (one that has several names is stored under its first), `adam/NAME/PART`
for each part of Adam's state, and `generator`, the state that dropout draws from. One metadata key holds the
rest as JSON. Reading the file runs no code from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import JsonValue
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from framework.data.batches import Position
from framework.files import write_whole
from framework.train.errors import CheckpointUnreadable
from framework.train.loop import Training

_METADATA = "training"  # one key only: with more, the order in the file would differ from save to save


def save(path: Path, training: Training, extra: Mapping[str, JsonValue]) -> None:
    """Write what training needs to go on as if it had never stopped, and `extra` for the caller."""
    tensors = {f"model/{name}": tensor.detach() for name, tensor in _weights(training.model).items()}
    for name, parameter in training.model.named_parameters():
        for part, tensor in training.optimizer.state[parameter].items():
            tensors[f"adam/{name}/{part}"] = tensor
    tensors["generator"] = torch.get_rng_state()
    progress = {
        "step": training.step,
        "position": tuple(training.position),
        "last_loss": training.last_loss,
        "extra": dict(extra),
    }
    write_whole(path, to_bytes(tensors, {_METADATA: json.dumps(progress, allow_nan=False)}))


def restore(path: Path, training: Training) -> dict[str, JsonValue] | None:
    """Put `training` where it was when `path` was saved and give the caller's `extra`; None without the file.

    Raises `CheckpointUnreadable` for a torn file or another model's; `training` is then as it was.
    """
    if not path.exists():
        return None
    tensors, progress = _read(path)
    _fill(path, training.model, tensors)
    training.optimizer.state.clear()
    parameters = dict(training.model.named_parameters())
    for key, tensor in tensors.items():
        if key.startswith("adam/"):
            name, part = key.removeprefix("adam/").rsplit("/", 1)
            training.optimizer.state[parameters[name]][part] = tensor.clone()  # the file's own memory is not ours
    torch.set_rng_state(tensors["generator"])
    training.resume(progress["step"], Position(*progress["position"]), progress["last_loss"])
    return dict(progress["extra"])


def load_weights(path: Path, model: nn.Module) -> None:
    """Fill a model from a checkpoint. Raises `CheckpointUnreadable`, or `FileNotFoundError`."""
    tensors, _ = _read(path)
    _fill(path, model, tensors)


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and persistent buffers, each under the first of its names."""
    seen: set[int] = set()
    weights = {}
    for name, tensor in model.state_dict(keep_vars=True).items():  # the tensors themselves, so that ties show
        if id(tensor) not in seen:
            seen.add(id(tensor))
            weights[name] = tensor
    return weights


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # not a mapping
    except SafetensorError as error:
        raise CheckpointUnreadable(path, str(error)) from error
    if _METADATA not in metadata:
        raise CheckpointUnreadable(path, "it is not a checkpoint of training")
    return tensors, json.loads(metadata[_METADATA])


def _fill(path: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    weights = _weights(model)
    stored = {key.removeprefix("model/"): tensor for key, tensor in tensors.items() if key.startswith("model/")}
    shapes = {name: tensor.shape for name, tensor in weights.items()}
    if unlike := sorted(dict({(n, t.shape) for n, t in stored.items()} ^ set(shapes.items()))):
        raise CheckpointUnreadable(path, f"it is of another model, which differs in {', '.join(unlike[:3])}")
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(stored[name])
