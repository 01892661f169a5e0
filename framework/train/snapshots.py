"""Weights as they were after some updates, a file for each, and their mean.

Averaging the last few sets of weights is section 6.1 of Vaswani et al. 2017, arXiv:1706.03762: 5 for the base model's
test score and 20 for big's, in Table 2; Table 3 averages none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from framework.files import write_whole
from framework.train.checkpoint import fill, weights_in, weights_of
from framework.train.errors import CheckpointUnreadable


def averaged_steps(last_step: int, number: int, every: int) -> tuple[int, ...]:
    """Give the updates whose weights are averaged, ascending: the last, and those `every` before one another.

    Fewer than `number` where training is not so long.
    """
    return tuple(reversed(range(last_step, 0, -every)[:number]))


def save_weights(path: Path, model: nn.Module) -> None:
    """Write a model's weights, each once, in a file that appears whole or not at all."""
    write_whole(path, to_bytes(weights_of(model)))


def load_mean(paths: Sequence[Path], model: nn.Module) -> None:
    """Fill a model with the mean of the weights in some files, of which the last is the newest.

    Numbers are summed in float64, so that equal weights are their own mean; what is no floating-point number, such as
    a buffer that counts, is the newest. A weight with two names counts once. Raises `CheckpointUnreadable`, or
    `FileNotFoundError`; the model is then as it was.
    """
    *earlier, newest = (_stored(path, model) for path in paths)
    if not earlier:
        return fill(model, newest)
    fill(model, {name: _mean([*(one[name] for one in earlier), tensor]) for name, tensor in newest.items()})


def _mean(tensors: Sequence[Tensor]) -> Tensor:
    newest = tensors[-1]
    if not newest.is_floating_point():
        return newest
    total = torch.zeros_like(newest, dtype=torch.float64)
    for tensor in tensors:
        total += tensor
    return (total / len(tensors)).to(newest.dtype)


def _stored(path: Path, model: nn.Module) -> dict[str, Tensor]:
    try:
        return weights_in(path, load_file(path), model)
    except SafetensorError as error:
        raise CheckpointUnreadable(path, str(error)) from error
