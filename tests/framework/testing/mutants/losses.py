"""Objectives that are wrong in their loss, or in what they measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

import framework as fw
from tests.framework.testing.mutants.objectives import Right


class UnknownArchitecture(Right):
    """Is for an architecture that there is not."""

    name = "unknown_architecture"
    architectures: ClassVar[frozenset[str]] = frozenset({"decoder_alone"})


class LearnsNothing(Right):
    """Cuts the loss off from the logits."""

    name = "learns_nothing"

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        total, tokens = super().loss(logits, batch, label_smoothing)
        return total.detach().requires_grad_(), tokens


class MeanLoss(Right):
    """Divides the loss by its tokens."""

    name = "mean_loss"

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        total, tokens = super().loss(logits, batch, label_smoothing)
        return total / tokens, tokens


class CountsEverything(Right):
    """Counts padding as tokens."""

    name = "counts_everything"

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        total, _ = super().loss(logits, batch, label_smoothing)
        return total, torch.tensor(batch.scored.numel())


class ReadsUnscoredLogits(Right):
    """Adds a penalty on all logits."""

    name = "reads_unscored_logits"

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        total, tokens = super().loss(logits, batch, label_smoothing)
        return total + logits.float().logsumexp(-1).square().sum(), tokens


class HalfPrecision(Right):
    """Sums in the precision of the logits."""

    name = "half_precision"

    def loss(self, logits: Tensor, batch: fw.Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        total, tokens = super().loss(logits, batch, label_smoothing)
        return total.to(logits.dtype), tokens


class UnknownMetric(Right):
    """Names a metric that nothing gives."""

    name = "unknown_metric"
    metrics = ("perplexity", "kindness")


class PerSentence(Right):
    """Gives a metric for each sentence, not for each token."""

    name = "per_sentence"

    def per_token(self, logits: Tensor, batch: fw.Batch) -> Mapping[str, Tensor]:
        return {"accuracy": super().per_token(logits, batch)["accuracy"].all(1)}


class MeasuresLoss(Right):
    """Calls a measurement of its own what the framework calls the loss."""

    name = "measures_loss"

    def per_token(self, logits: Tensor, batch: fw.Batch) -> Mapping[str, Tensor]:
        return {**super().per_token(logits, batch), "loss": torch.ones(batch.scored.shape)}


class MeasuresInfinity(Right):
    """Measures the logarithm of what may be zero."""

    name = "measures_infinity"

    def per_token(self, logits: Tensor, batch: fw.Batch) -> Mapping[str, Tensor]:
        return {"accuracy": super().per_token(logits, batch)["accuracy"].float().log()}


class AboveTheMean(Right):
    """Measures an example against the others of its batch."""

    name = "above_the_mean"

    def per_token(self, logits: Tensor, batch: fw.Batch) -> Mapping[str, Tensor]:
        largest = logits.amax(-1)  # (B, T)
        return {"accuracy": largest > largest.mean()}


@fw.hookimpl
def objective() -> tuple[type[fw.Objective], ...]:
    return (
        UnknownArchitecture, LearnsNothing, MeanLoss, CountsEverything, ReadsUnscoredLogits, HalfPrecision,
        UnknownMetric, PerSentence, MeasuresLoss, MeasuresInfinity, AboveTheMean,
    )  # fmt: skip
