from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from framework.contracts import Dims, Site


def dims(site):
    return Dims(
        d_model=8, d_ff=16, d_k=4, d_v=4, num_heads=2, num_layers=1, dropout=0.0, attention_dropout=0.0,
        feed_forward_dropout=0.0, projection_bias=True, site=site,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("site", "attends_itself", "causal"),
    [(Site.ENCODER_SELF, True, False), (Site.DECODER_SELF, True, True), (Site.DECODER_CROSS, False, False)],
)
def test_a_site_says_what_may_be_seen_there(site, attends_itself, causal):
    assert site.attends_itself is attends_itself
    assert dims(site).causal is causal


def test_sites_are_written_as_in_an_experiment():
    assert [str(site) for site in Site] == ["encoder.self", "decoder.self", "decoder.cross"]


def test_sizes_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        dims(Site.ENCODER_SELF).d_model = 9
