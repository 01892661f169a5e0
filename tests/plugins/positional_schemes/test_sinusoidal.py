from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from plugins.positional_schemes.sinusoidal import Sinusoidal
from tests.plugins.sizes import DIMS


def encoding(positions: Sequence[int], d_model: int) -> Tensor:
    scheme = Sinusoidal(Sinusoidal.Options(), DIMS)
    return scheme.embed(torch.zeros(1, len(positions), d_model), torch.as_tensor(positions)[None])[0]


@pytest.mark.parametrize("d_model", [4, 6, 7, 512])
def test_the_table_is_the_paper_s_formula(d_model):
    positions = [0, 1, 2, 3, 100, 4095]
    expected = torch.empty(len(positions), d_model)
    for row, p in enumerate(positions):
        for column in range(d_model):
            angle = p / 10000 ** (2 * (column // 2) / d_model)
            expected[row, column] = math.cos(angle) if column % 2 else math.sin(angle)
    torch.testing.assert_close(encoding(positions, d_model), expected, atol=1e-6, rtol=0)


def test_sine_and_cosine_columns_share_a_frequency():
    table = encoding(range(50), 16)
    torch.testing.assert_close(table[:, 0::2].square() + table[:, 1::2].square(), torch.ones(50, 8))
    torch.testing.assert_close(table.square().sum(-1), torch.full((50,), 8.0))


@pytest.mark.parametrize("distance", [1, 7])
def test_products_depend_on_the_distance_only(distance):
    table = encoding(range(50), 16)
    products = (table[:-distance] * table[distance:]).sum(-1)
    torch.testing.assert_close(products, products[:1].expand_as(products))


def test_a_later_start_gives_the_later_rows():
    assert torch.equal(encoding(range(9), 16)[5:], encoding(range(5, 9), 16))


def test_there_is_no_longest_sequence_and_no_parameter():
    scheme = Sinusoidal(Sinusoidal.Options(), DIMS)
    assert scheme.max_positions is None
    assert not scheme.state_dict()
