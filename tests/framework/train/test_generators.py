"""B29: a checkpoint holds torch's generators alone, so training must draw from no other."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from framework.train.loop import Training
from plugins.objectives.masked_token import MaskedToken


def states():
    """Of the generators that a plugin might reach for by mistake."""
    numpy: Any = np.random.get_state(legacy=False)  # the global one is what is looked at
    return random.getstate(), str(numpy)


@pytest.mark.parametrize("mixer", ["attention", "recurrent", "convolution", "linear_attention"])
@pytest.mark.parametrize(("architecture", "sites"), [("encoder_decoder", ("encoder", "decoder")), ("encoder_only", ())])
def test_training_draws_from_no_generator_that_a_checkpoint_does_not_hold(workshop, architecture, sites, mixer):
    """B29"""
    chosen = {"sites": {stack: {"self": {"mixer": mixer}} for stack in sites}} if sites else {"mixer": mixer}
    model = workshop.model(architecture=architecture, dropout=0.3, feed_forward_dropout=0.3, **chosen)
    objective = workshop.objective if sites else MaskedToken(MaskedToken.Options())
    before = states()
    training = Training(model, objective, workshop.train_spec(), 32, workshop.data.split("train"), seed=1)
    while training.position.epoch == 0:
        training.update()
    assert states() == before
