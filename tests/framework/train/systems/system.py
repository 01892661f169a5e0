"""What is compared: an encoder-decoder of given sizes, as some library builds it.

Shapes: B batch, S source length, T target length, V vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from framework.contracts import SPECIAL_PIECES, Batch
from framework.contracts.objective import padded

NUM_LAYERS: Final = 3
NUM_HEADS: Final = 8
VOCABULARY: Final = 4000
TOKENS: Final = 1000
"""Padded positions of a batch, on either side."""
LENGTH: Final = 25
"""Pieces of the longest sequence."""
SENTENCES: Final = 32
"""Translated at once."""
LABEL_SMOOTHING: Final = 0.1
BEAM: Final = 4
ALPHA: Final = 0.6
"""Of the length penalty."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Post-norm, ReLU, one table for source, target and logits, `dropout` on embeddings and before each residual."""

    d_model: int
    d_ff: int
    num_heads: int
    num_layers: int
    vocabulary: int
    dropout: float = 0.1


class System(ABC):
    """A model in training mode, and the two things that are timed."""

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()
    """The distributions, besides torch, whose versions the page names."""

    model: nn.Module

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    @abstractmethod
    def logits(self, batch: Batch) -> Tensor:
        """Score each piece of the targets, given the true ones before it: `(B, T, V)`."""

    def loss(self, batch: Batch) -> Tensor:
        """Give the smoothed cross entropy per scored token, with torch's own function unless a system brings one."""
        targets = batch.target_output.masked_fill(~batch.scored, -100)  # (B, T)
        logits = self.logits(batch).float().flatten(0, 1)  # (B*T, V)
        return F.cross_entropy(logits, targets.flatten(), ignore_index=-100, label_smoothing=LABEL_SMOOTHING)


class Translator(System):
    """A system that has a beam search."""

    @abstractmethod
    def translate(self, source: Tensor, pieces: int) -> list[list[int]]:
        """Translate `source (B, S)`, without padding, to exactly so many pieces by a beam of `BEAM`."""


def random_batch(sizes: Sizes, generator: torch.Generator) -> Batch:
    """Draw pairs of random pieces that fill `TOKENS` positions a side, each `LENGTH` or up to 2 shorter."""
    examples = TOKENS // LENGTH

    def side() -> tuple[Tensor, Tensor]:
        lengths = torch.randint(LENGTH - 2, LENGTH + 1, (examples,), generator=generator)
        lengths[0] = LENGTH
        rows = (torch.randint(SPECIAL_PIECES, sizes.vocabulary, (n,), generator=generator) for n in lengths.tolist())
        return padded(list(rows))

    (source, source_padding), (target, target_padding) = side(), side()
    return Batch(target.roll(1, 1), target, target_padding, target_padding, source, source_padding)
