from __future__ import annotations

from dataclasses import replace

import torch

from plugins.feed_forwards.gelu_mlp import GeluMlp
from tests.plugins.sizes import DIMS


def test_two_projections_with_the_exact_gelu_between_them():
    torch.manual_seed(0)
    mlp, x = GeluMlp(GeluMlp.Options(), DIMS).double(), 3 * torch.randn(2, 3, 8, dtype=torch.float64)
    inner = x @ mlp.inner.weight.T + mlp.inner.bias
    inner = inner * (1 + torch.erf(inner / 2**0.5)) / 2  # x·Φ(x)
    expected = inner @ mlp.outer.weight.T + mlp.outer.bias
    torch.testing.assert_close(mlp(x), expected, rtol=1e-12, atol=1e-12)  # the approximation by tanh is 1e-3 off
    assert mlp.inner.weight.shape == (16, 8)


def test_dropout_falls_on_the_inner_activations_in_training_only():
    torch.manual_seed(0)
    mlp = GeluMlp(GeluMlp.Options(), replace(DIMS, d_model=16, feed_forward_dropout=0.5))
    with torch.no_grad():
        mlp.outer.weight.copy_(torch.eye(16))  # the output is the inner activations
    x = torch.randn(2, 3, 16)
    whole, dropped = mlp.eval()(x), mlp.train()(x)
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * whole))
    assert (dropped == 0).any()


def test_projections_may_have_no_bias():
    mlp = GeluMlp(GeluMlp.Options(), replace(DIMS, projection_bias=False))
    assert sorted(mlp.state_dict()) == ["inner.weight", "outer.weight"]
