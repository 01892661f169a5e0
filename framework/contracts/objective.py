"""What a model is trained to do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import torch
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence

from framework.contracts.cross_entropy import smoothed_cross_entropy
from framework.contracts.plugin import Plugin
from framework.spec import Options

PAD: Final = 0
"""Fills a batch up to its longest sequence; never read."""
BOS: Final = 1
"""Begins the decoder's input."""
EOS: Final = 2
"""Ends a sequence."""
MASK: Final = BOS
"""Stands where a piece is hidden. It shares the id of BOS: what reads a whole sequence with holes begins none."""
SPECIAL_PIECES: Final = 3
"""Ids below this are the special ones; pieces of text follow."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Ids and padding (True = real token) of some examples."""

    target_input: Tensor
    """(B, T), what the stack that speaks reads: the decoder, or in an encoder-only model the encoder"""
    target_output: Tensor
    """(B, T), what it should say"""
    target_padding: Tensor
    """(B, T)"""
    scored: Tensor
    """(B, T), True where what is said enters the loss; never at padding"""
    source: Tensor | None = None
    """(B, S), what the encoder of an encoder-decoder reads"""
    source_padding: Tensor | None = None
    """(B, S)"""

    def rows(self, rows: Tensor | slice, width: int | None = None) -> Batch:
        """Give some of the examples, and of their targets the first `width` positions, or all."""
        return Batch(
            target_input=self.target_input[rows, :width],
            target_output=self.target_output[rows, :width],
            target_padding=self.target_padding[rows, :width],
            scored=self.scored[rows, :width],
            source=None if self.source is None else self.source[rows],
            source_padding=None if self.source_padding is None else self.source_padding[rows],
        )

    def to(self, device: torch.device) -> Batch:
        """Give the same batch on a device; it is itself where it is there already."""
        if self.target_input.device == device:
            return self
        return Batch(
            target_input=self.target_input.to(device, non_blocking=True),
            target_output=self.target_output.to(device, non_blocking=True),
            target_padding=self.target_padding.to(device, non_blocking=True),
            scored=self.scored.to(device, non_blocking=True),
            source=None if self.source is None else self.source.to(device, non_blocking=True),
            source_padding=None if self.source_padding is None else self.source_padding.to(device, non_blocking=True),
        )


class Objective(Plugin):
    """Turns examples into batches, and a batch's logits into a loss and measurements."""

    architectures: ClassVar[frozenset[str]]
    """The architectures that it can train."""

    metrics: ClassVar[tuple[str, ...]]
    """What it is measured by unless the experiment says otherwise, such as `perplexity` and `bleu`.

    `perplexity`, `smoothed_perplexity` and `word_perplexity` are made of the loss; `bleu`, `bleu_compound_split`,
    `chrf` and `exact_match` of what the model generates for a source; any other name is one that `per_token` gives.
    """

    further_metrics: ClassVar[tuple[str, ...]] = ()
    """What an experiment may ask for besides."""

    needs_sources: ClassVar[bool] = False
    """Whether every example is a pair: a corpus of plain text is then no use."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @abstractmethod
    def lengths(self, source_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        """Give the positions that examples take, on the longer side, special pieces included.

        From the pieces of their sources and targets, int64 `(N,)` each: int64 `(N,)`. Batches are cut by it.
        """

    @abstractmethod
    def batch(self, sources: Sequence[Tensor], targets: Sequence[Tensor], generator: Generator) -> Batch:
        """Pad examples, 1-D id tensors without special pieces, into a batch.

        A text by itself has an empty source. With empty targets, `target_input` is what generation starts from.
        Whatever is random is drawn from `generator`, example by example: training seeds it by the trial's seed and
        the place in the data, so that rows of a table see the same; evaluation seeds it alike for all.
        """

    def loss(self, logits: Tensor, batch: Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
        """Give the cross entropy in nats, in float32, summed over the tokens that are scored, and their number.

        `logits` is `(B, T, V)`; both results are scalars, zero where no token is scored. The smoothing mass is
        spread evenly over the whole vocabulary, the right token and the special pieces included (Szegedy et al.
        2016, arXiv:1512.00567, section 7).
        """
        loss = smoothed_cross_entropy(
            logits.float().flatten(0, 1),  # (B*T, V)
            batch.target_output.flatten(),  # (B*T,)
            batch.scored.flatten(),  # (B*T,)
            label_smoothing,
        )
        return loss, batch.scored.sum()

    def per_token(self, logits: Tensor, batch: Batch) -> Mapping[str, Tensor]:
        """Measure each token: by metric's name a `(B, T)`, of which the mean over scored tokens is reported.

        `accuracy` is the share of tokens that the model, given the true ones before, finds likeliest.
        """
        return {"accuracy": logits.argmax(-1) == batch.target_output}


def padded(sequences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Fill 1-D id tensors up to the longest: ids and padding, True = real token, both `(B, L)`."""
    ids = pad_sequence(list(sequences), batch_first=True, padding_value=PAD)  # (B, L)
    lengths = torch.tensor([len(sequence) for sequence in sequences])  # (B,)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]
