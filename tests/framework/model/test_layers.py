from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from framework.model.layers import Linear, SubLayer


def test_a_projection_starts_xavier_uniform_with_zero_bias():
    torch.manual_seed(0)
    linear = Linear(200, 100)
    bound = (6 / 300) ** 0.5
    assert bound * 0.99 < linear.weight.abs().max() <= bound
    assert torch.equal(linear.bias, torch.zeros(100))


def test_a_projection_may_start_smaller():
    torch.manual_seed(0)
    whole = Linear(200, 100)
    torch.manual_seed(0)
    torch.testing.assert_close(Linear(200, 100, gain=0.5).weight, whole.weight / 2)


def test_a_projection_may_have_no_bias():
    assert Linear(3, 2, bias=False).bias is None


def around(norm_order="post_norm", *, norm="layer_norm", dropout=0.0, residual=True) -> SubLayer:
    return SubLayer(8, dropout, norm, norm_order, residual)


def f(x: Tensor) -> Tensor:
    return 3 * x.cos()


def norm(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, (8,), eps=1e-6)


@pytest.mark.parametrize(
    ("norm_order", "residual", "expected"),
    [
        ("post_norm", True, lambda x: norm(x + f(x))),
        ("post_norm", False, lambda x: norm(f(x))),
        ("pre_norm", True, lambda x: x + f(norm(x))),
        ("pre_norm", False, lambda x: f(norm(x))),
        ("none", True, lambda x: x + f(x)),
        ("none", False, lambda x: f(x)),
    ],
)
def test_norm_and_residual_stand_where_the_formula_puts_them(norm_order, residual, expected):
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    sublayer = around(norm_order, residual=residual)
    torch.testing.assert_close(sublayer.leave(x, f(sublayer.enter(x))), expected(x))


def test_rms_norm_divides_by_the_root_mean_square():
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    expected = x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(around("pre_norm", norm="rms_norm").enter(x), expected)


def test_dropout_falls_on_the_output_before_the_sum():
    x, y = torch.full((2, 3, 8), 10.0), torch.ones(2, 3, 8)
    torch.manual_seed(0)
    assert set(around("none", dropout=0.5).leave(x, y).flatten().tolist()) == {10.0, 12.0}
