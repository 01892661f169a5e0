from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from framework.contracts import AttentionScore, Dims, Mask, Site
from framework.errors import PluginError
from framework.model.attention import attend, attention_weights, visible
from framework.registry import Registry
from plugins.attention_scores.dot_product import DotProduct
from plugins.masks.full import Full


def every_way() -> Iterator[Any]:
    """Each score with each of the options that it names as worth trying."""
    registry = Registry.load()
    for name in registry.names("attention_score"):
        plugin = registry.plugin("attention_score", name)
        for options in plugin.samples(Path()):
            yield pytest.param((plugin, options), id="-".join([name, *(f"{k}={v}" for k, v in options.items())]))


def dims(site: Site = Site.ENCODER_SELF) -> Dims:
    return Dims(
        d_model=8,
        d_ff=16,
        d_k=4,
        d_v=4,
        num_heads=2,
        num_layers=1,
        dropout=0.0,
        attention_dropout=0.0,
        feed_forward_dropout=0.0,
        projection_bias=True,
        site=site,
    )


@pytest.fixture(params=every_way())
def score(request) -> AttentionScore:
    plugin, options = request.param
    torch.manual_seed(0)
    return plugin(plugin.Options(**options), dims())


SHORT, LONG = 5, 11
"""Numbers of keys on either side of where a score that is wider than the values goes through fused attention."""


def heads(*, queries=3, keys=SHORT, d_k=4, d_v=4, dtype=torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)

    def draw(length: int, width: int) -> Tensor:
        return torch.randn(2, 2, length, width, generator=generator).to(dtype).requires_grad_()

    return draw(queries, d_k), draw(keys, d_k), draw(keys, d_v)


def draw_bias(queries: int, keys: int) -> Tensor:
    return torch.randn(1, 2, queries, keys, generator=torch.Generator().manual_seed(3))


def dropping(score, query, key, value, allowed=None, bias=None) -> Tensor:
    torch.manual_seed(0)
    return attend(score, query, key, value, allowed, bias, dropout=0.5)


def by_hand(score, query, key, value, allowed=None, bias=None) -> Tensor:
    return attention_weights(score, query, key, allowed, bias) @ value


@pytest.mark.parametrize("keys", [SHORT, LONG])
@pytest.mark.parametrize("path", [attend, by_hand, dropping])
@pytest.mark.parametrize("bias", ["none", "fixed", "learned"])
def test_a_query_that_may_see_nothing_has_zero_context_and_finite_gradients(score, path, bias, keys):
    query, key, value = heads(keys=keys)
    allowed = torch.ones(1, 1, 3, keys, dtype=torch.bool)
    allowed[:, :, 1] = False
    added = None if bias == "none" else draw_bias(3, keys).requires_grad_(bias == "learned")
    context = path(score, query, key, value, allowed, added)
    assert torch.equal(context[:, :, 1], torch.zeros(2, 2, 4))
    assert (context[:, :, [0, 2]] != 0).any()
    context.sum().backward()
    for tensor in (query, key, value, *score.parameters(), *([added] if bias == "learned" else [])):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
    assert query.grad is not None
    assert torch.equal(query.grad[:, :, 1], torch.zeros(2, 2, 4))


@pytest.mark.parametrize("path", [attend, by_hand, dropping])
@pytest.mark.parametrize("with_bias", [False, True])
def test_hidden_keys_get_no_weight_and_no_gradient_whatever_stands_there(score, path, with_bias):
    query, key, value = heads(keys=LONG)
    allowed = (torch.arange(LONG) < 6).expand(2, 1, 1, LONG)
    bias = draw_bias(3, LONG) if with_bias else None
    context = path(score, query, key, value, allowed, bias)
    torch.autograd.backward(context.square().sum())
    for tensor in (key, value):
        assert tensor.grad is not None
        assert (tensor.grad[:, :, :6] != 0).any()
        assert torch.equal(tensor.grad[:, :, 6:], torch.zeros_like(tensor.grad[:, :, 6:]))
    with torch.no_grad():
        key[:, :, 6:], value[:, :, 6:] = 7.0, 9.0
    assert torch.equal(path(score, query, key, value, allowed, bias), context)


@pytest.mark.parametrize("keys", [SHORT, LONG])
@pytest.mark.parametrize("with_bias", [False, True])
def test_padding_behind_the_keys_changes_nothing(score, with_bias, keys):
    query, key, value = heads(keys=keys)
    alone = 3
    bias = draw_bias(3, keys) if with_bias else None
    expected = attend(
        score, query, key[:, :, :alone], value[:, :, :alone], bias=bias if bias is None else bias[..., :alone]
    )
    padded = attend(score, query, key, value, (torch.arange(keys) < alone).expand(2, 1, 1, keys), bias)
    torch.testing.assert_close(padded, expected)


def test_equal_keys_share_equally_among_those_that_may_be_seen(score):
    query, key, _ = heads(keys=4)
    key = key[:, :, :1].expand(2, 2, 4, 4)
    weights = attention_weights(score, query, key, torch.tensor([[[[True, True, False, False]]]]))
    torch.testing.assert_close(weights, torch.tensor([0.5, 0.5, 0.0, 0.0]).expand(2, 2, 3, 4))
    torch.testing.assert_close(attention_weights(score, query, key), torch.full((2, 2, 3, 4), 0.25))


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("new", [1, 2, 5])
def test_new_queries_behind_a_cache_get_what_one_pass_gives(score, new, with_bias):
    query, key, value = heads(queries=LONG, keys=LONG)
    positions = torch.arange(LONG)[None]
    causal = visible(full(), dims(Site.DECODER_SELF), positions, positions, None)
    bias = draw_bias(LONG, LONG) if with_bias else None
    whole = attend(score, query, key, value, causal, bias)
    for end in (new, LONG):
        at = slice(end - new, end)
        allowed = visible(full(), dims(Site.DECODER_SELF), positions[:, at], positions[:, :end], None)
        seen = None if bias is None else bias[..., at, :end]
        context = attend(score, query[:, :, at], key[:, :, :end], value[:, :, :end], allowed, seen)
        torch.testing.assert_close(context, whole[:, :, at], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("path", [attend, by_hand])
def test_the_future_is_hidden_bit_for_bit(score, path):
    query, key, value = heads(queries=LONG, keys=LONG)
    positions = torch.arange(LONG)[None]
    causal = visible(full(), dims(Site.DECODER_SELF), positions, positions, None)
    before = path(score, query, key, value, causal)
    with torch.no_grad():
        query[:, :, 6:], key[:, :, 6:], value[:, :, 6:] = -3.0, 50.0, 9.0
    after = path(score, query, key, value, causal)
    assert torch.equal(before[:, :, :6], after[:, :, :6])
    assert not torch.equal(before[:, :, 6:], after[:, :, 6:])


def test_an_empty_source_gives_zero_context_in_training_and_without_gradients(score):
    query, key, value = heads()
    allowed = torch.tensor([True, False])[:, None, None, None].expand(2, 1, 1, 5)
    trained = attend(score, query, key, value, allowed)
    with torch.no_grad():
        evaluated = attend(score, query, key, value, allowed)
    for context in (trained, evaluated):
        assert torch.equal(context[1], torch.zeros(2, 3, 4))
    torch.testing.assert_close(trained, evaluated)


def test_weights_of_a_query_sum_to_one_over_what_it_may_see(score):
    query, key, _ = heads()
    allowed = torch.rand(2, 1, 3, 5, generator=torch.Generator().manual_seed(2)) < 0.5
    allowed[..., 0] = True
    weights = attention_weights(score, query, key, allowed)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3))
    assert (weights[(~allowed).expand_as(weights)] == 0).all()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("d_v", [2, 4, 7])
@pytest.mark.parametrize("keys", [SHORT, 2 * LONG])
def test_the_kernel_that_runs_changes_no_number(score, masked, with_bias, d_v, keys):
    inputs = heads(d_v=d_v, keys=keys)
    allowed = (torch.arange(keys) < 3).expand(2, 1, 1, keys) if masked else None
    bias = draw_bias(3, keys) if with_bias else None
    context, expected = (path(score, *inputs, allowed, bias) for path in (attend, by_hand))
    assert context.shape == (2, 2, 3, d_v)
    torch.testing.assert_close(context, expected)
    learnt = (*inputs, *score.parameters())
    for gradient, right in zip(
        *(torch.autograd.grad(x.square().sum(), learnt) for x in (context, expected)), strict=True
    ):
        torch.testing.assert_close(gradient, right, atol=1e-4, rtol=1e-4)


def test_a_learned_bias_gets_its_gradient(score):
    query, key, value = heads()
    bias = torch.zeros(1, 2, 3, 5, requires_grad=True)
    torch.autograd.backward(attend(score, query, key, value, bias=bias).square().sum())
    assert bias.grad is not None
    assert bias.grad.abs().sum() > 0


def test_dropout_falls_on_the_weights(score):
    query, key, _ = heads()
    value = torch.eye(5).expand(2, 2, 5, 5)  # the context is the weights
    torch.manual_seed(0)
    dropped = attend(score, query, key, value, dropout=0.5)
    weights = attention_weights(score, query, key)
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * weights))
    assert 0 < (dropped == 0).sum() < dropped.numel()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("with_bias", [False, True])
def test_half_precision_hides_what_two_masks_hide_together(score, dtype, with_bias):
    query, key, value = heads(queries=5, dtype=dtype)
    bias = draw_bias(5, 5).to(dtype) if with_bias else None
    padding = torch.tensor([True, True, True, False, False]).expand(2, 5)
    positions = torch.arange(5)[None]
    allowed = visible(Full(Full.Options(), dims()), dims(Site.DECODER_SELF), positions, positions, padding)
    weights = attention_weights(score.to(dtype), query, key, allowed, bias)
    assert weights.dtype == dtype
    assert weights.isfinite().all()
    assert (weights[..., 3:] == 0).all()
    context = attend(score, query, key, value, allowed, bias)
    torch.testing.assert_close(context, weights @ value, atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_mask_of_numbers_is_refused(score, dtype):
    query, key, value = heads()
    numbers = torch.ones(1, 1, 3, 5, dtype=dtype)
    expected = rf"allowed has dtype {dtype}, and must be boolean with True = may attend: .* 0 and 1 hide nothing"
    with pytest.raises(PluginError, match=expected):
        attend(score, query, key, value, numbers)
    with pytest.raises(PluginError, match=expected):
        attention_weights(score, query, key, numbers)


def test_a_mask_plugin_that_gives_numbers_is_named():
    class Numbers(Full):
        name = "numbers"

        def allowed(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
            return torch.zeros(1, 1, 3, 3)

    positions = torch.arange(3)[None]
    with pytest.raises(PluginError, match=r"mask 'numbers' has dtype torch.float32, and must be boolean"):
        visible(Numbers(Numbers.Options(), dims()), dims(), positions, positions, None)


def full() -> Mask:
    return Full(Full.Options(), dims())


def test_padding_hides_keys_and_never_queries():
    positions, padding = torch.arange(4)[None], torch.tensor([[True, True, False, False]])
    allowed = visible(full(), dims(), positions, positions, padding)
    assert allowed is not None
    assert allowed.expand(1, 1, 4, 4).tolist() == [[[[True, True, False, False]] * 4]]


def test_everything_may_be_seen_where_nothing_hides_it():
    positions = torch.arange(4)[None]
    assert visible(full(), dims(), positions, positions, None) is None


@pytest.mark.parametrize(("length", "cached"), [(1, 3), (2, 2), (4, 0)])
def test_new_queries_see_all_of_the_cache_and_not_each_others_future(length, cached):
    keys = torch.arange(4)[None]
    allowed = visible(full(), dims(Site.DECODER_SELF), keys[:, cached:], keys, None)
    assert allowed is not None
    assert torch.equal(allowed[0, 0], torch.ones(4, 4, dtype=torch.bool).tril()[cached:])


def test_causality_holds_in_the_decoder_itself_only():
    positions = torch.arange(3)[None]
    for site in (Site.ENCODER_SELF, Site.DECODER_CROSS):
        assert visible(full(), dims(site), positions, positions, None) is None


def test_a_mask_may_take_causality_on_itself():
    class Prefix(Full):
        handles_causality = True

    positions = torch.arange(3)[None]
    mask = Prefix(Prefix.Options(), dims())
    assert visible(mask, dims(Site.DECODER_SELF), positions, positions, None) is None


def test_keys_are_never_padded_to_a_wider_value(monkeypatch):
    widths = []
    attention = torch.nn.functional.scaled_dot_product_attention

    def spy(query, key, value, *rest, **options):
        widths.append((query.size(-1), key.size(-1), value.size(-1)))
        return attention(query, key, value, *rest, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    score = DotProduct(DotProduct.Options(), dims())
    with torch.no_grad():
        for d_v in (2, 4, 7):
            attend(score, *heads(d_v=d_v))
    assert widths == [(4, 4, 4), (4, 4, 4), (4, 4, 7)]


@pytest.mark.parametrize("path", [attend, by_hand])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_hidden_key_gets_no_weight_however_badly_the_others_score(score, path, dtype):
    query, key, _ = heads(keys=LONG, dtype=dtype)
    value = torch.eye(LONG, dtype=dtype).expand(2, 2, LONG, LONG)  # the context is the weights
    allowed = (torch.arange(LONG) < 6).expand(2, 1, 1, LONG)
    bias = torch.zeros(1, 2, 3, LONG, dtype=dtype)
    bias[..., :6] = torch.finfo(dtype).min / 2  # a large constant such as -1e4 would leave the hidden keys in front
    weights = path(score.to(dtype), query, key, value, allowed, bias)
    assert (weights[..., 6:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3, dtype=dtype), atol=1e-2, rtol=0)
