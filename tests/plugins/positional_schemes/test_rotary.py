from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

import framework as fw
from plugins.positional_schemes.rotary import Rotary
from tests.plugins.sizes import DIMS


def rotary(d_k: int = 8, **options: float) -> Rotary:
    return Rotary(Rotary.Options(**options), replace(DIMS, d_k=d_k))


def at(*positions: int) -> Tensor:
    return torch.tensor(positions)[None]


def heads(length: int, d_k: int = 8, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(2, 3, length, d_k, generator=generator, dtype=dtype)


@pytest.mark.parametrize("d_k", [2, 6, 64])
@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_adjacent_channels_are_complex_numbers_times_a_turn(d_k, base):
    x, positions = heads(4, d_k), [0, 1, 7, 4095]
    turned = rotary(d_k, base=base).rotate(x, at(*positions))
    for place, p in enumerate(positions):
        for i in range(d_k // 2):
            number = torch.complex(x[:, :, place, 2 * i], x[:, :, place, 2 * i + 1])
            angle = torch.tensor(p * base ** (-2 * i / d_k), dtype=torch.float64)
            expected = torch.view_as_real(number * torch.polar(torch.ones_like(angle), angle))
            torch.testing.assert_close(turned[:, :, place, 2 * i : 2 * i + 2], expected)


def test_a_quarter_turn_by_hand():
    scheme = rotary(4, base=4.0)  # wavelengths 2π and 4π: angles p and p/2
    x = torch.tensor([1.0, 0.0, 0.0, 2.0])[None, None, None]
    expected = torch.tensor([-0.4161468, 0.9092974, -1.6829420, 1.0806046])  # cos 2, sin 2, -2 sin 1, 2 cos 1
    torch.testing.assert_close(scheme.rotate(x, at(2)).flatten(), expected)


@pytest.mark.parametrize("shift", [1, 50, 3000])
def test_dot_products_depend_on_the_distance_only(shift):
    scheme, query, key = rotary(), heads(5), heads(5).flip(0)
    query_positions, key_positions = at(0, 3, 4, 9, 20), at(5, 1, 0, 2, 30)

    def products(offset: int) -> Tensor:
        return scheme.rotate(query, query_positions + offset) @ scheme.rotate(key, key_positions + offset).mT

    torch.testing.assert_close(products(shift), products(0))
    assert not torch.allclose(products(0), query @ key.mT)


def test_lengths_are_kept_and_the_first_position_is_as_it_was():
    x = heads(5)
    turned = rotary().rotate(x, at(0, 1, 10, 100, 1000))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(turned[:, :, 0], x[:, :, 0])


def test_rows_of_a_batch_may_stand_at_positions_of_their_own():
    x, positions = heads(3), torch.tensor([[0, 1, 2], [7, 3, 3]])
    turned = rotary().rotate(x, positions)
    for row in range(2):
        assert torch.equal(turned[row], rotary().rotate(x[row : row + 1], positions[row : row + 1])[0])


def test_a_later_start_gives_the_later_rows():
    x = heads(9)
    whole = rotary().rotate(x, torch.arange(9)[None])
    assert torch.equal(rotary().rotate(x[:, :, 5:], torch.arange(5, 9)[None]), whole[:, :, 5:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_precision_is_kept_and_rounded_once(dtype):
    x = heads(4, dtype=dtype)
    turned, exact = (rotary().rotate(given, at(0, 5, 500, 5000)) for given in (x, x.double()))
    assert turned.dtype == dtype
    torch.testing.assert_close(turned.double(), exact, rtol=torch.finfo(dtype).eps, atol=torch.finfo(torch.float32).eps)


def test_gradients_turn_back():
    x = heads(3).requires_grad_()
    turned = rotary().rotate(x, at(1, 2, 30))
    (turned.square().sum() / 2).backward()
    torch.testing.assert_close(x.grad, x.detach())  # of the squared length, which a turn keeps


def test_a_score_that_is_no_dot_product_is_not_relative():
    scheme, query, key = rotary(), heads(1), heads(1).flip(0)

    def additive(offset: int) -> Tensor:
        return (scheme.rotate(query, at(offset)) + scheme.rotate(key, at(offset + 1))).tanh().sum(-1)

    assert not torch.allclose(additive(0), additive(10), rtol=0.01)


def test_an_odd_width_of_heads_is_refused_with_the_way_out():
    expected = (
        r"^model.positional_scheme: 'rotary' turns the channels of a head in pairs, and d_k=3 is odd: "
        r"set model.d_k to an even number, or choose another scheme$"
    )
    with pytest.raises(fw.SpecError, match=expected):
        rotary(3)


def test_it_enters_nowhere_else_and_has_no_parameter_and_no_limit():
    scheme, x = rotary(), heads(3)[:, 0]
    assert torch.equal(scheme.embed(x, at(0, 1, 2)), x)
    assert scheme.bias(at(0), at(0)) is None
    assert not scheme.state_dict()
    assert scheme.max_positions is None


def test_a_base_of_zero_is_refused_by_name():
    with pytest.raises(ValidationError, match="base"):
        rotary(base=0.0)
