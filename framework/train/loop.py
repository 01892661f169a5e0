"""Training, one update at a time. Who calls decides what to log, when to measure, and when to save."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_

from framework.contracts import Batch, Objective
from framework.data.batches import Position, TrainingBatches
from framework.data.prepared import NOTHING_SCORED, PreparedSplit
from framework.errors import SpecError
from framework.model.transformer import Transformer
from framework.seeds import derived_seed
from framework.spec import TrainSpec
from framework.train.arithmetic import Arithmetic
from framework.train.errors import Diverged
from framework.train.schedule import learning_rate

MOST_SKIPS: Final = 40
"""Overflows in a row after which training has diverged: by then the loss is scaled by 2^-40 of what it was."""


class Training:
    """A model on its way: its weights, Adam (Kingma and Ba 2015, arXiv:1412.6980), and where in the data it is.

    It computes on the device that the model is on. Dropout draws from torch's global generator, which making a
    Training seeds: a trial gives the same numbers whatever ran before it in the process. Only one Training at a time
    can be under way in a process.
    """

    def __init__(
        self,
        model: Transformer,
        objective: Objective,
        spec: TrainSpec,
        d_model: int,
        split: PreparedSplit,
        seed: int,
    ) -> None:
        self.model = model
        # Fused: one pass over the weights, several times faster on CPU than one operation after another.
        self.optimizer = torch.optim.Adam(
            model.parameters(), betas=(spec.adam_beta1, spec.adam_beta2), eps=spec.adam_epsilon, fused=True
        )
        self.device = next(model.parameters()).device
        self.arithmetic = Arithmetic(spec.precision, self.device)
        self.step = 0
        """Updates made."""
        self.skipped = 0
        """Updates not made because a scaled gradient overflowed; they took a batch and no step."""
        self.position = Position(0, 0)
        """Where the next batch is taken from."""
        self.last_loss: float | None = None
        """Of the last update, per token in nats."""
        # Lengths differ from batch to batch: compiled for any, not once for each.
        self._forward = torch.compile(model, dynamic=True) if spec.compile else model
        self._objective = objective
        self._spec = spec
        self._d_model = d_model
        self._split = split
        self._seed = seed
        lengths = objective.lengths(split.source_lengths, split.target_lengths)
        surplus = split.source_lengths - split.target_lengths
        self._batches = TrainingBatches(lengths, surplus, spec.batch_tokens, seed)
        self._upcoming = self._batches.after(self.position)
        torch.manual_seed(derived_seed("dropout", seed))

    @property
    def finished(self) -> bool:
        return self.step >= self._spec.steps

    def resume(self, step: int, skipped: int, position: Position, last_loss: float | None) -> None:
        """Stand after update `step`. Weights, optimizer, arithmetic and generator are the checkpoint's to restore."""
        self.step, self.skipped, self.position, self.last_loss = step, skipped, position, last_loss
        self._upcoming = self._batches.after(position)

    def update(self) -> dict[str, float]:
        """Make one update and give its measurements.

        `train/loss` is what was minimised, smoothing included, per token in nats; `train/tokens` are the target
        tokens it was averaged over; `train/gradient_norm` is from before clipping; `train/skipped_steps` counts
        the batches whose gradients overflowed so far, with `float16` only. Raises `Diverged`, before the weights are
        touched, if the loss or the gradients are not finite, and `SpecError` if no token of a whole epoch enters
        the loss.
        """
        step = self.step + 1
        with self.arithmetic.products():
            value, norm, tokens = self._gradients(step)
        if self._spec.gradient_clip is not None:
            clip_grads_with_norm_(self.model.parameters(), self._spec.gradient_clip, norm)
        rate = learning_rate(step, self._d_model, self._spec.warmup_steps, self._spec.learning_rate_factor)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.arithmetic.step(self.optimizer)
        self.step, self.last_loss = step, value
        measured = {
            "train/loss": value,
            "train/learning_rate": rate,
            "train/gradient_norm": norm.item(),
            "train/tokens": tokens,
        }
        return measured | ({"train/skipped_steps": self.skipped} if self.arithmetic.overflows else {})

    def _gradients(self, step: int) -> tuple[float, Tensor, int]:
        """Let the weights hold finite gradients of the loss per token; give it, their norm, and the tokens."""
        for _ in range(MOST_SKIPS):
            batch, tokens = self._next_batch()
            self.optimizer.zero_grad()
            loss = self._backward(batch, tokens)
            norm = self.arithmetic.gradient_norm(self.optimizer)
            value, size = torch.stack((loss, norm)).tolist()  # one wait for a device, not two
            if not math.isfinite(value):
                raise Diverged(step, f"the loss is {value}", self.last_loss)
            if math.isfinite(size):
                return value, norm, tokens
            if not self.arithmetic.overflows:
                raise Diverged(step, f"the norm of the gradients is {size}", self.last_loss)
            self.arithmetic.skip()
            self.skipped += 1
        raise Diverged(step, f"the gradients overflowed float16 {MOST_SKIPS} times in a row", self.last_loss)

    def _backward(self, batch: Batch, tokens: int) -> Tensor:
        """Add up the gradients of a batch, part by part, and give its loss per token, a scalar.

        Each part is divided by the tokens of the whole, so that parts of any size give the whole batch's gradient.
        """
        summed = torch.zeros((), device=self.device)
        for part in self._parts(batch):
            with self.arithmetic.autocast():
                logits = self._forward(part)  # (B, T, V)
            smoothing = self._spec.smoothing(logits.size(-1))
            loss = self._objective.loss(logits, part, smoothing)[0] / tokens
            self.arithmetic.backward(loss)
            summed += loss.detach()
        return summed

    def _parts(self, batch: Batch) -> Iterator[Batch]:
        most, examples = self._spec.micro_batch_tokens, len(batch.target_input)
        if most is None:
            yield batch
            return
        sides = (batch.target_input, *(() if batch.source is None else (batch.source,)))
        size = max(1, most // max(side.size(1) for side in sides))
        for first in range(0, examples, size):
            yield batch.rows(slice(first, first + size))

    def _next_batch(self) -> tuple[Batch, int]:
        """The next batch that has a token that counts, on the model's device, and how many it has."""
        self.model.train()
        for position, indices in islice(self._upcoming, len(self._split) + 1):
            self.position = position
            generator = torch.Generator().manual_seed(derived_seed("objective", self._seed, *position))
            batch = self._objective.batch(self._split.sources(indices), self._split.targets(indices), generator)
            batch = self.model.restricted(batch)
            if (tokens := int(batch.scored.sum())) > 0:  # asked before the batch moves, so that nothing waits
                return batch.to(self.device), tokens
        raise SpecError(NOTHING_SCORED.format(split="train"), "model.mask")
