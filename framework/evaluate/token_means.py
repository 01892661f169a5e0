"""Means over the tokens that a split scores: the loss that perplexity is made of, and what else an objective measures.

Given the true tokens before, or around; nothing is generated.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

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
    tokens: int
    scored: str
    """The number of tokens and a digest of what and where they are: figures compare where it is the same."""
    smoothed_loss: float | None = None
    """As training minimises it, where that was asked for."""


def token_means(
    model: Transformer,
    objective: Objective,
    split: PreparedSplit,
    batch_tokens: int,
    metrics: Sequence[str] = (),
    label_smoothing: float | None = None,
) -> TokenMeans:
    """Measure the loss of a split, and those `metrics` that are given by `Objective.per_token`.

    Without label smoothing, whatever the model was trained with, so that rows that differ in it compare; with
    `label_smoothing`, as `Objective.loss` takes it, that loss is measured besides.
    Summed over tokens, not averaged over batches, so that `batch_tokens` (most padded positions of a batch, on
    either side) changes nothing but speed and, by the order of the sum, the last digits. What an objective draws
    at random, it draws alike for every model. Leaves the model in evaluation mode and torch's own generator as it
    was.

    Raises `Unmeasurable` if the loss is not finite, `SpecError` if no token is scored, and `PluginError` for another
    metric that is not finite.
    """
    model.eval()
    device = next(model.parameters()).device
    sums: dict[str, list[Tensor]] = {"loss": [], **{name: [] for name in metrics}}  # a scalar for each batch
    if label_smoothing is not None:
        sums[_SMOOTHED] = []
    tokens, digest = 0, hashlib.sha256()
    generator = torch.Generator().manual_seed(derived_seed("evaluation"))
    lengths = objective.lengths(split.source_lengths, split.target_lengths)
    with torch.no_grad():
        for indices in length_sorted_batches(lengths, batch_tokens):
            batch = objective.batch(split.sources(indices), split.targets(indices), generator)
            batch = model.restricted(batch)
            tokens += int(batch.scored.sum())  # asked before the batch moves, so that nothing waits
            digest.update(_scored(batch))
            batch = batch.to(device)
            logits = model(batch)
            sums["loss"].append(objective.loss(logits, batch, label_smoothing=0.0)[0])
            if label_smoothing is not None:
                sums[_SMOOTHED].append(objective.loss(logits, batch, label_smoothing)[0])
            if metrics:
                measured = objective.per_token(logits, batch)
                for name in metrics:
                    sums[name].append(torch.where(batch.scored, measured[name].double(), 0.0).sum())
    totals = {
        name: sum(torch.stack(parts).cpu().tolist()) for name, parts in sums.items()
    }  # the first wait for a device
    if not math.isfinite(totals["loss"]):
        raise Unmeasurable(f"the loss of the trained model is {totals['loss']}: its last updates diverged")
    if not tokens:
        raise SpecError(NOTHING_SCORED.format(split=split.name), "model.mask")
    for name in metrics:
        if not math.isfinite(totals[name]):
            raise PluginError(
                f"objective {objective.name!r} measures {name!r} as {totals[name]} on the split {split.name!r}: its "
                "per_token must give a finite number for each scored token"
            )
    means = {name: total / tokens for name, total in totals.items()}
    return TokenMeans(
        loss=means["loss"],
        metrics={name: means[name] for name in metrics},
        tokens=tokens,
        scored=f"{tokens:,} tokens ({digest.hexdigest()[:8]})",
        smoothed_loss=means.get(_SMOOTHED),
    )


_SMOOTHED: Final = "smoothed loss"
"""Beside the names of metrics, none of which holds a space."""


def _scored(batch: Batch) -> bytes:
    """Position and id of each scored token, example by example, so that cutting batches otherwise changes nothing."""
    position = batch.scored.nonzero()[:, 1]  # (N,)
    return torch.stack((position, batch.target_output[batch.scored]), dim=1).numpy().tobytes()
