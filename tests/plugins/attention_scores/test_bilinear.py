from __future__ import annotations

import torch

import framework as fw
from plugins.attention_scores.bilinear import Bilinear
from plugins.attention_scores.dot_product import DotProduct
from tests.plugins.sizes import DIMS


def test_each_head_scores_by_its_own_matrix():
    torch.manual_seed(0)
    score = Bilinear(Bilinear.Options(), DIMS)
    torch.nn.init.normal_(score.weight)
    query, key = torch.randn(2, 2, 3, 4), torch.randn(2, 2, 5, 4)
    expected = torch.einsum("bhqd,hde,bhke->bhqk", query, score.weight, key)
    torch.testing.assert_close(score(query, key), expected)


def test_it_starts_as_the_scaled_dot_product():
    query, key = torch.randn(2, 2, 3, 4), torch.randn(2, 2, 5, 4)
    expected = DotProduct(DotProduct.Options(), DIMS)(query, key)
    torch.testing.assert_close(Bilinear(Bilinear.Options(), DIMS)(query, key), expected)


def test_every_entry_of_the_matrices_learns_from_the_start():
    score = Bilinear(Bilinear.Options(), DIMS)
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 2, 3, 4, generator=generator), torch.randn(2, 2, 5, 4, generator=generator)
    torch.autograd.backward(fw.attention_weights(score, query, key).square().sum())
    assert score.weight.grad is not None
    assert (score.weight.grad != 0).all()
    assert score.weight.grad.unique().numel() == score.weight.numel()
