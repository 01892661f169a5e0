"""An objective with its options, and the examples and logits that it is tried on.

Shapes: N examples, B batch, T target length, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import torch
from torch import Generator, Tensor

from framework.contracts import SPECIAL_PIECES, Batch, Objective
from framework.spec import Options
from framework.testing.subject import Subject

VOCABULARY: Final = 20
_SOURCES: Final = (5, 1, 3)
_TARGETS: Final = (4, 6, 2)
"""Pieces of the examples."""


@dataclass(frozen=True)
class ObjectiveSubject(Subject):
    """An objective with its options."""

    tried_on: ClassVar[str] = "a few small examples"

    options: Options

    def build(self) -> Objective:
        objective: Objective = self.plugin(self.options)
        return objective


Examples = tuple[list[Tensor], list[Tensor]]


def examples_of(objective: Objective) -> list[Examples]:
    """Pairs, and texts by themselves where they are of use."""
    generator = Generator().manual_seed(1)
    pairs = _drawn(_SOURCES, generator), _drawn(_TARGETS, generator)
    texts = _drawn((0, 0, 0), generator), _drawn(_TARGETS, generator)
    return [pairs] if objective.needs_sources else [pairs, texts]


def _drawn(lengths: Sequence[int], generator: Generator) -> list[Tensor]:
    return [torch.randint(SPECIAL_PIECES, VOCABULARY, (length,), generator=generator) for length in lengths]


def batch_of(objective: Objective, examples: Examples) -> Batch:
    return objective.batch(*examples, Generator().manual_seed(0))


def pieces_of(sequences: Sequence[Tensor]) -> Tensor:
    return torch.tensor([len(sequence) for sequence in sequences])  # (N,)


def logits_of(made: Batch) -> Tensor:
    return torch.randn(*made.target_input.shape, VOCABULARY, generator=Generator().manual_seed(2))  # (B, T, V)


def row_of(made: Batch, row: int) -> Batch:
    """Give one example, as wide as all of them."""
    return made.rows(slice(row, row + 1))
