from __future__ import annotations

import torch

from plugins.positional_schemes.none import NoPositions
from tests.plugins.sizes import DIMS


def test_positions_enter_nowhere():
    scheme = NoPositions(NoPositions.Options(), DIMS)
    x, positions = torch.randn(1, 3, 8), torch.arange(3)[None]
    assert torch.equal(scheme.embed(x, positions), x)
    assert torch.equal(scheme.rotate(x, positions), x)
    assert scheme.bias(positions, positions) is None
    assert scheme.max_positions is None
