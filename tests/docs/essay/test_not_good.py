from __future__ import annotations

import pytest
import torch

from docs.essay.not_good import numbers


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


def test_dots_are_one_between_the_words_and_zero_with_itself(example):
    torch.testing.assert_close(example.scores * 2**0.5, torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double())


def test_not_comes_first_and_stays_itself(example):
    assert example.allowed.tolist() == [[True, False], [True, True]]
    assert example.weights[0].tolist() == [1.0, 0.0]
    assert example.context[0].tolist() == [-2.0, 0.0]


def test_good_becomes_good_after_not(example):
    assert [round(weight, 2) for weight in example.weights[1].tolist()] == [0.67, 0.33]
    assert [round(channel, 2) for channel in example.context[1].tolist()] == [-1.34, 0.66]


def test_without_the_mask_not_looks_at_good(example):
    assert [round(channel, 2) for channel in example.unmasked[0].tolist()] == [-0.66, 1.34]
    assert example.unmasked[1].tolist() == example.context[1].tolist()
