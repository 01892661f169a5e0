"""Which way attention is computed: all give the same numbers, at different cost."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import framework as fw
from framework.model.assemble import initialize
from framework.model.attention import FEW_KEYS, attend
from tests.plugins.sizes import DIMS

D_V = DIMS.d_v


@pytest.fixture
def fused(monkeypatch):
    """The masks that PyTorch's fused attention is called with."""
    masks, real = [], F.scaled_dot_product_attention

    def noted(query, key, value, attn_mask=None, **keywords):
        masks.append(attn_mask)
        return real(query, key, value, attn_mask, **keywords)

    monkeypatch.setattr("framework.model.attention.F.scaled_dot_product_attention", noted)
    return masks


def run(registry, name, keys, allowed=None, bias=None, dropout=0.0):
    plugin = registry.plugin("attention_score", name)
    score: fw.AttentionScore = plugin(plugin.Options(), DIMS)
    initialize(score, seed=0)
    query, key, value = draw(keys)
    return attend(score, query, key, value, allowed, bias, dropout)


def draw(keys):
    return tuple(torch.randn(2, DIMS.num_heads, length, 4) for length in (3, keys, keys))


@pytest.mark.parametrize("keys", [1, 2 * D_V, 2 * D_V + 1])
def test_a_dot_product_is_fused_whatever_the_length(registry, fused, keys):
    run(registry, "dot_product", keys)
    assert fused == [None]


@pytest.mark.parametrize(("keys", "calls"), [(2 * D_V, 0), (2 * D_V + 1, 1)])
def test_features_wider_than_values_are_fused_once_keys_outnumber_two_values(registry, fused, keys, calls):
    run(registry, "kernel", keys)
    assert len(fused) == calls


@pytest.mark.parametrize(("keys", "calls"), [(FEW_KEYS - 1, 0), (FEW_KEYS, 1)])
def test_few_keys_whose_gradient_is_wanted_are_not_fused(registry, fused, keys, calls):
    plugin = registry.plugin("attention_score", "dot_product")
    query, key, value = (part.requires_grad_() for part in draw(keys))
    attend(plugin(plugin.Options(), DIMS), query, key, value).sum().backward()
    assert len(fused) == calls


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_few_keys_give_the_same_with_and_without_the_fused_kernel(registry, monkeypatch, hidden, biased):
    plugin = registry.plugin("attention_score", "dot_product")
    score = plugin(plugin.Options(), DIMS)
    parts = [part.requires_grad_() for part in draw(9)]
    allowed = torch.rand(2, 1, 3, 9) < 0.5 if hidden else None
    if allowed is not None:
        allowed[1, :, 2] = False  # a query that sees nothing
    bias = torch.randn(1, DIMS.num_heads, 3, 9) if biased else None

    def context_and_gradients():
        query, key, value = parts
        context = attend(score, query, key, value, allowed, bias)
        return context, *torch.autograd.grad(context.square().sum(), parts)

    built = context_and_gradients()
    monkeypatch.setattr("framework.model.attention.FEW_KEYS", 0)
    torch.testing.assert_close(context_and_gradients(), built)


def test_what_needs_weights_is_not_fused(registry, fused):
    run(registry, "additive", 20)
    run(registry, "dot_product", 20, dropout=0.1)
    run(registry, "dot_product", 20, bias=torch.zeros(1, 1, 3, 20, requires_grad=True))
    assert not fused


def test_a_mask_in_which_all_see_something_is_handed_on_as_it_is(registry, fused):
    allowed = torch.ones(1, 1, 3, 5, dtype=torch.bool)
    run(registry, "dot_product", 5, allowed)
    assert fused[0] is allowed
    allowed[..., 1, :] = False
    run(registry, "dot_product", 5, allowed)
    assert fused[1].all()  # opened, and replaced by zero afterwards
