"""What is started, in which order, and what a crash costs."""

from __future__ import annotations

import pytest

from framework.study import Progress
from tests.framework.tiny_experiment import folder_of

BEAMS = {
    "base": {},
    "beam-2": {"change": {"evaluate.beam_size": 2}},
    "beam-3": {"change": {"evaluate.beam_size": 3}},
}


@pytest.mark.parametrize("places", [1, 2, 4])
def test_rows_that_differ_in_the_beam_are_trained_once(bench, places):
    experiment = bench.experiment(rows=BEAMS)
    summary = bench.coordinate(experiment, places=places)
    assert summary.ran == 3
    assert all(len(together) == 1 for together in bench.launcher.running_together)
    base, *others = experiment.plan()
    assert {trial.train_key for trial in others} == {base.train_key}
    folder = folder_of(base, bench.home)
    assert [point.step for point in folder.curves.points()] == [3, 6, 9, 12]
    lines = (folder.path / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 4  # one training's
    assert all(folder.evaluation(str(trial.evaluate_key)) for trial in experiment.plan())


def test_a_shared_folder_keeps_no_place_from_other_rows(bench):
    rows = {**BEAMS, "other": {"change": {"model.d_ff": 8}}}
    bench.coordinate(bench.experiment(rows=rows), places=2)
    assert bench.launcher.started == ["base", "other", "beam-2", "beam-3"]


@pytest.mark.parametrize("places", [1, 2])
def test_a_crash_hands_the_folder_on_to_the_next_row(bench, places):
    experiment = bench.experiment(rows=BEAMS)
    summary = bench.coordinate(experiment, places=places, crashing=frozenset({"base"}))
    assert summary.ran == 2
    assert list(summary.failures) == [("base", 1)]
    assert bench.told() == [
        (0, "base", 1, "FAIL", "failed"),
        (1, "beam-2", 1, "COMPLETE", "done"),
        (2, "beam-3", 1, "COMPLETE", "done"),
    ]


def test_rows_alike_run_once_and_are_told_each(bench):
    experiment = bench.experiment(rows={"base": {}, "same": {"change": {"model.d_ff": 16}}})
    summary = bench.coordinate(experiment, places=2)
    assert summary.ran == 1
    assert bench.told() == [(0, "base", 1, "COMPLETE", "done"), (1, "same", 1, "COMPLETE", "done")]


def test_rows_alike_that_diverge_run_once(bench):
    wild = {"train.learning_rate_factor": 1.0e30}
    experiment = bench.experiment(rows={"base": {"change": wild}, "same": {"change": wild}})
    summary = bench.coordinate(experiment, places=2)
    assert summary.ran == 1
    assert list(summary.diverged) == [("base", 1), ("same", 1)]


def test_one_failed_trial_never_ends_the_run(bench, caplog):
    experiment = bench.experiment(seeds=[1, 2])
    summary = bench.coordinate(experiment, crashing=frozenset({"base"}))
    assert (summary.ran, len(summary.failures)) == (2, 2)
    assert caplog.messages == [
        "row base, seed 1: RuntimeError: base crashes",
        "row base, seed 2: RuntimeError: base crashes",
    ]
    failure = folder_of(experiment.plan()[0], bench.home).failure()
    assert failure is not None
    assert (failure.attempts, failure.error) == (1, "RuntimeError: base crashes")
    assert "Traceback (most recent call last)" in failure.trace


def test_crashes_in_a_row_are_counted(bench, caplog):
    experiment = bench.experiment(rows={"base": {}})
    for _ in range(3):
        summary = bench.coordinate(experiment, crashing=frozenset({"base"}))
    words = "RuntimeError: base crashes (attempt 3)"
    assert summary.failures == {("base", 1): words}
    assert caplog.messages[-1] == f"row base, seed 1: {words}"
    assert bench.trials()[-1].user_attrs["reason"] == words
    failure = folder_of(experiment.plan()[0], bench.home).failure()
    assert failure is not None
    assert failure.attempts == 3


def test_every_trial_is_recorded_when_it_ends_or_was_done(bench):
    bench.coordinate(bench.experiment(rows={"base": {}}))
    bench.coordinate(bench.experiment(), crashing=frozenset({"one-head"}))
    assert bench.recorded.rows == ["base", "one-head"]


def test_the_watcher_sees_how_far_the_run_is(bench):
    seen: list[Progress] = []
    bench.coordinate(bench.experiment(seeds=[1, 2]), seen.append, places=2, crashing=frozenset({"one-head"}))
    assert {progress.planned for progress in seen} == {4}
    assert [(progress.finished, progress.failed, len(progress.running)) for progress in seen] == [
        (0, 0, 2),
        (1, 0, 2),
        (2, 0, 2),
        (2, 1, 1),
        (2, 2, 0),
    ]


def test_the_watcher_counts_rows_alike_once(bench):
    seen: list[Progress] = []
    bench.coordinate(bench.experiment(rows={"base": {}, "same": {}}), seen.append)
    assert (seen[-1].planned, seen[-1].finished) == (1, 1)
