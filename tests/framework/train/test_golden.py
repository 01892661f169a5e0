"""Training gives the numbers that it gave: dropout, data order, loss and Adam together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/losses.json").read_text())


@pytest.mark.parametrize("norm_order", GOLDEN["losses"])
def test_the_first_losses_are_what_they_were(workshop, norm_order):
    """Where they are not, `NUMERICS_VERSION` is to be raised: old trials are no longer those that their keys name."""
    training = workshop.training(workshop.model(dropout=0.1, attention_dropout=0.1, norm_order=norm_order))
    losses = [training.update()["train/loss"] for _ in range(10)]
    assert losses == pytest.approx(GOLDEN["losses"][norm_order], rel=1e-4)
