"""Means over the tokens that a split scores: the loss that perplexity is made of, and what else an objective measures.

Given the true tokens before, or around; nothing is generated.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from framework.contracts import Batch, Objective
from framework.data.batches import length_sorted_batches
from framework.data.prepared import NOTHING_SCORED, PreparedSplit
from framework.errors import PluginError, SpecError
from framework.evaluate.errors import Unmeasurable
from framework.model.transformer import Transformer
from framework.seeds import derived_seed


@dataclass(frozen=True, slots=True)
class TokenMeans:
    """Means over all scored tokens of a split, and which tokens these are."""

    loss: float
    """In nats."""
    metrics: dict[str, float]
    scored: str
    """The number of tokens and a digest of what and where they are: figures compare where it is the same."""


def token_means(
    model: Transformer, objective: Objective, split: PreparedSplit, batch_tokens: int, metrics: Sequence[str] = ()
) -> TokenMeans:
    """Measure the loss of a split, and those `metrics` that are given by `Objective.per_token`.

    Without label smoothing, whatever the model was trained with, so that rows that differ in it compare.
    Summed over tokens, not averaged over batches, so that `batch_tokens` (most padded positions of a batch, on
    either side) changes nothing but speed and, by the order of the sum, the last digits. What an objective draws
    at random, it draws alike for every model. Leaves the model in evaluation mode and torch's own generator as it
    was.

    Raises `Unmeasurable` if the loss is not finite, `SpecError` if no token is scored, and `PluginError` for another
    metric that is not finite.
    """
    model.eval()
    loss, tokens, sums, digest = 0.0, 0, dict.fromkeys(metrics, 0.0), hashlib.sha256()
    generator = torch.Generator().manual_seed(derived_seed("evaluation"))
    lengths = objective.lengths(split.source_lengths, split.target_lengths)
    with torch.no_grad():
        for indices in length_sorted_batches(lengths, batch_tokens):
            batch = objective.batch(split.sources(indices), split.targets(indices), generator)
            batch = model.restricted(batch)
            logits = model(batch)
            summed, counted = objective.loss(logits, batch, label_smoothing=0.0)
            loss += summed.item()
            tokens += int(counted)
            digest.update(_scored(batch))
            if metrics:
                measured = objective.per_token(logits, batch)
                for name in metrics:
                    sums[name] += measured[name][batch.scored].double().sum().item()
    if not math.isfinite(loss):
        raise Unmeasurable(f"the loss of the trained model is {loss}: its last updates diverged")
    if not tokens:
        raise SpecError(NOTHING_SCORED.format(split=split.name), "model.mask")
    for name, total in sums.items():
        if not math.isfinite(total):
            raise PluginError(
                f"objective {objective.name!r} measures {name!r} as {total} on the split {split.name!r}: its per_token "
                "must give a finite number for each scored token"
            )
    means = {name: total / tokens for name, total in sums.items()}
    return TokenMeans(loss / tokens, means, f"{tokens:,} tokens ({digest.hexdigest()[:8]})")


def _scored(batch: Batch) -> bytes:
    """Position and id of each scored token, example by example, so that cutting batches otherwise changes nothing."""
    position = batch.scored.nonzero()[:, 1]  # (N,)
    return torch.stack((position, batch.target_output[batch.scored]), dim=1).numpy().tobytes()
