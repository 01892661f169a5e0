from __future__ import annotations

import pytest
import torch
from torch import Tensor

import framework as fw
from plugins.mixers.linear_attention import LinearAttention

H, D, S = 4, 8, 9
SITES = list(fw.Site)


def elu_plus_one(x: Tensor) -> Tensor:
    return torch.where(x > 0, x + 1, x.exp())


def directly(mixer, x: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
    """All pairs' weights, normalised and summed: `(B, L, D)` under `allowed (B, Q, K)`."""

    def heads(t):
        return t.view(len(t), t.size(1), H, -1).transpose(1, 2)

    query, key, value = heads(mixer.query(x)), heads(mixer.key(memory)), heads(mixer.value(memory))
    kernel = (elu_plus_one(query)[:, :, :, None] * elu_plus_one(key)[:, :, None]).sum(-1)  # (B, H, Q, K)
    kernel = kernel * allowed[:, None]
    weights = (kernel / kernel.sum(-1, keepdim=True)).nan_to_num(0.0)
    return mixer.output((weights @ value).transpose(1, 2).flatten(2))


def inputs(length: int, blind: bool):
    """Two rows, one padded; with `blind`, it is padded as a whole."""
    x, memory = torch.randn(2, length, D).double(), torch.randn(2, S, D).double()
    real = [torch.arange(size) < torch.tensor([[size], [0 if blind else 2 * size // 3]]) for size in (length, S)]
    return x, memory, *real


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("length", [1, 7, 63, 64, 65, 150])
@pytest.mark.parametrize("blind", [False, True])
def test_it_is_the_kernel_s_weighted_average(build, site, length, blind):
    mixer = build("linear_attention", site)
    x, memory, padding, memory_padding = inputs(length, blind)
    y, _ = mixer(x, torch.arange(length)[None], padding, memory, memory_padding)
    seen, real = (x, padding) if site.attends_itself else (memory, memory_padding)
    allowed = real[:, None].expand(2, length, -1)
    if site is fw.Site.DECODER_SELF:
        allowed = allowed.tril()
    torch.testing.assert_close(y, directly(mixer, x, seen, allowed))


@pytest.mark.parametrize("site", SITES)
def test_where_nothing_may_be_seen_the_context_is_exactly_zero(build, site):
    mixer = build("linear_attention", site)
    torch.nn.init.normal_(mixer.output.bias)
    x, memory, padding, memory_padding = inputs(7, blind=True)
    y, _ = mixer(x, torch.arange(7)[None], padding, memory, memory_padding)
    assert torch.equal(y[1], mixer.output.bias.expand(7, D))


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("offset", [-25.0, -40.0, -60.0])
def test_far_negative_keys_and_queries_keep_their_proportions_in_single_precision(build, site, offset):
    mixer = build("linear_attention", site).float()
    torch.nn.init.constant_(mixer.key.bias, offset)  # e^-25 + 1 - 1 would be 0
    torch.nn.init.constant_(mixer.query.bias, offset)
    x, memory, padding, memory_padding = inputs(7, blind=False)
    single, _ = mixer(x.float(), torch.arange(7)[None], padding, memory.float(), memory_padding)
    seen, real = (x, padding) if site.attends_itself else (memory, memory_padding)
    allowed = real[:, None].expand(2, 7, -1)
    if site is fw.Site.DECODER_SELF:
        allowed = allowed.tril()
    torch.testing.assert_close(single.double(), directly(mixer.double(), x, seen, allowed), atol=1e-4, rtol=0)


def test_what_a_backward_pass_keeps_does_not_grow_as_a_matrix_per_position(build):
    length, width = 1024, 64
    mixer = build("linear_attention", fw.Site.DECODER_SELF, d_model=width, d_k=width, d_v=width, num_heads=1).float()
    kept: list[int] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        mixer(torch.randn(1, length, width), torch.arange(length)[None], torch.ones(1, length, dtype=torch.bool))
    assert max(kept) <= 2 * length * (width + 1)


def test_decoding_keeps_sums_of_one_size(build):
    mixer, state = build("linear_attention", fw.Site.DECODER_SELF), None
    for length in (1, 70):
        real = torch.ones(2, length, dtype=torch.bool)
        x = torch.randn(2, length, D).double()
        _, state = mixer(x, torch.arange(length)[None], real, state=state or mixer.start())
        assert state.sums.shape == (2, H, 3, 5 + 1)


def test_the_memory_is_summed_once(build):
    mixer = build("linear_attention", fw.Site.DECODER_CROSS)
    x, memory, padding, memory_padding = inputs(2, blind=False)
    whole, _ = mixer(x, torch.arange(2)[None], padding, memory, memory_padding)
    _, state = mixer(x[:, :1], torch.tensor([[0]]), padding[:, :1], memory, memory_padding, mixer.start())
    unread = torch.full_like(memory, torch.nan)
    later, _ = mixer(x[:, 1:], torch.tensor([[1]]), padding[:, 1:], unread, memory_padding, state)
    torch.testing.assert_close(later, whole[:, 1:])


def test_its_projections_are_named_as_attention_s_so_that_both_start_alike(build):
    both = [build(name, fw.Site.DECODER_SELF) for name in ("linear_attention", "attention")]
    ours, theirs = ({name: tuple(t.shape) for name, t in mixer.state_dict().items()} for mixer in both)
    assert ours == theirs


def test_it_stands_anywhere_and_honours_no_choice():
    assert LinearAttention.sites == set(fw.Site)
    assert not LinearAttention.takes
