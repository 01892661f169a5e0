from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

import framework as fw
from framework.spec import ModelSpec
from plugins.attention_scores.kernel import Kernel
from tests.plugins.sizes import DIMS


def kernel(**options) -> Kernel:
    return Kernel(Kernel.Options(**options), DIMS)


def weights_in_double_precision(query: Tensor, key: Tensor, bandwidth: float) -> Tensor:
    distance = (query[:, :, :, None] - key[:, :, None]).double().square().sum(-1)
    return (-distance / (2 * bandwidth**2)).softmax(-1).float()


def draw(offset: float = 0.0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 2, length, 4, generator=generator) + offset for length in (3, 5)]


@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 7.0])
def test_weights_are_those_of_the_gaussian_of_the_distance(bandwidth):
    query, key = draw()
    weights = fw.attention_weights(kernel(bandwidth=bandwidth), query, key)
    torch.testing.assert_close(weights, weights_in_double_precision(query, key, bandwidth))


def test_without_a_bandwidth_products_enter_as_in_the_scaled_dot_product():
    query, key = draw()
    torch.testing.assert_close(
        fw.attention_weights(kernel(), query, key), weights_in_double_precision(query, key, 4**0.25)
    )


def test_far_keys_keep_their_proportions():
    query = torch.zeros(1, 2, 1, 4)
    key = torch.tensor([[300.0**0.5, 0, 0, 0], [310.0**0.5, 0, 0, 0]]).expand(1, 2, 2, 4)
    weights = fw.attention_weights(kernel(bandwidth=1.0), query, key)
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor([0.99331, 0.00669]), atol=1e-5, rtol=0)


def test_equal_keys_share_equally():
    key = torch.randn(1, 2, 1, 4).expand(1, 2, 5, 4)
    weights = fw.attention_weights(kernel(bandwidth=1.0), torch.randn(1, 2, 3, 4), key)
    torch.testing.assert_close(weights, torch.full((1, 2, 3, 5), 0.2))


def test_gradients_are_finite_where_query_and_key_coincide():
    query = torch.randn(1, 2, 5, 4).requires_grad_()
    torch.autograd.backward(fw.attention_weights(kernel(bandwidth=1.0), query, query).square().sum())
    assert query.grad is not None
    assert query.grad.isfinite().all()


@pytest.mark.parametrize(("offset", "tolerance"), [(10.0, 1e-3), (100.0, 5e-2)])
def test_a_common_offset_costs_digits_and_no_more(offset, tolerance):
    query, key = draw(offset)
    weights = fw.attention_weights(kernel(bandwidth=1.0), query, key)
    torch.testing.assert_close(weights, weights_in_double_precision(query, key, 1.0), atol=tolerance, rtol=0)


@pytest.mark.parametrize("learned", ["no", "shared", "per_head"])
def test_in_double_precision_an_offset_of_a_thousand_costs_nothing_that_shows(learned):
    query, key = (x.double() for x in draw(1000.0))
    weights = fw.attention_weights(kernel(bandwidth=1.0, learned=learned).double(), query, key)
    torch.testing.assert_close(weights.float(), weights_in_double_precision(query, key, 1.0))


def test_the_largest_offsets_still_give_weights():
    query, key = draw(1e4)
    weights = fw.attention_weights(kernel(bandwidth=1.0), query, key)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3))


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan"), True])
def test_a_bandwidth_that_is_no_width_is_refused_by_name(bandwidth):
    with pytest.raises(ValidationError, match="bandwidth"):
        Kernel.Options(bandwidth=bandwidth)


@pytest.mark.parametrize("written", ["0", "-1", "1e-400"])
def test_an_experiment_is_told_which_bandwidth_is_no_width(registry, written):
    spec = f'{{"attention_score": {{"name": "kernel", "options": {{"bandwidth": {written}}}}}}}'
    with pytest.raises(ValidationError, match=r"attention_score\S*bandwidth\n.*greater than 0"):
        ModelSpec.model_validate_json(spec, context={"catalog": registry})


@pytest.mark.parametrize(("learned", "count"), [("shared", 1), ("per_head", 2)])
def test_a_learned_bandwidth_starts_where_the_fixed_one_stands_and_moves(learned, count):
    query, key = draw()
    score = kernel(bandwidth=2.0, learned=learned)
    torch.testing.assert_close(score(query, key), kernel(bandwidth=2.0)(query, key))
    score(query, key).square().sum().backward()
    assert score.log_bandwidth.numel() == count
    assert score.log_bandwidth.grad is not None
    assert (score.log_bandwidth.grad != 0).all()


def test_a_fixed_bandwidth_is_no_parameter():
    assert not list(kernel().parameters())
