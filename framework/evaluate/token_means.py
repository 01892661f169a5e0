"""Means over the tokens that a split scores: the loss that perplexity is made of, and what else an objective measures.

Given the true tokens before, or around; nothing is generated.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch

from framework.contracts import Objective
from framework.data.batches import length_sorted_batches
from framework.data.prepared import NOTHING_SCORED, PreparedSplit
from framework.errors import SpecError
from framework.evaluate.errors import Unmeasurable
from framework.model.transformer import Transformer
from framework.seeds import derived_seed

LOSS = "loss"


def token_means(
    model: Transformer, objective: Objective, split: PreparedSplit, batch_tokens: int, metrics: Sequence[str] = ()
) -> dict[str, float]:
    """Give the mean over all scored tokens of a split: `loss` in nats, and those of `Objective.per_token` in `metrics`.

    Without label smoothing, whatever the model was trained with, so that rows that differ in it compare.
    Summed over tokens, not averaged over batches, so that `batch_tokens` (most padded positions of a batch, on
    either side) changes nothing but speed and, by the order of the sum, the last digits. What an objective draws
    at random, it draws alike for every model. Leaves the model in evaluation mode and torch's own generator as it
    was. Raises `Unmeasurable` if the loss is not finite, and `SpecError` if no token is scored.
    """
    model.eval()
    sums: dict[str, float] = defaultdict(float)
    tokens = 0
    generator = torch.Generator().manual_seed(derived_seed("evaluation"))
    lengths = objective.lengths(split.source_lengths, split.target_lengths)
    with torch.no_grad():
        for indices in length_sorted_batches(lengths, batch_tokens):
            batch = objective.batch(split.sources(indices), split.targets(indices), generator)
            batch = model.restricted(batch)
            logits = model(batch)
            loss, counted = objective.loss(logits, batch, label_smoothing=0.0)
            sums[LOSS] += loss.item()
            tokens += int(counted)
            measured = objective.per_token(logits, batch) if metrics else {}
            for name in metrics:
                sums[name] += measured[name][batch.scored].double().sum().item()
    if not math.isfinite(sums[LOSS]):
        raise Unmeasurable(f"the loss of the trained model is {sums[LOSS]}: its last updates diverged")
    if not tokens:
        raise SpecError(NOTHING_SCORED.format(split=split.name), "model.mask")
    return {name: total / tokens for name, total in sums.items()}
