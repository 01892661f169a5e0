"""The same seed gives the same logits as when this project first computed them.

A change of these numbers changes every trial's result, and calls for a new `NUMERICS_VERSION`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/logits.json").read_text())["models"]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_model_s_logits_are_what_they_were(build, batch, name):
    logits = build(seed=1, **GOLDEN[name]["change"])(batch)[1, 3, :6]
    torch.testing.assert_close(logits, torch.tensor(GOLDEN[name]["logits"]), atol=1e-5, rtol=0)
