from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError

import framework as fw
from plugins.feed_forwards.gated import Gated
from plugins.feed_forwards.relu_mlp import ReluMlp
from tests.plugins.sizes import DIMS

BY_HAND = {
    "silu": lambda x: x / (1 + (-x).exp()),
    "gelu": lambda x: x * (1 + torch.erf(x / 2**0.5)) / 2,
    "relu": lambda x: x.clamp(min=0),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
}


def gated(**sizes) -> Gated:
    torch.manual_seed(0)
    return Gated(Gated.Options(), replace(DIMS, **sizes))


@pytest.mark.parametrize("activation", BY_HAND)
def test_the_gate_passes_through_the_activation_and_multiplies(activation):
    torch.manual_seed(0)
    unit = Gated(Gated.Options(activation=activation), DIMS).double()
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    gate = BY_HAND[activation](x @ unit.gate.weight.T + unit.gate.bias)
    inner = gate * (x @ unit.inner.weight.T + unit.inner.bias)
    torch.testing.assert_close(unit(x), inner @ unit.outer.weight.T + unit.outer.bias)


def test_it_is_the_swiglu_unless_told_otherwise_and_tries_all(tmp_path):
    assert Gated.Options().activation == "silu"
    assert [sample["activation"] for sample in Gated.samples(tmp_path)] == list(BY_HAND)


def test_two_thirds_of_the_width_cost_what_an_mlp_costs():
    def parameters(unit: fw.FeedForward) -> int:
        return sum(parameter.numel() for parameter in unit.parameters())

    mlp = ReluMlp(ReluMlp.Options(), replace(DIMS, d_ff=24, projection_bias=False))
    assert parameters(gated(d_ff=16, projection_bias=False)) == parameters(mlp)


def test_dropout_falls_on_the_inner_activations_in_training_only():
    unit = gated(d_model=16, feed_forward_dropout=0.5)
    with torch.no_grad():
        unit.outer.weight.copy_(torch.eye(16))  # the output is the inner activations
    x = torch.randn(2, 3, 16)
    whole, dropped = unit.eval()(x), unit.train()(x)
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, 2 * whole))
    assert (dropped == 0).any()


def test_projections_may_have_no_bias():
    assert sorted(gated(projection_bias=False).state_dict()) == ["gate.weight", "inner.weight", "outer.weight"]


def test_an_unknown_activation_is_refused_by_name():
    with pytest.raises(ValidationError, match="activation"):
        Gated.Options.model_validate({"activation": "tanh"})
