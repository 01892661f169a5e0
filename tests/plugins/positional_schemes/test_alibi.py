from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import framework as fw
from plugins.positional_schemes.alibi import Alibi, head_slopes
from tests.plugins.sizes import DIMS


def alibi(num_heads: int = 2, site: fw.Site = fw.Site.ENCODER_SELF) -> Alibi:
    return Alibi(Alibi.Options(), replace(DIMS, num_heads=num_heads, site=site))


@pytest.mark.parametrize(
    ("num_heads", "exponents"),
    [
        (1, [8]),
        (2, [4, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (16, [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8]),
        (3, [4, 8, 2]),
        (6, [2, 4, 6, 8, 1, 3]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_slopes_are_geometric_and_those_of_further_heads_lie_between(num_heads, exponents):
    assert head_slopes(num_heads) == pytest.approx([2**-exponent for exponent in exponents])


def test_no_two_heads_share_a_slope():
    for num_heads in range(1, 65):
        assert len(set(head_slopes(num_heads))) == num_heads
        assert all(2**-8 <= slope < 1 for slope in head_slopes(num_heads))


def test_the_bias_falls_with_distance_alike_on_both_sides():
    positions = torch.arange(3)[None]
    bias = alibi().bias(positions, positions)
    distance = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    assert torch.equal(bias, -torch.stack((distance / 16, distance / 256))[None])


def test_a_decoder_has_the_same_bias_of_which_it_sees_the_past():
    positions = torch.arange(5)[None]
    expected = alibi().bias(positions, positions)
    assert torch.equal(alibi(site=fw.Site.DECODER_SELF).bias(positions, positions), expected)


def test_absolute_positions_count_row_by_row():
    scheme = alibi(num_heads=3)
    query, key = torch.tensor([[9], [2]]), torch.tensor([[0, 4, 9]])
    bias = scheme.bias(query, key)
    assert bias.shape == (2, 3, 1, 3)
    for row, distances in enumerate(([9, 5, 0], [2, 2, 7])):
        expected = [[-slope * distance for distance in distances] for slope in head_slopes(3)]
        torch.testing.assert_close(bias[row, :, 0], torch.tensor(expected))


def test_the_bias_is_fixed_and_not_stored():
    scheme = alibi()
    assert not list(scheme.parameters())
    assert not scheme.state_dict()
    assert not scheme.bias(torch.tensor([[1]]), torch.tensor([[0]])).requires_grad


def test_slopes_are_there_again_after_a_start_without_storage():
    with torch.device("meta"):
        scheme = alibi(num_heads=4)
    scheme = scheme.to_empty(device="cpu")
    scheme.reset_parameters()
    assert scheme.slopes.tolist() == head_slopes(4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_bias_has_the_model_s_precision(dtype):
    assert alibi().to(dtype).bias(torch.tensor([[1]]), torch.tensor([[0]])).dtype == dtype


def test_it_enters_nowhere_else_and_has_no_limit():
    scheme, x, positions = alibi(), torch.randn(1, 3, 8), torch.arange(3)[None]
    assert torch.equal(scheme.embed(x, positions), x)
    assert torch.equal(scheme.rotate(x, positions), x)
    assert scheme.max_positions is None
