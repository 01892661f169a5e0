from __future__ import annotations

import torch

import framework as fw
from plugins.positional_schemes.none import NoPositions

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


def test_positions_enter_nowhere():
    scheme = NoPositions(NoPositions.Options(), DIMS)
    x, positions = torch.randn(1, 3, 8), torch.arange(3)[None]
    assert torch.equal(scheme.embed(x, positions), x)
    assert torch.equal(scheme.rotate(x, positions), x)
    assert scheme.bias(positions, positions) is None
    assert scheme.max_positions is None
