from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from plugins.positional_schemes.sinusoidal import Sinusoidal
from tests.plugins.sizes import DIMS

LAYOUTS = ("interleaved", "halves")


def encoding(positions: Sequence[int], d_model: int, **options: Any) -> Tensor:
    scheme = Sinusoidal(Sinusoidal.Options(**options), DIMS)
    return scheme.embed(torch.zeros(1, len(positions), d_model), torch.as_tensor(positions)[None])[0]


def sines_and_cosines(table: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    half = table.size(1) // 2
    return (table[:, 0::2], table[:, 1::2]) if layout == "interleaved" else (table[:, :half], table[:, half:])


@pytest.mark.parametrize("d_model", [4, 6, 7, 512])
def test_the_table_is_the_paper_s_formula(d_model):
    positions = [0, 1, 2, 3, 100, 4095]
    expected = torch.empty(len(positions), d_model)
    for row, p in enumerate(positions):
        for column in range(d_model):
            angle = p / 10000 ** (2 * (column // 2) / d_model)
            expected[row, column] = math.cos(angle) if column % 2 else math.sin(angle)
    torch.testing.assert_close(encoding(positions, d_model), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("d_model", [4, 6, 512])
def test_halves_over_the_full_range_is_what_the_authors_code_adds(d_model):
    positions = [0, 1, 2, 3, 100, 4095]
    half = d_model // 2
    expected = torch.empty(len(positions), d_model)
    for row, p in enumerate(positions):
        for i in range(half):
            angle = p / math.exp(i * math.log(10000) / (half - 1))
            expected[row, i], expected[row, half + i] = math.sin(angle), math.cos(angle)
    found = encoding(positions, d_model, layout="halves", full_range=True)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("full_range", [False, True])
def test_halves_are_the_interleaved_channels_in_another_order(full_range):
    one, other = (
        sines_and_cosines(encoding(range(50), 16, layout=layout, full_range=full_range), layout) for layout in LAYOUTS
    )
    assert torch.equal(one[0], other[0])
    assert torch.equal(one[1], other[1])


@pytest.mark.parametrize(("full_range", "longest"), [(True, 1e4), (False, 1e4 ** (510 / 512))])
def test_the_full_range_ends_at_ten_thousand_turns(full_range, longest):
    # Of the slowest angle, the sine at position 1 is its frequency but for a billionth.
    sines, _ = sines_and_cosines(encoding([1], 512, full_range=full_range), "interleaved")
    assert 1 / sines[0, -1].item() == pytest.approx(longest, rel=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_narrowest_widths_have_an_angle_too(layout, width):
    table = encoding([0, 1], width, layout=layout, full_range=True)
    assert table.isfinite().all()
    assert table[1, 0].item() == pytest.approx(math.sin(1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sine_and_cosine_columns_share_a_frequency(layout):
    table = encoding(range(50), 16, layout=layout)
    sines, cosines = sines_and_cosines(table, layout)
    torch.testing.assert_close(sines.square() + cosines.square(), torch.ones(50, 8))
    torch.testing.assert_close(table.square().sum(-1), torch.full((50,), 8.0))


@pytest.mark.parametrize("distance", [1, 7])
@pytest.mark.parametrize("full_range", [False, True])
def test_products_depend_on_the_distance_only(distance, full_range):
    table = encoding(range(50), 16, full_range=full_range)
    products = (table[:-distance] * table[distance:]).sum(-1)
    torch.testing.assert_close(products, products[:1].expand_as(products))


def test_a_later_start_gives_the_later_rows():
    assert torch.equal(encoding(range(9), 16)[5:], encoding(range(5, 9), 16))


def test_there_is_no_longest_sequence_and_no_parameter():
    scheme = Sinusoidal(Sinusoidal.Options(), DIMS)
    assert scheme.max_positions is None
    assert not scheme.state_dict()
