"""What padding wastes of a corpus's batches."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import torch
from torch import Generator, Tensor

from framework.contracts import Objective
from framework.data.batches import TrainingBatches
from framework.data.prepare import prepare
from framework.data.prepared import PreparedSplit
from framework.registry import Registry
from framework.spec import DataSpec

REGIMES: Final = ((1000, 1000), (2000, 2000), (8000, 4000))
"""Pieces of the vocabulary, tokens of a batch."""
MAX_PIECES: Final = 32


class Waste(NamedTuple):
    """The share of positions, on both sides, that hold no piece of an epoch's batches."""

    vocabulary: int
    batch_tokens: int
    pairs: int
    share: float


def wasted_shares(corpus: Path) -> list[Waste]:
    """Prepare English-Spanish pairs with each vocabulary, and look at the batches of the first epoch."""
    registry = Registry.load()
    kind = registry.plugin("objective", "translation")
    objective: Objective = kind(kind.Options())
    found = []
    for vocabulary, batch_tokens in REGIMES:
        options = {"path": str(corpus.resolve()), "source_column": "en", "target_column": "es"}
        fields: dict[str, Any] = {
            "corpus": {"name": "text_pairs", "options": options},
            "tokenizer": {"vocabulary_size": vocabulary},
            "max_pieces": MAX_PIECES,
        }
        spec = DataSpec.model_validate_json(json.dumps(fields), context={"catalog": registry})
        reader = registry.plugin("corpus", "text_pairs")(spec.corpus.options, Path())
        with TemporaryDirectory() as folder:
            split = prepare(spec, reader, Path(folder) / "data").split("train")
            found.append(Waste(vocabulary, batch_tokens, len(split), wasted_share(split, objective, batch_tokens)))
    return found


def wasted_share(split: PreparedSplit, objective: Objective, batch_tokens: int) -> float:
    """Give the share of positions that are padding, over an epoch of training batches and both sides."""
    lengths = objective.lengths(split.source_lengths, split.target_lengths)
    surplus = split.source_lengths - split.target_lengths
    positions = real = 0
    for indices in TrainingBatches(lengths, surplus, batch_tokens, seed=1).epoch(0):
        batch = objective.batch(split.sources(indices), split.targets(indices), Generator())
        for padding in (batch.source_padding, batch.target_padding):
            assert isinstance(padding, Tensor)
            positions += padding.numel()
            real += int(torch.count_nonzero(padding))
    return 1 - real / positions
