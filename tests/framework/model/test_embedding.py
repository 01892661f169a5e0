from __future__ import annotations

import torch

from framework.model.embedding import Table


def test_embeddings_are_scaled_by_the_root_of_the_width():
    table = Table(10, 16)
    torch.testing.assert_close(table.embed(torch.tensor([[3, 7]])), 4 * table.weight[[3, 7]][None])


def test_embeddings_and_logits_start_with_unit_variance():
    torch.manual_seed(0)
    table = Table(2000, 64)
    assert abs(table.embed(torch.arange(2000)[None]).std().item() - 1) < 0.02
    assert abs(table.logits(torch.randn(1, 500, 64)).std().item() - 1) < 0.02


def test_the_logits_of_no_signal_are_zero():
    assert torch.equal(Table(5, 4).logits(torch.zeros(1, 1, 4)), torch.zeros(1, 1, 5))
