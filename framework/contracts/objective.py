"""What a model is trained to do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from torch import Tensor

from framework.contracts.plugin import Plugin
from framework.spec import Options

PAD: Final = 0
"""Fills a batch up to its longest sequence; never read."""
BOS: Final = 1
"""Begins the decoder's input."""
EOS: Final = 2
"""Ends a sequence."""
SPECIAL_PIECES: Final = 3
"""Ids below this are the special ones; pieces of text follow."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Ids and padding (True = real token) of some examples."""

    source: Tensor
    """(B, S)"""
    source_padding: Tensor
    """(B, S)"""
    target_input: Tensor
    """(B, T), what the decoder reads"""
    target_output: Tensor
    """(B, T), what it should say"""
    target_padding: Tensor
    """(B, T)"""


class Objective(Plugin):
    """Turns examples into batches, and a batch's logits into a loss."""

    architectures: ClassVar[frozenset[str]]
    """The architectures that it can train."""

    metrics: ClassVar[tuple[str, ...]]
    """What it is measured by, such as `perplexity` and `bleu`."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @abstractmethod
    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor]) -> Batch:
        """Pad examples, 1-D id tensors without special pieces, into a batch."""

    @abstractmethod
    def loss(self, logits: Tensor, batch: Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        """Give the loss in nats, summed over the tokens that count, and their number.

        `logits` is `(B, T, V)`. Padding never counts. Both results are scalars; with no token that counts
        both are zero.
        """
