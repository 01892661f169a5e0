"""B28 beyond one update: what skipping leaves behind in a checkpoint, in a trial's curves and in its result."""

from __future__ import annotations

import math

import pytest

from framework.train.arithmetic import Arithmetic
from framework.train.checkpoint import restore, save

SCALE = 2.0**16


@pytest.fixture
def overflowing_at(monkeypatch):
    """Let the gradients of some batches, counted from 1, overflow on their way back, as a scale too large does."""

    def overflowing_at(batches):
        backward, seen = Arithmetic.backward, []

        def with_overflow(self, loss):
            seen.append(loss)
            backward(self, loss * math.inf if len(seen) in batches else loss)

        monkeypatch.setattr(Arithmetic, "backward", with_overflow)

    return overflowing_at


def test_a_resumed_training_remembers_its_skips_and_its_scale(workshop, tmp_path, overflowing_at):
    """B28, B29"""
    overflowing_at({1, 3})
    path = tmp_path / "checkpoint.safetensors"
    training = workshop.training(precision="float16")
    assert [training.update()["train/skipped_steps"] for _ in range(2)] == [1, 2]
    save(path, training, {})
    expected = [training.update() for _ in range(3)]
    resumed = workshop.training(workshop.model(seed=5), precision="float16")
    restore(path, resumed)
    assert (resumed.step, resumed.skipped) == (2, 2)
    assert resumed.arithmetic.state()["scale"] == SCALE / 4
    assert [resumed.update() for _ in range(3)] == expected


def test_a_trial_whose_updates_are_skipped_comes_to_its_steps_and_logs_how_many(bench, overflowing_at):
    """B28"""
    overflowing_at({2, 13})  # the first of the second and of the last update
    half = bench(train={"precision": "float16", "log_every": 1})
    half.run()
    training, points = half.folder().training(), half.folder().curves.points()
    assert (training.status, training.steps) == ("trained", 12)
    assert [point.step for point in points] == list(range(1, 13))
    assert [point.values["train/skipped_steps"] for point in points] == [0, *[1] * 10, 2]


def test_a_trial_whose_updates_are_all_skipped_has_diverged(bench, overflowing_at):
    """B28"""
    overflowing_at(range(1, 1000))
    half = bench(train={"precision": "float16"})
    half.run()
    training = half.folder().training()
    assert (training.status, training.steps, training.diverged_at_step) == ("diverged", 0, 1)
    assert training.reason == "diverged at step 1: the gradients overflowed float16 40 times in a row"


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
def test_no_other_precision_scales_its_loss(workshop, precision):
    """B28: bfloat16 has the exponents of float32."""
    training = workshop.training(precision=precision)
    assert "train/skipped_steps" not in training.update()
    assert not training.arithmetic.overflows
    assert training.arithmetic.state() == {}
