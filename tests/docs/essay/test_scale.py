from __future__ import annotations

import pytest
import torch

from docs.essay.scale import WIDTHS, limit_of_two, numbers, slope


@pytest.fixture(scope="module")
def example(registry):
    return dict(zip(WIDTHS, numbers(registry), strict=True))


@pytest.mark.parametrize("d_k", WIDTHS)
def test_the_variance_of_a_dot_product_is_d_k(example, d_k):
    assert example[d_k].variance == pytest.approx(d_k, rel=0.05)


def test_the_slope_is_the_trace_of_the_softmax_s_jacobian():
    scores = torch.randn(5, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    jacobian = torch.autograd.functional.jacobian(lambda scores: scores.softmax(-1), scores)
    assert slope(scores.softmax(-1)) == pytest.approx(float(jacobian.trace()))


def test_the_slope_ends_at_even_weights_and_at_a_single_one():
    assert slope(torch.full((4,), 0.25)) == 0.75
    assert slope(torch.tensor([0.0, 1.0])) == 0.0


def test_without_the_scale_the_slope_falls_with_the_width(example):
    slopes = [round(example[d_k].unscaled.slope, 3) for d_k in WIDTHS]
    assert slopes == pytest.approx([0.784, 0.489, 0.251, 0.120, 0.064], abs=0.001)


@pytest.mark.parametrize("d_k", WIDTHS)
def test_with_the_scale_the_slope_stays(example, d_k):
    assert example[d_k].scaled.slope == pytest.approx(0.925, abs=0.005)


@pytest.mark.parametrize("d_k", [64, 256, 1024])
def test_over_two_keys_it_falls_along_the_formula(example, d_k):
    assert example[d_k].unscaled.slope_of_two == pytest.approx(limit_of_two(d_k), rel=0.1)


def test_the_formula_is_the_mean_of_the_slope_over_a_wide_normal():
    difference = torch.linspace(-300, 300, 600_001, dtype=torch.double)  # of two scores, d_k = 1024
    density = torch.distributions.Normal(0.0, (2 * 1024) ** 0.5).log_prob(difference).exp()
    weight = difference.sigmoid()
    mean = torch.trapezoid(2 * weight * (1 - weight) * density, difference)
    assert float(mean) == pytest.approx(limit_of_two(1024), rel=1e-3)


def test_one_key_takes_nearly_all_without_the_scale(example):
    assert example[4].unscaled.largest == pytest.approx(0.35, abs=0.005)
    assert example[1024].unscaled.largest == pytest.approx(0.95, abs=0.005)
    assert example[1024].scaled.largest == pytest.approx(0.17, abs=0.005)
