from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from framework.contracts.cross_entropy import smoothed_cross_entropy


def draw() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(7, 11, generator=generator, dtype=torch.float64)
    targets = torch.randint(11, (7,), generator=generator)
    return logits.requires_grad_(), targets, torch.tensor([True, True, False, True, False, True, True])


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_it_and_its_gradient_are_those_of_torch(smoothing):
    logits, targets, scored = draw()
    found = smoothed_cross_entropy(logits, targets, scored, smoothing)
    ignoring = targets.masked_fill(~scored, -100)
    expected = F.cross_entropy(logits, ignoring, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(found, expected)
    weight = 0.37  # as a mean over tokens, or a scaled loss, would multiply it
    torch.testing.assert_close(
        torch.autograd.grad(weight * found, logits), torch.autograd.grad(weight * expected, logits)
    )


def test_by_hand():
    logits = torch.tensor([[0.0, math.log(3.0)]])  # p = 1/4, 3/4
    found = smoothed_cross_entropy(logits, torch.tensor([1]), torch.tensor([True]), 0.2)
    assert found.item() == pytest.approx(-(0.1 * math.log(1 / 4) + 0.9 * math.log(3 / 4)))  # q = 0.1, 0.9


def test_nothing_scored_is_zero_with_gradients_of_zero():
    logits, targets, scored = draw()
    found = smoothed_cross_entropy(logits, targets, scored & False, 0.1)
    (gradient,) = torch.autograd.grad(found, logits)
    assert found.item() == 0.0
    assert torch.equal(gradient, torch.zeros_like(logits))


def test_logits_are_left_as_they_are():
    logits, targets, scored = draw()
    before = logits.detach().clone()
    smoothed_cross_entropy(logits, targets, scored, 0.1).backward()
    assert torch.equal(logits, before)


def test_a_graph_kept_gives_its_gradient_twice():
    logits, targets, scored = draw()
    found = smoothed_cross_entropy(logits, targets, scored, 0.1)
    (first,) = torch.autograd.grad(found, logits, retain_graph=True)
    (second,) = torch.autograd.grad(found, logits)
    assert torch.equal(first, second)
