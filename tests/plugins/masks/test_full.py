from __future__ import annotations

import torch

import framework as fw
from plugins.masks.full import Full

DIMS = fw.Dims(
    d_model=8,
    d_ff=16,
    d_k=4,
    d_v=4,
    num_heads=2,
    num_layers=1,
    dropout=0.0,
    attention_dropout=0.0,
    feed_forward_dropout=0.0,
    projection_bias=True,
    site=fw.Site.ENCODER_SELF,
)


def test_nothing_is_hidden_and_everything_is_scored():
    mask, positions = Full(Full.Options(), DIMS), torch.arange(3)[None]
    assert mask.allowed(positions, positions) is None
    assert mask.scored(positions).all()
