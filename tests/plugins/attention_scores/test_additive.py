from __future__ import annotations

import torch

import framework as fw
from plugins.attention_scores.additive import Additive

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


def test_every_pair_is_scored_by_bahdanau_s_formula():
    torch.manual_seed(0)
    score = Additive(Additive.Options(), DIMS)
    query, key = torch.randn(2, 2, 3, 4), torch.randn(2, 2, 5, 4)
    scores = score(query, key)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        expected = torch.dot(score.v[h], torch.tanh(query[b, h, i] + key[b, h, j]))
        torch.testing.assert_close(scores[b, h, i, j], expected)


def test_each_head_has_a_vector_that_starts_xavier_uniform():
    torch.manual_seed(0)
    v = Additive(Additive.Options(), DIMS).v
    assert v.shape == (2, 4)
    assert 0 < v.abs().max() <= (6 / 5) ** 0.5
