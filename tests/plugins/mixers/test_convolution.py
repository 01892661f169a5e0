from __future__ import annotations

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

import framework as fw
from plugins.mixers.convolution import Convolution

L, D = 6, 8


def convolved(mixer, x: Tensor, behind: int, ahead: int) -> Tensor:
    """One row `(L, D)` by the paper's equation, window by window."""
    outputs = []
    for p in range(len(x)):
        window = [x[j] if 0 <= j < len(x) else torch.zeros(D).double() for j in range(p - behind, p + ahead + 1)]
        taps = zip(mixer.window.weight.unbind(-1), window, strict=True)
        both = sum((weight @ entry for weight, entry in taps), mixer.window.bias)
        outputs.append(both[:D] * both[D:].sigmoid())
    return torch.stack(outputs)


@pytest.mark.parametrize(
    ("site", "width", "behind", "ahead"),
    [
        (fw.Site.DECODER_SELF, 1, 0, 0),
        (fw.Site.DECODER_SELF, 3, 2, 0),
        (fw.Site.DECODER_SELF, 4, 3, 0),
        (fw.Site.DECODER_SELF, 9, 8, 0),
        (fw.Site.ENCODER_SELF, 1, 0, 0),
        (fw.Site.ENCODER_SELF, 3, 1, 1),
        (fw.Site.ENCODER_SELF, 4, 2, 1),
        (fw.Site.ENCODER_SELF, 9, 4, 4),
    ],
)
def test_it_is_the_gated_linear_map_of_each_window(build, site, width, behind, ahead):
    mixer, x = build("convolution", site, {"width": width}), torch.randn(2, L, D).double()
    torch.nn.init.normal_(mixer.window.bias)
    y, _ = mixer(x, torch.arange(L)[None], torch.ones(2, L, dtype=torch.bool))
    for row in range(2):
        torch.testing.assert_close(y[row], convolved(mixer, x[row], behind, ahead))


def test_padding_is_a_zero_vector(build):
    mixer, x = build("convolution", fw.Site.ENCODER_SELF), torch.randn(1, L, D).double()
    padding = torch.tensor([[True, True, False, True, True, False]])
    y, _ = mixer(x, torch.arange(L)[None], padding)
    torch.testing.assert_close(y[0], convolved(mixer, x[0] * padding[0, :, None], 1, 1))


def test_decoding_keeps_what_the_next_window_needs_and_no_more(build):
    mixer, real = build("convolution", fw.Site.DECODER_SELF, {"width": 4}), torch.ones(2, L, dtype=torch.bool)
    _, state = mixer(torch.randn(2, L, D).double(), torch.arange(L)[None], real, state=mixer.start())
    assert state.inputs.shape == (2, 3, D)


def test_weights_start_with_four_times_the_variance_that_keeps_the_input_s(build):
    mixer = build("convolution", fw.Site.DECODER_SELF, {"width": 5}, d_model=128)
    assert mixer.window.weight.std().item() == pytest.approx((4 / (5 * 128)) ** 0.5, rel=0.02)
    assert not mixer.window.bias.any()


def test_the_map_may_have_no_bias(build):
    mixer = build("convolution", fw.Site.DECODER_SELF, projection_bias=False)
    assert list(mixer.state_dict()) == ["window.weight"]


@pytest.mark.parametrize("width", [0, -1, 2.5, True])
def test_a_width_that_is_no_number_of_positions_is_refused_by_name(width):
    with pytest.raises(ValidationError, match="width"):
        Convolution.Options(width=width)


def test_it_mixes_within_a_sequence_and_honours_no_choice():
    assert Convolution.sites == {fw.Site.ENCODER_SELF, fw.Site.DECODER_SELF}
    assert not Convolution.takes
