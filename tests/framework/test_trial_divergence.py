"""A trial whose numbers stop being finite: that is its result, the same however often it was looked at."""

from __future__ import annotations

import pytest

from framework.evaluate.errors import Unmeasurable
from framework.evaluate.token_means import token_means


def test_divergence_is_final_and_says_where(bench):
    wild = bench(train={"learning_rate_factor": 1.0e30})
    wild.run()
    training = wild.folder().training()
    assert training.status == "diverged"
    assert training.diverged_at_step == training.steps + 1
    assert training.reason.startswith(f"diverged at step {training.diverged_at_step}: the ")
    assert training.last_finite_loss == pytest.approx(5.6, abs=1.0)  # ln 270, before the weights blew up
    assert wild.folder().evaluation(wild.trials["base"].evaluate_key) is None
    assert wild.status() == "diverged"
    before = (wild.folder().path / "training.json").stat().st_mtime_ns
    wild.run()
    assert (wild.folder().path / "training.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("measured_every", [1, 5])
def test_how_often_the_dev_curve_is_measured_does_not_decide_where_a_trial_diverged(bench, measured_every):
    wild = bench(train={"learning_rate_factor": 1.0e30, "evaluate_every": measured_every})
    wild.run()
    training = wild.folder().training()
    assert (training.status, training.steps, training.diverged_at_step) == ("diverged", 1, 2)
    assert training.reason == "diverged at step 2: the loss is nan"


def test_a_dev_loss_that_is_not_finite_for_a_while_is_a_missing_point(bench, straight, monkeypatch):
    wavering, measured = bench(), []

    def infinite_at_first(*given):
        measured.append(given)
        if len(measured) == 1:
            raise Unmeasurable("the loss of the trained model is inf: its last updates diverged")
        return token_means(*given)

    with monkeypatch.context() as patch:
        patch.setattr("framework.trial.token_means", infinite_at_first)
        wavering.run()
    ours, theirs = wavering.findings(), straight.findings()
    assert [step for step, values in ours["curves"] if "dev/loss" in values] == [12]
    assert [step for step, values in ours["curves"] if "train/loss" in values] == [3, 6, 9, 12]
    assert (ours["weights"], ours["evaluation"]) == (theirs["weights"], theirs["evaluation"])


def test_last_updates_that_leave_no_finite_loss_are_a_divergence(bench):
    wild = bench(train={"learning_rate_factor": 1.0e30, "steps": 1})
    wild.run()
    training = wild.folder().training()
    words = "diverged at step 1: the loss of the trained model is nan: its last updates diverged"
    assert (training.status, training.steps, training.diverged_at_step) == ("diverged", 1, 1)
    assert training.reason == words
    assert [point.values["train/loss"] for point in wild.folder().curves.points()] == [training.last_finite_loss]
    assert not wild.folder().checkpoint_path.exists()  # which would say, to whoever goes on, that all is well
    assert wild.status() == "diverged"


def test_scores_that_are_not_finite_are_a_divergence_and_not_tried_again(bench, monkeypatch):
    wild = bench()
    words = "the log-probabilities of the trained model are not finite: its last updates diverged"

    def refuse(*_):
        raise Unmeasurable(words)

    with monkeypatch.context() as patch:
        patch.setattr("framework.trial.measure", refuse)
        wild.run()
    training = wild.folder().training()
    assert (training.status, training.steps, training.diverged_at_step) == ("diverged", 12, 12)
    assert training.reason == f"diverged at step 12: {words}"
    assert training.last_finite_loss == wild.folder().curves.points()[-1].values["train/loss"]
    wild.run()
    assert wild.status() == "diverged"
    assert wild.folder().evaluation(wild.trials["base"].evaluate_key) is None
