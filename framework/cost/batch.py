"""The batch that a row's cost is counted for: examples of mean length, as many as fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from framework.contracts import SPECIAL_PIECES, Batch, Objective, TextCorpus
from framework.data.prepared import PreparedData
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.trial import data_folder

ASSUMED_PIECES: Final = 30
"""Of a sentence where there is no data to ask: the 4.5 million pairs of WMT14 English-German have 116 and 110 million
words (Luong et al. 2015, arXiv:1508.04025, section 4.1), and a word is cut into somewhat more than one piece."""


@dataclass(frozen=True, slots=True)
class TypicalBatch:
    """Examples of one length, which stand for those of an update."""

    examples: int
    source: int
    """Pieces of each source, special ones not included; 0 where texts stand by themselves."""
    target: int
    assumed: bool
    """Whether the lengths are assumed, because the data is not prepared."""

    def part(self, objective: Objective, micro_batch_tokens: int | None) -> TypicalBatch:
        """The part that is computed at once; all of it where that is null."""
        if micro_batch_tokens is None:
            return self
        one = replace(self, examples=1).made(objective)
        positions = max(side.size(1) for side in (one.target_input, one.source) if side is not None)
        return replace(self, examples=min(self.examples, max(1, micro_batch_tokens // positions)))

    def made(self, objective: Objective) -> Batch:
        """The batch itself, of pieces that mean nothing."""
        sources, targets = ([_pieces(length)] * self.examples for length in (self.source, self.target))
        return objective.batch(sources, targets, torch.Generator().manual_seed(0))

    def __str__(self) -> str:
        assumed = " (assumed: the data is not prepared)" if self.assumed else ""
        if self.source == 0:
            return f"{self.examples:,} texts of {self.target} pieces{assumed}"
        return f"{self.examples:,} pairs of {self.source} and {self.target} pieces{assumed}"


def typical_batch(spec: TrialSpec, objective: Objective, registry: Registry, home: Path) -> TypicalBatch:
    """Give the batch of an update, from the prepared training data where there is some, else of `ASSUMED_PIECES`."""
    if spec.data_key is not None and (folder := data_folder(home, spec.data_key)).exists():
        split = PreparedData.open(folder).split("train")
        sources, targets, assumed = split.source_lengths, split.target_lengths, False
    else:
        is_text = issubclass(registry.plugin("corpus", spec.data.corpus.name), TextCorpus)
        pieces = min(spec.data.max_pieces, ASSUMED_PIECES)
        sources, targets, assumed = _one(0 if is_text else pieces), _one(pieces), True
    longest = objective.lengths(sources, targets).double().mean().item()
    examples = max(1, int(spec.train.batch_tokens / longest))
    return TypicalBatch(examples, _mean(sources), _mean(targets), assumed)


def _one(length: int) -> Tensor:
    return torch.tensor([length])


def _mean(lengths: Tensor) -> int:
    return round(lengths.double().mean().item())


def _pieces(length: int) -> Tensor:
    return torch.full((length,), SPECIAL_PIECES)
