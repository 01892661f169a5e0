from __future__ import annotations

import math

import pytest
import torch

from docs.essay.sinusoids import D_MODEL, SHIFTS, encoding, numbers, shift


@pytest.fixture(scope="module")
def example(registry):
    return numbers(registry)


def test_the_first_rows_are_those_of_the_paper_s_formula(example):
    expected = [[wave(p / 10000 ** (2 * i / 8)) for i in range(4) for wave in (math.sin, math.cos)] for p in range(3)]
    torch.testing.assert_close(example.small, torch.tensor(expected, dtype=torch.double))


@pytest.mark.parametrize("distance", SHIFTS)
def test_a_shift_is_one_linear_map_at_every_position(example, distance):
    assert example.errors[distance] < 1e-6


@pytest.mark.parametrize("distance", [-3, 0, 7])
def test_a_shift_turns_each_pair_of_channels(registry, distance):
    pairs = torch.view_as_complex(encoding(registry, 40, 16).view(40, 8, 2).flip(-1).contiguous())  # cos + i·sin
    frequency = 10000.0 ** (-torch.arange(8, dtype=torch.double) / 8)
    turned = pairs * torch.polar(torch.ones(8).double(), frequency * distance)
    expected = torch.view_as_real(turned).flip(-1).flatten(1)
    torch.testing.assert_close(encoding(registry, 40, 16) @ shift(distance, 16).T, expected, atol=1e-6, rtol=0)


def test_a_shift_is_a_rotation():
    matrix = shift(5, 16)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(16).double())
    torch.testing.assert_close(matrix @ shift(3, 16), shift(8, 16))
    assert float(matrix.det()) == pytest.approx(1.0)


def test_all_rows_are_equally_long(example):
    torch.testing.assert_close(example.encoding.square().sum(-1), torch.full((512,), D_MODEL / 2).double())


def test_likeness_depends_on_the_distance_alone(example):
    products = example.encoding @ example.encoding.T
    for distance in (1, 8, 100):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), atol=1e-5, rtol=0)


def test_likeness_by_distance_is_as_the_page_has_it(example):
    likeness = (example.encoding @ example.encoding[0] / (D_MODEL / 2)).tolist()
    assert [round(likeness[distance], 2) for distance in (0, 1, 8, 32)] == [1.0, 0.97, 0.71, 0.56]


def test_dog_and_god_differ_once_positions_are_added(registry):
    letters = torch.randn(3, 8, generator=torch.Generator().manual_seed(0), dtype=torch.double)  # d, o, g
    dog, god = letters + encoding(registry, 3, 8), letters.flip(0) + encoding(registry, 3, 8)
    torch.testing.assert_close(dog.mean(0), god.mean(0))  # the sum alone still hides it
    assert (dog - god.flip(0))[[0, 2]].norm(dim=-1).min() > 1
