from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

import framework as fw
from plugins.attention_scores.dot_product import DotProduct
from plugins.masks.full import Full
from plugins.mixers.attention import Attention
from plugins.positional_schemes.none import NoPositions
from tests.plugins.sizes import DIMS


class Everywhere(fw.PositionalScheme):
    """Enters at rotation and bias, and counts."""

    name = "everywhere"

    def __init__(self, options: fw.Options, dims: fw.Dims) -> None:
        super().__init__(options, dims)
        self.slope = nn.Parameter(torch.tensor(0.5))
        self.rotated: list[int] = []

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        self.rotated.append(x.size(2))
        return x * (1 + positions[:, None, :, None])

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return self.slope * (key_positions[:, None, None, :] - query_positions[:, None, :, None]).abs()


def attention(site=fw.Site.ENCODER_SELF, scheme=NoPositions, **sizes) -> Attention:
    torch.manual_seed(0)
    dims = replace(DIMS, site=site, **sizes)
    parts = fw.Parts(DotProduct(DotProduct.Options(), dims), Full(Full.Options(), dims), scheme(scheme.Options(), dims))
    return Attention(Attention.Options(), dims, parts)


def real(*shape) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def test_it_is_the_attention_that_torch_knows():
    mixer, x = attention(), torch.randn(2, 3, 8)
    padding = torch.tensor([[True, True, True], [True, True, False]])
    y, _ = mixer(x, torch.arange(3)[None], padding)
    expected, _ = nn.functional.multi_head_attention_forward(
        *(x.transpose(0, 1),) * 3,
        embed_dim_to_check=8,
        num_heads=2,
        in_proj_weight=torch.cat((mixer.query.weight, mixer.key.weight, mixer.value.weight)),
        in_proj_bias=torch.cat((mixer.query.bias, mixer.key.bias, mixer.value.bias)),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=mixer.output.weight,
        out_proj_bias=mixer.output.bias,
        key_padding_mask=~padding,
    )
    torch.testing.assert_close(y, expected.transpose(0, 1))


@pytest.mark.parametrize(("d_k", "d_v"), [(4, 4), (2, 4), (3, 7)])
def test_head_widths_are_free(d_k, d_v):
    mixer = attention(d_k=d_k, d_v=d_v)
    y, _ = mixer(torch.randn(2, 3, 8), torch.arange(3)[None], real(2, 3))
    assert y.shape == (2, 3, 8)
    assert mixer.output.weight.shape == (8, 2 * d_v)


def test_projections_may_have_no_bias():
    names = attention(projection_bias=False).state_dict()
    assert sorted(names) == ["key.weight", "output.weight", "query.weight", "value.weight"]


def test_the_scheme_s_parameters_belong_to_the_stack():
    assert not [name for name in attention(scheme=Everywhere).state_dict() if "scheme" in name]


def test_a_position_is_rotated_once_and_then_cached():
    mixer = attention(fw.Site.DECODER_SELF, Everywhere)
    scheme, state = mixer.parts.scheme, mixer.start()
    assert isinstance(scheme, Everywhere)
    x, pieces = torch.randn(1, 3, 8), []
    for p in range(3):
        y, state = mixer(x[:, p : p + 1], torch.tensor([[p]]), real(1, 1), state=state)
        pieces.append(y)
    assert scheme.rotated == [1] * 6  # query and key of each position
    whole, _ = mixer(x, torch.arange(3)[None], real(1, 3))
    torch.testing.assert_close(torch.cat(pieces, 1), whole)


def test_rotation_and_bias_stay_out_of_cross_attention():
    x, memory = torch.randn(1, 3, 8), torch.randn(1, 4, 8)
    inputs = (x, torch.arange(3)[None], real(1, 3), memory, real(1, 4))
    plain, _ = attention(fw.Site.DECODER_CROSS)(*inputs)
    positioned, _ = attention(fw.Site.DECODER_CROSS, Everywhere)(*inputs)
    assert torch.equal(plain, positioned)


def test_memory_is_projected_once():
    mixer, memory = attention(fw.Site.DECODER_CROSS), torch.randn(1, 4, 8)
    x = torch.randn(1, 2, 8)
    whole, _ = mixer(x, torch.arange(2)[None], real(1, 2), memory, real(1, 4))
    _, state = mixer(x[:, :1], torch.tensor([[0]]), real(1, 1), memory, real(1, 4), mixer.start())
    later, _ = mixer(x[:, 1:], torch.tensor([[1]]), real(1, 1), torch.full_like(memory, torch.nan), real(1, 4), state)
    torch.testing.assert_close(later, whole[:, 1:])


@pytest.mark.parametrize("rows", [1, 2])
def test_a_state_follows_the_beam(rows):
    mixer, x = attention(fw.Site.DECODER_SELF), torch.randn(2, 3, 8)
    beam, positions = torch.tensor([1, 1, 0]), torch.arange(3)[None].expand(rows, 3)
    _, state = mixer(x[:, :2], positions[:, :2], real(2, 2), state=mixer.start().reorder(torch.tensor([0, 1])))
    y, _ = mixer(x[beam, 2:], positions[:1, 2:].expand(3 if rows == 2 else 1, 1), real(3, 1), state=state.reorder(beam))
    whole, _ = mixer(x[beam], torch.arange(3)[None], real(3, 3))
    torch.testing.assert_close(y, whole[:, 2:])


@pytest.mark.parametrize("gradients", [True, False])
def test_a_state_that_is_reordered_twice_follows_both(gradients):
    mixer, x = attention(fw.Site.DECODER_SELF), torch.randn(3, 3, 8)
    positions, first, second = torch.arange(3)[None], torch.tensor([2, 0, 1]), torch.tensor([0, 0, 2, 1])
    with torch.set_grad_enabled(gradients):
        _, state = mixer(x[:, :2], positions[:, :2], real(3, 2), state=mixer.start())
        y, _ = mixer(x[:, 2:][[0, 1, 2, 0]], positions[:, 2:], real(4, 1), state=state.reorder(first).reorder(second))
        whole = torch.cat((x[first[second], :2], x[:, 2:][[0, 1, 2, 0]]), dim=1)
        torch.testing.assert_close(y, mixer(whole, positions, real(4, 3))[0][:, 2:])


def test_what_is_read_of_a_memory_is_kept_once_and_forgotten_with_its_last_reader():
    mixer, memory, x = attention(fw.Site.DECODER_CROSS), torch.randn(4, 5, 8), torch.randn(4, 1, 8)
    padding = torch.arange(5) < torch.tensor([5, 3, 4, 2])[:, None]  # (M, S)
    positions = torch.zeros(1, 1, dtype=torch.int64)
    _, state = mixer(x, positions, real(4, 1), memory, padding, mixer.start())
    readers = torch.arange(4)
    for beam, kept in (([0, 0, 0, 1, 2, 3, 3], 4), ([6, 0, 3, 1, 3], 4), ([1, 1, 0], 2), ([2, 0, 1], 2), ([0], 1)):
        state, readers = state.reorder(torch.tensor(beam)), readers[beam]
        assert state.key.size(0) == kept  # of memories, however many read them
        for length in (1, 2):
            x = torch.randn(len(beam), length, 8)
            y, _ = mixer(x, positions, real(len(beam), length), memory[readers], padding[readers], state)
            copied, _ = mixer(x, positions, real(len(beam), length), memory[readers], padding[readers])
            torch.testing.assert_close(y, copied)


def test_attention_dropout_is_for_training():
    mixer = attention(attention_dropout=0.5)
    inputs = (torch.randn(2, 3, 8), torch.arange(3)[None], real(2, 3))
    assert not torch.equal(mixer.train()(*inputs)[0], mixer(*inputs)[0])
    assert torch.equal(mixer.eval()(*inputs)[0], mixer(*inputs)[0])


def grouped(key_value_heads, site=fw.Site.ENCODER_SELF, score=DotProduct, scheme=NoPositions, **sizes) -> Attention:
    torch.manual_seed(0)
    dims = replace(DIMS, num_heads=8, site=site, **sizes)
    parts = fw.Parts(score(score.Options(), dims), Full(Full.Options(), dims), scheme(scheme.Options(), dims))
    return Attention(Attention.Options(num_key_value_heads=key_value_heads), dims, parts)


class Seeing(fw.AttentionScore):
    """Remembers the heads that it was shown."""

    name = "seeing"

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        self.shown = query.shape[:2], key.shape[:2]
        return query @ key.mT


@pytest.mark.parametrize("site", [*fw.Site])
@pytest.mark.parametrize("key_value_heads", [1, 2, 4])
def test_fewer_key_value_heads_are_plain_attention_whose_groups_share_them(site, key_value_heads):
    mixer, plain = grouped(key_value_heads, site), grouped(None, site)
    tied = mixer.state_dict()
    for name in ("key", "value"):
        for tensor in (f"{name}.weight", f"{name}.bias"):
            heads = tied[tensor].unflatten(0, (key_value_heads, 4))
            tied[tensor] = torch.cat([heads[h * key_value_heads // 8] for h in range(8)])
    plain.load_state_dict(tied)
    inputs = (torch.randn(2, 3, 8), torch.arange(3)[None], real(2, 3), torch.randn(2, 5, 8), real(2, 5))
    torch.testing.assert_close(mixer(*inputs)[0], plain(*inputs)[0])


@pytest.mark.parametrize("key_value_heads", [1, 2, 8])
def test_heads_are_cached_before_they_are_shared(key_value_heads):
    mixer = grouped(key_value_heads, fw.Site.DECODER_SELF, d_v=3)
    _, state = mixer(torch.randn(2, 5, 8), torch.arange(5)[None], real(2, 5), state=mixer.start())
    assert state.key.shape == (2, key_value_heads, 5, 4)
    assert state.value.shape == (2, key_value_heads, 5, 3)


def test_a_score_sees_a_key_head_for_every_query_head():
    mixer = grouped(2, score=Seeing)
    mixer(torch.randn(3, 5, 8), torch.arange(5)[None], real(3, 5))
    assert mixer.score.shown == ((3, 8), (3, 8))


def test_a_shared_key_is_rotated_once():
    mixer = grouped(2, fw.Site.DECODER_SELF, scheme=Everywhere)
    x, pieces, state = torch.randn(1, 3, 8), [], mixer.start()
    for p in range(3):
        y, state = mixer(x[:, p : p + 1], torch.tensor([[p]]), real(1, 1), state=state)
        pieces.append(y)
    whole, _ = mixer(x, torch.arange(3)[None], real(1, 3))
    torch.testing.assert_close(torch.cat(pieces, 1), whole)


def test_as_many_key_value_heads_as_heads_change_nothing():
    inputs = (torch.randn(2, 3, 8), torch.arange(3)[None], real(2, 3))
    assert torch.equal(grouped(8)(*inputs)[0], grouped(None)(*inputs)[0])


@pytest.mark.parametrize("key_value_heads", [3, 16])
def test_heads_that_make_no_groups_of_one_size_are_refused(key_value_heads):
    said = f"num_key_value_heads={key_value_heads} does not divide num_heads=8, and .*: choose a divisor of 8"
    with pytest.raises(fw.SpecError, match=said) as refused:
        grouped(key_value_heads)
    assert refused.value.problems[0].path == "model.mixer.options.num_key_value_heads"
