from __future__ import annotations

import torch

from plugins.masks.full import Full
from tests.plugins.sizes import DIMS


def test_nothing_is_hidden_and_everything_is_scored():
    mask, positions = Full(Full.Options(), DIMS), torch.arange(3)[None]
    assert mask.allowed(positions, positions) is None
    assert mask.scored(positions).all()
