from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

import framework as fw
from plugins.attention_scores.dot_product import DotProduct
from plugins.masks.prefix import Prefix
from plugins.mixers.attention import Attention
from plugins.positional_schemes.none import NoPositions
from tests.plugins.sizes import DIMS

DECODER = replace(DIMS, site=fw.Site.DECODER_SELF)
LENGTH = 6


def prefix(length: int) -> Prefix:
    return Prefix(Prefix.Options(length=length), DECODER)


def seen(length: int, dims: fw.Dims = DECODER) -> Tensor:
    positions = torch.arange(LENGTH)[None]
    allowed = fw.visible(prefix(length), dims, positions, positions, None)
    assert allowed is not None
    return allowed[0, 0]  # (L, L)


def test_the_prefix_sees_itself_whole_and_the_rest_sees_the_past():
    assert seen(3).int().tolist() == [
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1],
    ]


@pytest.mark.parametrize("length", [1, 2, 5, 6, 9])
def test_it_means_the_same_in_an_encoder(length):
    expected = [[j <= i or j < length for j in range(LENGTH)] for i in range(LENGTH)]
    assert seen(length).tolist() == seen(length, DIMS).tolist() == expected


def test_a_prefix_of_one_is_causality():
    assert torch.equal(seen(1), torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril())


@pytest.mark.parametrize("length", [1, 2, 4, 6])
def test_exactly_the_tokens_that_reach_the_position_that_says_them_stay_out_of_the_loss(length):
    reached = torch.linalg.matrix_power(seen(length).double(), LENGTH) > 0  # through any number of layers
    said = torch.arange(1, LENGTH)  # a decoder says the token after each position
    assert torch.equal(prefix(length).scored(said[None])[0], ~reached[said - 1, said])


def test_the_first_position_belongs_to_the_prefix():
    positions = torch.tensor([[0, 1, 2, 3], [4, 3, 2, 1]])
    assert prefix(2).scored(positions).tolist() == [[False, False, True, True], [True, True, True, False]]


def attention(length: int) -> Attention:
    torch.manual_seed(0)
    scheme = NoPositions(NoPositions.Options(), DECODER)
    parts = fw.Parts(DotProduct(DotProduct.Options(), DECODER), prefix(length), scheme)
    return Attention(Attention.Options(), DECODER, parts)


def real(length: int) -> Tensor:
    return torch.ones(1, length, dtype=torch.bool)


def test_a_decoder_would_otherwise_be_scored_on_what_it_sees():
    mixer, positions = attention(3), torch.arange(LENGTH)[None]
    for p in range(LENGTH - 1):
        x = torch.randn(1, LENGTH, 8, requires_grad=True)
        y, _ = mixer(x, positions, real(LENGTH))
        y[:, p].sum().backward()
        assert x.grad is not None
        sees_what_it_says = bool(x.grad[0, p + 1].any())
        assert sees_what_it_says == (p + 1 < 3)
        assert prefix(3).scored(torch.tensor([[p + 1]])).item() == (not sees_what_it_says)


def test_a_prefix_read_in_one_go_and_the_rest_token_by_token_give_what_one_pass_gives():
    mixer, x, positions = attention(3), torch.randn(1, LENGTH, 8), torch.arange(LENGTH)[None]
    whole, _ = mixer(x, positions, real(LENGTH))
    piece, state = mixer(x[:, :3], positions[:, :3], real(3), state=mixer.start())
    pieces = [piece]
    for p in range(3, LENGTH):
        piece, state = mixer(x[:, p : p + 1], positions[:, p : p + 1], real(1), state=state)
        pieces.append(piece)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole)


@pytest.mark.parametrize("options", [{}, {"length": 0}])
def test_a_length_is_asked_for_and_is_at_least_one(options):
    with pytest.raises(ValidationError, match="length"):
        Prefix.Options(**options)


def test_its_samples_are_options(tmp_path):
    assert [Prefix.Options(**sample).length for sample in Prefix.samples(tmp_path)] == [2, 1]
