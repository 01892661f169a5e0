"""What is attached to, and what is left alone."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture
def elsewhere(tmp_path, home, experiment, plan):
    """`elsewhere()`: a recorder of another home that shares this one's tracking address."""

    def build(plan=plan):
        from framework.record import Recorder

        return Recorder(tmp_path / "elsewhere", f"sqlite:///{home}/mlflow.db", experiment, plan, "", [])

    return build


def test_runs_of_another_home_go_on(recorder, elsewhere, plan, trial, train, stored):
    gone = trial("gone", 1)
    for each in (plan[0], gone):
        with train(each, 50).lock():
            recorder(plan=(*plan, gone)).sync(each)
    elsewhere().sync_all()
    runs = stored()
    assert {place: runs[place].status for place in (("base", 1), ("gone", 1))} == {
        ("base", 1): "RUNNING",
        ("gone", 1): "RUNNING",
    }


def test_a_run_that_another_home_finishes_is_finished(recorder, elsewhere, plan, train, finish, stored, home):
    with train(plan[0], 50).lock():
        recorder().sync(plan[0])
    finish(plan[0])
    shutil.copytree(home / "trials", home / "elsewhere" / "trials")
    elsewhere().sync(plan[0])
    run = stored()["base", 1]
    assert run.status == "FINISHED"
    assert run.tags["ablation.home"].endswith(f":{home}/elsewhere")
    assert run.steps("train/loss") == list(range(10, 401, 10))


def test_children_follow_when_their_parent_was_deleted(recorder, plan, finish, stored):
    """In MLflow's pages, between two runs."""
    finish(plan[0])
    recorder().sync_all()
    parent = stored()["", 0]
    parent.client.delete_run(parent.id)
    recorder().sync_all()
    runs = stored()
    assert runs["", 0].id != parent.id
    assert runs["base", 1].tags["mlflow.parentRunId"] == runs["", 0].id
    assert runs["base", 1].steps("train/loss") == list(range(10, 401, 10))


def test_what_was_sent_of_a_trial_is_forgotten_once_it_is_complete(recorder, plan, train, finish):
    record = recorder()
    train(plan[0], 50)
    record.sync(plan[0])
    assert len(record._mirror._trials) == 1
    finish(plan[0])
    for _ in range(2):
        record.sync(plan[0])
        assert record._mirror._trials == {}
