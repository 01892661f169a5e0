from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

import framework as fw
from plugins.mixers.recurrent import Recurrent

L, D = 6, 8
PADDING = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0]]).bool()


def gru(network, x: Tensor) -> Tensor:
    """One row `(L, D)` step by step: Cho et al.'s equations, but the reset gate behind the matrix, as in torch."""
    into_reset, into_update, into_new = network.weight_ih_l0.chunk(3)
    from_reset, from_update, from_new = network.weight_hh_l0.chunk(3)
    bias, recurrent_bias = network.bias_ih_l0.chunk(3), network.bias_hh_l0.chunk(3)
    h, outputs = x.new_zeros(network.hidden_size), []
    for entry in x:
        reset = torch.sigmoid(into_reset @ entry + bias[0] + from_reset @ h + recurrent_bias[0])
        update = torch.sigmoid(into_update @ entry + bias[1] + from_update @ h + recurrent_bias[1])
        new = torch.tanh(into_new @ entry + bias[2] + reset * (from_new @ h + recurrent_bias[2]))
        h = update * h + (1 - update) * new
        outputs.append(h)
    return torch.stack(outputs)


def lstm(network, x: Tensor) -> Tensor:
    """One row `(L, D)` step by step, with a forget gate."""
    h = c = x.new_zeros(network.hidden_size)
    outputs = []
    for entry in x:
        gates = network.weight_ih_l0 @ entry + network.bias_ih_l0 + network.weight_hh_l0 @ h + network.bias_hh_l0
        enter, forget, new, leave = gates.chunk(4)
        c = forget.sigmoid() * c + enter.sigmoid() * new.tanh()
        h = leave.sigmoid() * c.tanh()
        outputs.append(h)
    return torch.stack(outputs)


BY_HAND = {"gru": gru, "lstm": lstm}


def run(mixer, x: Tensor) -> Tensor:
    y, _ = mixer(x, torch.arange(L)[None], PADDING)
    return y


@pytest.mark.parametrize("cell", BY_HAND)
@pytest.mark.parametrize("site", [fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF])
@pytest.mark.parametrize("d_model", [8, 7])
def test_each_direction_reads_the_real_tokens_one_after_the_other(build, cell, site, d_model):
    mixer = build("recurrent", site, {"cell": cell}, d_model=d_model)
    x = torch.randn(3, L, d_model).double()
    y = run(mixer, x)
    for row in range(3):
        real = x[row, PADDING[row]]
        expected = BY_HAND[cell](mixer.forwards, real)
        if site is fw.Site.ENCODER_SELF:
            expected = torch.cat((expected, BY_HAND[cell](mixer.backwards, real.flip(0)).flip(0)), dim=-1)
        torch.testing.assert_close(y[row, PADDING[row]], expected)


@pytest.mark.parametrize(("d_model", "widths"), [(8, (4, 4)), (7, (4, 3))])
def test_directions_share_the_channels(build, d_model, widths):
    mixer = build("recurrent", fw.Site.ENCODER_SELF, d_model=d_model)
    assert (mixer.forwards.hidden_size, mixer.backwards.hidden_size) == widths


@pytest.mark.parametrize(
    ("site", "bidirectional"),
    [(fw.Site.ENCODER_SELF, False), (fw.Site.DECODER_SELF, None), (fw.Site.DECODER_SELF, False)],
)
def test_one_direction_has_all_channels(build, site, bidirectional):
    mixer = build("recurrent", site, {"bidirectional": bidirectional})
    assert mixer.backwards is None
    assert mixer.forwards.hidden_size == D


def test_a_decoder_that_would_read_backwards_is_refused(build):
    said = "bidirectional=true reads what comes after a position, which a decoder must not see: leave it out"
    with pytest.raises(fw.SpecError, match=said) as refused:
        build("recurrent", fw.Site.DECODER_SELF, {"bidirectional": True})
    assert refused.value.problems[0].path == "model.mixer.options.bidirectional"


def test_one_channel_is_too_few_to_share(build):
    said = (
        "d_model=1 leaves no channel to the network that reads backwards: set bidirectional: false, or raise model.d_m"
    )
    with pytest.raises(fw.SpecError, match=said) as refused:
        build("recurrent", fw.Site.ENCODER_SELF, d_model=1)
    assert refused.value.problems[0].path == "model.mixer.options.bidirectional"
    assert build("recurrent", fw.Site.ENCODER_SELF, {"bidirectional": False}, d_model=1).forwards.hidden_size == 1
    assert build("recurrent", fw.Site.DECODER_SELF, d_model=1).forwards.hidden_size == 1


@pytest.mark.parametrize("cell", BY_HAND)
def test_padding_leaves_a_state_as_it_was(build, cell):
    mixer = build("recurrent", fw.Site.DECODER_SELF, {"cell": cell})
    x = torch.randn(3, L, D).double()
    _, before = mixer(x, torch.arange(L)[None], PADDING, state=mixer.start())
    _, after = mixer(x, torch.arange(L)[None], torch.zeros(3, L, dtype=torch.bool), state=before)
    assert len(after.parts) == {"gru": 1, "lstm": 2}[cell]
    assert all(map(torch.equal, before.parts, after.parts))


@pytest.mark.parametrize("cell", BY_HAND)
def test_its_size_is_known_without_storage(cell):
    dims = fw.Dims(512, 2048, 64, 64, 8, 6, 0.1, 0.0, 0.0, True, fw.Site.DECODER_SELF)
    nothing: fw.Parts = None  # type: ignore[assignment] # it reads none of them
    with torch.device("meta"):
        mixer = Recurrent(Recurrent.Options(cell=cell), dims, nothing)
    gates = {"gru": 3, "lstm": 4}[cell]
    assert sum(p.numel() for p in mixer.parameters()) == gates * (2 * 512 * 512 + 2 * 512)


def test_an_unknown_cell_is_refused_by_name():
    with pytest.raises(ValidationError, match="cell"):
        Recurrent.Options(cell="rnn")  # type: ignore[arg-type] # on purpose


def test_it_mixes_within_a_sequence_and_honours_no_choice():
    assert Recurrent.sites == {fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF}
    assert not Recurrent.takes
