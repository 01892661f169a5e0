"""A right feed-forward, and wrong ones that differ from it in one thing each."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import framework as fw


class Right(fw.FeedForward):
    """Two projections with a ReLU between them, made for a test."""

    name = "right"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.inner = fw.Linear(dims.d_model, dims.d_ff)
        self.outer = fw.Linear(dims.d_ff, dims.d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(F.relu(self.inner(x)))  # (B, L, D)


class MixesPositions(Right):
    """Adds what the other positions of the sentence say."""

    name = "mixes_positions"

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + x.mean(1, keepdim=True)


class NormalisedOverTheBatch(Right):
    """Normalises channels over all positions of all sentences, in training."""

    name = "normalised_over_the_batch"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.norm = nn.BatchNorm1d(dims.d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(super().forward(x).mT).mT


class RootOfZero(Right):
    """Takes a root, which has no slope at zero."""

    name = "root_of_zero"

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + x.abs().sqrt()


class Narrows(Right):
    """Gives fewer channels than it takes."""

    name = "narrows"

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[..., 1:]


class OnTheCpu(Right):
    """Makes a tensor on the device that is the default."""

    name = "on_the_cpu"

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.linspace(0, 1, x.size(-1), dtype=x.dtype)


class Detaches(Right):
    """Cuts the gradients off."""

    name = "detaches"

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(F.relu(self.inner(x)).detach())


class Squeezes(Right):
    """Loses the axis of positions where there is one."""

    name = "squeezes"

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).squeeze(1)


class ScalesInPlaceInTraining(Right):
    """Scales its input where it stands, in training."""

    name = "scales_in_place_in_training"

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            with torch.no_grad():
                x *= 2
        return super().forward(x)


class Grouped(Right):
    """Refuses what 32 groups of channels do not divide: right."""

    name = "grouped"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        if dims.d_model % 32:
            raise fw.SpecError(f"d_model must be a multiple of 32, not {dims.d_model}")
        super().__init__(options, dims)


@fw.hookimpl
def feed_forward() -> tuple[type[fw.FeedForward], ...]:
    return (
        Right, MixesPositions, NormalisedOverTheBatch, RootOfZero, Narrows, OnTheCpu, Detaches, Squeezes,
        ScalesInPlaceInTraining, Grouped,
    )  # fmt: skip
