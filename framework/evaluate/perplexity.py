"""The loss that perplexity is made of: per target piece, in nats, never smoothed."""

from __future__ import annotations

import math

import torch

from framework.contracts import Objective
from framework.data.batches import length_sorted_batches
from framework.data.prepared import PreparedSplit
from framework.evaluate.errors import Unmeasurable
from framework.model.transformer import Transformer


def loss_per_token(model: Transformer, objective: Objective, split: PreparedSplit, batch_tokens: int) -> float:
    """Give the mean over all tokens of a split, in nats; its exponential is the perplexity per piece.

    Without label smoothing, whatever the model was trained with, so that rows that differ in it compare.
    Summed over tokens, not averaged over batches, so that `batch_tokens` (most padded positions of a batch, on
    either side) changes nothing but speed and, by the order of the sum, the last digits. Leaves the model in
    evaluation mode. Raises `Unmeasurable`.
    """
    model.eval()
    total, tokens = 0.0, 0
    with torch.no_grad():
        for indices in length_sorted_batches(torch.maximum(split.source_lengths, split.target_lengths), batch_tokens):
            batch = objective.batch(split.sources(indices), split.targets(indices))
            loss, counted = objective.loss(model(batch), batch, label_smoothing=0.0)
            total += loss.item()
            tokens += int(counted)
    if not math.isfinite(total):
        raise Unmeasurable(f"the loss of the trained model is {total}: its last updates diverged")
    return total / tokens
