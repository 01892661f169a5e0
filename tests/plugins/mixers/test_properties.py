"""What holds for every mixer, in double precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import framework as fw
from plugins.mixers.attention import Attention
from plugins.mixers.bottleneck import Bottleneck
from plugins.mixers.convolution import Convolution
from plugins.mixers.linear_attention import LinearAttention
from plugins.mixers.recurrent import Recurrent

B, L, S, D = 3, 7, 5, 8
WAYS: tuple[tuple[type[fw.Mixer], dict[str, object]], ...] = (
    (Attention, {}),
    (Attention, {"num_key_value_heads": 1}),
    (Attention, {"num_key_value_heads": 2}),
    (Bottleneck, {}),
    (Convolution, {}),
    (Convolution, {"width": 1}),
    (Convolution, {"width": 4}),
    (LinearAttention, {}),
    (Recurrent, {}),
    (Recurrent, {"cell": "lstm"}),
    (Recurrent, {"bidirectional": False}),
)
PLACED = [
    pytest.param(kind.name, site, options, id="-".join([kind.name, *map(str, options.values()), site]))
    for kind, options in WAYS
    for site in fw.Site
    if site in kind.sites
]
DECODING = [case for case in PLACED if case.values[1] is not fw.Site.ENCODER_SELF]
READS_AHEAD = [
    case
    for case in PLACED
    if case.values[1] is fw.Site.ENCODER_SELF and case.values[2] not in ({"width": 1}, {"bidirectional": False})
]
every_mixer = pytest.mark.parametrize(("name", "site", "options"), PLACED)
every_decoding_mixer = pytest.mark.parametrize(("name", "site", "options"), DECODING)

TRAILING = torch.arange(L) < torch.tensor([[L], [4], [1]])
ANYWHERE = torch.tensor([[1, 1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0, 0]]).bool()
MEMORY = torch.arange(S) < torch.tensor([[3], [S], [1]])


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def positions(length: int) -> Tensor:
    return torch.arange(length)[None]


def crossing(site: fw.Site, memory: Tensor, padding: Tensor) -> tuple[Tensor, ...]:
    return () if site.attends_itself else (memory, padding)


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


@every_decoding_mixer
@pytest.mark.parametrize("padding", [TRAILING, ANYWHERE], ids=["trailing", "anywhere"])
@pytest.mark.parametrize("pieces", [(1,) * L, (3, 1, 2, 1), (L,)])
def test_reading_piece_by_piece_is_reading_at_once(build, name, site, options, padding, pieces):
    mixer, x, memory = build(name, site, options), draw(B, L, D), crossing(site, draw(B, S, D, seed=1), MEMORY)
    whole, nothing = mixer(x, positions(L), padding, *memory)
    assert nothing is None
    read, state = [], mixer.start()
    for part, place, real in zip(*(t.split(pieces, dim=1) for t in (x, positions(L), padding)), strict=True):
        y, state = mixer(part, place, real, *memory, state=state)
        read.append(y)
    close(torch.cat(read, dim=1)[padding], whole[padding])


@every_decoding_mixer
def test_a_state_follows_the_beam(build, name, site, options):
    mixer, x, memory = build(name, site, options), draw(B, L, D), draw(B, S, D, seed=1)
    real, beam = torch.ones(B, L, dtype=torch.bool), torch.tensor([2, 0, 0, 2])
    start = mixer.start().reorder(torch.arange(B))
    _, state = mixer(x[:, :4], positions(4), real[:, :4], *crossing(site, memory, MEMORY), state=start)
    inputs = (x[beam, 4:], positions(L)[:, 4:], real[beam, 4:], *crossing(site, memory[beam], MEMORY[beam]))
    y, _ = mixer(*inputs, state=state.reorder(beam))
    whole, _ = mixer(x[beam], positions(L), real[beam], *crossing(site, memory[beam], MEMORY[beam]))
    close(y, whole[:, 4:])


@every_mixer
@pytest.mark.parametrize("padding", [TRAILING, ANYWHERE], ids=["trailing", "anywhere"])
def test_what_stands_at_padding_changes_nothing(build, name, site, options, padding):
    mixer, x, memory = build(name, site, options), draw(B, L, D), draw(B, S, D, seed=1)
    before, _ = mixer(x, positions(L), padding, *crossing(site, memory, MEMORY))
    x, memory = (t.where(real[..., None], 100 * draw(*t.shape, seed=2)) for t, real in ((x, padding), (memory, MEMORY)))
    after, _ = mixer(x, positions(L), padding, *crossing(site, memory, MEMORY))
    close(after[padding], before[padding])


@every_mixer
def test_a_row_is_mixed_as_if_it_were_alone_and_without_padding(build, name, site, options):
    mixer, x, memory = build(name, site, options), draw(B, L, D), draw(B, S, D, seed=1)
    together, _ = mixer(x, positions(L), TRAILING, *crossing(site, memory, MEMORY))
    for row in range(B):
        length, size = int(TRAILING[row].sum()), int(MEMORY[row].sum())
        own, source = x[None, row, :length], memory[None, row, :size]
        inputs = (own, positions(length), TRAILING[row, None, :length])
        alone, _ = mixer(*inputs, *crossing(site, source, MEMORY[row, None, :size]))
        close(together[row, :length], alone[0])


@pytest.mark.parametrize(
    ("name", "site", "options"), [case for case in PLACED if case.values[1] is fw.Site.DECODER_SELF]
)
def test_a_decoder_sees_nothing_of_the_future(build, name, site, options):
    mixer, x = build(name, site, options), draw(1, L, D).requires_grad_()
    y, _ = mixer(x, positions(L), torch.ones(1, L, dtype=torch.bool))
    for p in range(L):
        (gradient,) = torch.autograd.grad(y[0, p].sum(), x, retain_graph=True)
        assert gradient[0, p].count_nonzero() == D
        assert not gradient[0, p + 1 :].any()


@pytest.mark.parametrize(("name", "site", "options"), READS_AHEAD)
def test_an_encoder_sees_what_comes_after(build, name, site, options):
    mixer, x = build(name, site, options), draw(1, L, D).requires_grad_()
    y, _ = mixer(x, positions(L), torch.ones(1, L, dtype=torch.bool))
    (gradient,) = torch.autograd.grad(y[0, 0].sum(), x)
    assert gradient[0, 1].all()


@every_mixer
@pytest.mark.parametrize("length", [1, L])
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 100.0, 1000.0])
def test_gradients_are_finite_where_a_row_holds_nothing_real(build, name, site, options, length, scale):
    mixer = build(name, site, options).float()
    x, memory = ((scale * draw(2, size, D)).float().requires_grad_() for size in (length, S))
    real = torch.tensor([[False], [True]])
    y, _ = mixer(x, positions(length), real.expand(2, length), *crossing(site, memory, real.expand(2, S)))
    y.square().sum().backward()
    assert y.isfinite().all()
    read = [memory] if name == "bottleneck" else [x] if site.attends_itself else [x, memory]
    for tensor in (*read, *mixer.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


@every_mixer
def test_gradients_reach_every_parameter(build, name, site, options):
    mixer = build(name, site, options)
    y, _ = mixer(draw(B, L, D), positions(L), TRAILING, *crossing(site, draw(B, S, D, seed=1), MEMORY))
    y[TRAILING].pow(3).sum().backward()
    for key, parameter in mixer.named_parameters():
        assert parameter.grad is not None
        if key != "key.bias" or name != "attention":  # which adds one number to all scores of a query
            assert parameter.grad.any(), key
