from __future__ import annotations

import pytest
import torch

from docs.essay.kernel_regression import BANDWIDTHS, direct, numbers


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


@pytest.mark.parametrize("fit", range(len(BANDWIDTHS)))
def test_attention_gives_the_numbers_of_the_direct_estimator(example, fit):
    x, y, fit = example.x.tolist(), example.y.tolist(), example.fits[fit]
    expected = [direct(place, x, y, fit.bandwidth) for place in example.grid.tolist()]
    torch.testing.assert_close(fit.estimate, torch.tensor(expected, dtype=torch.double), atol=1e-9, rtol=0)


def test_the_direct_estimator_is_right_where_it_can_be_done_by_hand():
    assert direct(0.5, [0.0, 1.0], [3.0, 5.0], 1.0) == 4.0
    assert direct(0.0, [0.0, 1.0], [3.0, 5.0], 0.01) == 3.0
    assert direct(0.0, [0.0, 1.0], [3.0, 5.0], 1e6) == pytest.approx(4.0)


def test_a_wider_kernel_averages_over_more_points(example):
    neighbours = [fit.neighbours for fit in example.fits]
    assert neighbours == sorted(neighbours)
    assert [round(count, 1) for count in neighbours] == [1.9, 7.1, 24.2]


def test_errors_are_least_in_the_middle(example):
    assert [round(fit.error, 2) for fit in example.fits] == [0.30, 0.26, 0.54]


def test_dot_product_and_kernel_are_one_for_keys_of_equal_length_only(example):
    assert example.equal_norms < 1e-12
    assert example.any_norms == pytest.approx(0.18, abs=0.005)
