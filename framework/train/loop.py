"""Training, one update at a time. Who calls decides what to log, when to measure, and when to save."""

from __future__ import annotations

import math
from itertools import islice

import torch
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from framework.contracts import Objective
from framework.data.batches import Position, TrainingBatches
from framework.data.prepared import NOTHING_SCORED, PreparedSplit
from framework.errors import SpecError
from framework.model.transformer import Transformer
from framework.seeds import derived_seed
from framework.spec import TrainSpec
from framework.train.errors import Diverged
from framework.train.schedule import learning_rate


class Training:
    """A model on its way: its weights, Adam (Kingma and Ba 2015, arXiv:1412.6980), and where in the data it is.

    Dropout draws from torch's global generator, which making a Training seeds: a trial gives the same numbers
    whatever ran before it in the process. Only one Training at a time can be under way in a process.
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
        self.step = 0
        """Updates made."""
        self.position = Position(0, 0)
        """Where the next batch is taken from."""
        self.last_loss: float | None = None
        """Of the last update, per token in nats."""
        self._objective = objective
        self._spec = spec
        self._d_model = d_model
        self._split = split
        self._seed = seed
        lengths = objective.lengths(split.source_lengths, split.target_lengths)
        self._batches = TrainingBatches(lengths, spec.batch_tokens, seed)
        self._upcoming = self._batches.after(self.position)
        torch.manual_seed(derived_seed("dropout", seed))

    @property
    def finished(self) -> bool:
        return self.step >= self._spec.steps

    def resume(self, step: int, position: Position, last_loss: float | None) -> None:
        """Stand after update `step`. Weights, optimizer and generator are the checkpoint's to restore."""
        self.step, self.position, self.last_loss = step, position, last_loss
        self._upcoming = self._batches.after(position)

    def update(self) -> dict[str, float]:
        """Make one update and give its measurements.

        `train/loss` is what was minimised, smoothing included, per token in nats; `train/tokens` are the target
        tokens it was averaged over; `train/gradient_norm` is from before clipping. Raises `Diverged`, before
        the weights are touched, if the loss or the gradients are not finite, and `SpecError` if no token of a
        whole epoch enters the loss.
        """
        step = self.step + 1
        loss, tokens = self._next_loss()
        value = loss.item()
        if not math.isfinite(value):
            raise Diverged(step, f"the loss is {value}", self.last_loss)

        self.optimizer.zero_grad()
        loss.backward()
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        norm = get_total_norm(gradients)
        if not math.isfinite(norm.item()):
            raise Diverged(step, f"the norm of the gradients is {norm.item()}", self.last_loss)
        if self._spec.gradient_clip is not None:
            clip_grads_with_norm_(self.model.parameters(), self._spec.gradient_clip, norm)

        rate = learning_rate(step, self._d_model, self._spec.warmup_steps, self._spec.learning_rate_factor)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.step, self.last_loss = step, value
        return {
            "train/loss": value,
            "train/learning_rate": rate,
            "train/gradient_norm": norm.item(),
            "train/tokens": tokens,
        }

    def _next_loss(self) -> tuple[Tensor, int]:
        """The loss per token of the next batch that has a token that counts, and how many it has."""
        self.model.train()
        for position, indices in islice(self._upcoming, len(self._split) + 1):
            self.position = position
            generator = torch.Generator().manual_seed(derived_seed("objective", self._seed, *position))
            batch = self._objective.batch(self._split.sources(indices), self._split.targets(indices), generator)
            batch = self.model.restricted(batch)
            with torch.autocast("cpu", torch.bfloat16, enabled=self._spec.precision == "bfloat16"):
                logits = self.model(batch)  # (B, T, V)
            loss, tokens = self._objective.loss(logits, batch, self._spec.label_smoothing)
            if tokens > 0:
                return loss / tokens, int(tokens)
        raise SpecError(NOTHING_SCORED.format(split="train"), "model.mask")
