from __future__ import annotations

import math

import pytest
import torch

from docs.essay.two_tokens import numbers

NEAR = math.exp(0.5**0.5) / (math.exp(0.5**0.5) + 1)


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


def test_weights_are_two_thirds_and_one_third(example):
    torch.testing.assert_close(example.weights, torch.tensor([[NEAR, 1 - NEAR], [1 - NEAR, NEAR]], dtype=torch.double))
    assert [round(weight, 2) for weight in example.weights[0].tolist()] == [0.67, 0.33]


def test_outputs_are_averages_of_the_values(example):
    expected = torch.tensor([[10 * NEAR, 20 * (1 - NEAR)], [10 * (1 - NEAR), 20 * NEAR]], dtype=torch.double)
    torch.testing.assert_close(example.context, expected)
    assert [round(channel, 1) for channel in example.context.flatten().tolist()] == [6.7, 6.6, 3.3, 13.4]


def test_outputs_lie_on_the_line_between_the_values(example):
    torch.testing.assert_close(example.context @ torch.tensor([2.0, 1.0]).double(), torch.full((2,), 20.0).double())


def test_scores_without_the_scale_are_sharper(example):
    torch.testing.assert_close(example.unscaled[0], torch.tensor([math.e, 1.0]).double() / (math.e + 1))
