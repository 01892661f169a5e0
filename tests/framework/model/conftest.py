"""Small models over small vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from framework.contracts import BOS, Batch
from framework.model import Transformer, assemble, initialize
from framework.registry import Registry
from framework.spec import DataSpec, ModelSpec

SIZES = {"d_model": 16, "d_ff": 24, "num_layers": 2, "num_heads": 2, "dropout": 0.0}


@pytest.fixture
def data(make: Callable[..., Any]) -> Any:
    return make(DataSpec, corpus="toy_translation", tokenizer={"vocabulary_size": 300}, max_pieces=31)


@pytest.fixture
def build(make: Callable[..., Any], registry: Registry, data: DataSpec) -> Callable[..., Transformer]:
    def build(seed: int = 1, **fields: Any) -> Transformer:
        model = assemble(make(ModelSpec, **{**SIZES, **fields}), data, registry)
        initialize(model, seed)
        return model

    return build


@pytest.fixture
def batch() -> Batch:
    """Three pairs; the second source is two pieces shorter, and its target one."""
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(3, 300, (3, 6), generator=generator)
    target = torch.randint(3, 300, (3, 5), generator=generator)
    target_input = torch.cat((torch.full((3, 1), BOS), target[:, :-1]), dim=1)
    source_padding, target_padding = torch.ones(3, 6, dtype=torch.bool), torch.ones(3, 5, dtype=torch.bool)
    source_padding[1, 4:] = False
    target_padding[1, 4:] = False
    return Batch(target_input, target, target_padding, target_padding, source, source_padding)
