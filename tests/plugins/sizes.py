"""Sizes that the tests of plugins build parts with."""

from __future__ import annotations

from typing import Final

import framework as fw

DIMS: Final = fw.Dims(
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
