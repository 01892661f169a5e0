"""What every architecture is: stacks between embeddings and logits.

Shapes: B batch, S source length, T target length, L length of what is decoded now, D d_model, V vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from framework.contracts import Batch
from framework.model.stack import Stack, StackState


class Transformer(nn.Module, ABC):
    """Says pieces: scores the whole vocabulary at every place of a batch's targets."""

    looks_ahead: ClassVar[int]
    """How far behind its place what is said there stands: 1 for the next piece, 0 for the piece itself."""

    @property
    @abstractmethod
    def speaker(self) -> Stack:
        """The stack whose outputs become logits."""

    @property
    def max_positions(self) -> int | None:
        """Positions that the schemes of all stacks can tell apart, or None where there is no limit."""
        limits = (stack.scheme.max_positions for stack in self.children() if isinstance(stack, Stack))
        return min((limit for limit in limits if limit is not None), default=None)

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Score each piece of a batch's targets: logits `(B, T, V)`."""

    def restricted(self, batch: Batch) -> Batch:
        """The same batch without the loss of tokens that a mask shows to those that say them."""
        said = positions_of(batch.target_input) + self.looks_ahead  # (1, T)
        return replace(batch, scored=batch.scored & self.speaker.scored(said))


class GenerativeTransformer(Transformer):
    """Says the next piece, so that what it says can be read back: a text grows piece by piece."""

    looks_ahead = 1

    def forward(self, batch: Batch) -> Tensor:
        """Score each next piece of a batch's targets, given the true ones before it: logits `(B, T, V)`."""
        memory, memory_padding = self.read(batch)
        logits, _ = self.decode(
            batch.target_input, positions_of(batch.target_input), batch.target_padding, memory, memory_padding
        )
        return logits

    @abstractmethod
    def read(self, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
        """Give what the decoder's cross site mixes in: a memory `(B, S, D)` and its padding `(B, S)`, or None twice."""

    def start(self) -> StackState:
        """Give the decoder's state before the first position, to be passed to `decode`."""
        return self.speaker.start()

    @abstractmethod
    def decode(
        self,
        target: Tensor,
        positions: Tensor,
        padding: Tensor,
        memory: Tensor | None = None,
        memory_padding: Tensor | None = None,
        states: StackState | None = None,
    ) -> tuple[Tensor, StackState | None]:
        """Score the piece after each of `target (B, L)` at `positions (1, L)`: logits `(B, L, V)` and the next states.

        `padding (B, L)` and `memory_padding (B, S)` are True at real tokens. With states, `target`, `positions`
        and `padding` are those of the new positions only, and the logits are the same as in one pass over all
        of them; without, there are none to give.
        """


def num_parameters(model: nn.Module) -> int:
    """Count the trainable numbers; a tied table counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def positions_of(ids: Tensor) -> Tensor:
    """Count the positions of `ids (B, L)` from 0: `(1, L)`."""
    return torch.arange(ids.size(1), device=ids.device)[None]  # (1, L)
