from __future__ import annotations

import torch

import framework as fw
from plugins.masks.causal import Causal

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


def test_a_position_sees_itself_and_what_came_before():
    mask, positions = Causal(Causal.Options(), DIMS), torch.arange(4)[None]
    assert torch.equal(mask.allowed(positions, positions)[0, 0], torch.ones(4, 4, dtype=torch.bool).tril())


def test_positions_count_and_not_places():
    mask = Causal(Causal.Options(), DIMS)
    allowed = mask.allowed(torch.tensor([[3], [1]]), torch.tensor([[0, 1, 2, 3]]))
    assert allowed.shape == (2, 1, 1, 4)
    assert allowed.flatten(1).tolist() == [[True, True, True, True], [True, True, False, False]]
