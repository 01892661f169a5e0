from __future__ import annotations

import pytest
import torch

import framework as fw
from plugins.mixers.bottleneck import Bottleneck

LAST = torch.tensor([2, 4, 0])
PADDING = torch.arange(5) <= LAST[:, None]


@pytest.fixture
def bottleneck(build):
    return build("bottleneck", fw.Site.DECODER_CROSS)


def inputs(length=4):
    x, memory = torch.randn(3, length, 8).double(), torch.randn(3, 5, 8).double()
    return x, torch.arange(length)[None], torch.ones(3, length, dtype=torch.bool), memory, PADDING


def test_every_position_is_told_the_memory_s_last_real_vector(bottleneck):
    x, positions, padding, memory, memory_padding = inputs()
    y, _ = bottleneck(x, positions, padding, memory, memory_padding)
    for row, last in enumerate(LAST.tolist()):
        told = bottleneck.output.weight @ memory[row, last] + bottleneck.output.bias
        torch.testing.assert_close(y[row], told.expand(4, 8))


def test_nothing_else_of_the_source_or_target_is_told(bottleneck):
    x, positions, padding, memory, memory_padding = inputs()
    memory.requires_grad_()
    y, _ = bottleneck(x.requires_grad_(), positions, padding, memory, memory_padding)
    y.square().sum().backward()
    assert memory.grad is not None
    assert torch.equal(memory.grad.any(-1), torch.arange(5) == LAST[:, None])
    assert x.grad is None


def test_the_last_real_position_counts_wherever_padding_stands(bottleneck):
    x, positions, padding, memory, _ = inputs()
    holed = torch.tensor([[False, True, False, True, False]]).expand(3, 5)
    y, _ = bottleneck(x, positions, padding, memory, holed)
    torch.testing.assert_close(y[:, 0], bottleneck.output(memory[:, 3]))


def test_an_empty_source_is_a_zero_vector(bottleneck):
    x, positions, padding, memory, _ = inputs()
    y, _ = bottleneck(x, positions, padding, memory, torch.zeros(3, 5, dtype=torch.bool))
    assert torch.equal(y, bottleneck.output.bias.expand(3, 4, 8))


def test_the_memory_is_read_once(bottleneck):
    x, positions, padding, memory, memory_padding = inputs(length=1)
    first, state = bottleneck(x, positions, padding, memory, memory_padding, bottleneck.start())
    later, _ = bottleneck(x, positions + 1, padding, torch.full_like(memory, torch.nan), memory_padding, state)
    assert torch.equal(first, later)


def test_it_stands_between_encoder_and_decoder_and_honours_no_choice():
    assert Bottleneck.sites == {fw.Site.DECODER_CROSS}
    assert not Bottleneck.takes
