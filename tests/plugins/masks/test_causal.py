from __future__ import annotations

import torch

from plugins.masks.causal import Causal
from tests.plugins.sizes import DIMS


def test_a_position_sees_itself_and_what_came_before():
    mask, positions = Causal(Causal.Options(), DIMS), torch.arange(4)[None]
    assert torch.equal(mask.allowed(positions, positions)[0, 0], torch.ones(4, 4, dtype=torch.bool).tril())


def test_positions_count_and_not_places():
    mask = Causal(Causal.Options(), DIMS)
    allowed = mask.allowed(torch.tensor([[3], [1]]), torch.tensor([[0, 1, 2, 3]]))
    assert allowed.shape == (2, 1, 1, 4)
    assert allowed.flatten(1).tolist() == [[True, True, True, True], [True, True, False, False]]
