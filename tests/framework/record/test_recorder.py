from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import time

from framework.journal import TrialFolder


def test_an_experiment_is_a_parent_run_and_a_run_per_trial(recorder, plan, finish, stored):
    for trial in plan:
        finish(trial)
    record = recorder()
    record.sync_all()
    record.table("| row |\n", "row\n")
    record.close("FINISHED")
    runs = stored()
    assert sorted(runs) == [("", 0), ("base", 1), ("base", 2), ("h1", 1), ("h1", 2)]
    parent, child = runs["", 0], runs["h1", 2]
    assert (parent.name, parent.status) == ("table3", "FINISHED")
    assert parent.files() == ["experiment.yaml", "plugins.json", "table.csv", "table.md"]
    assert parent.file("experiment.yaml") == "name: table3\n"
    assert json.loads(parent.file("plugins.json"))[0]["module"] == "plugins.masks.full"
    assert (child.name, child.status) == ("h1 seed 2", "FINISHED")
    assert child.tags["mlflow.parentRunId"] == parent.id
    assert {name: child.tags[f"ablation.{name}"] for name in ("group", "train_key", "evaluate_key", "status")} == {
        "group": "A",
        "train_key": "h1-2",
        "evaluate_key": "h1-2-scores",
        "status": "done",
    }
    assert child.tags["ablation.detail.dev/bleu"] == "tok:13a"
    assert child.files() == ["environment.json", "spec.json"]
    assert json.loads(child.file("spec.json"))["seed"] == 2
    assert json.loads(child.file("environment.json"))["training"] == {"torch": "2.13.0"}
    assert not record.behind


def test_curves_keep_their_steps_and_times_and_scores_come_last(recorder, plan, finish, stored, home):
    finish(plan[0], perplexity=4.9)
    recorder().sync(plan[0])
    run = stored()["base", 1]
    assert run.steps("train/loss") == list(range(10, 401, 10))
    points = TrialFolder(home, "base-1").curves.points()
    history = run.client.get_metric_history(run.id, "train/loss")
    assert [metric.timestamp for metric in history] == [int(point.time * 1000) for point in points]
    assert [metric.value for metric in history] == [point.values["train/loss"] for point in points]
    assert run.latest["dev/perplexity"] == 4.9
    assert run.latest["parameters"] == 285_000


def test_every_point_arrives_once_while_a_trial_grows(recorder, plan, train, finish, stored):
    record = recorder()
    for upto in (20, 20, 50):
        train(plan[0], upto)
        record.sync(plan[0])
    finish(plan[0])
    for _ in range(3):
        record.sync(plan[0])
    assert stored()["base", 1].steps("train/loss") == list(range(10, 401, 10))


def test_resuming_continues_the_same_run_and_repeats_no_step(recorder, plan, train, finish, stored, home):
    """Killed at step 170 with a checkpoint at 100: steps 110 to 170 are written to the journal twice."""
    folder = train(plan[0], 170)
    with folder.lock():
        recorder().sync(plan[0])
    killed = stored()["base", 1]
    assert killed.status == "RUNNING"
    with folder.curves.open() as curves:
        for step in range(110, 180, 10):
            curves.append(step, {"train/loss": 100 / step, "train/learning_rate": step / 1000})
    finish(plan[0])
    recorder().sync(plan[0])
    resumed = stored()["base", 1]
    assert resumed.id == killed.id
    assert resumed.params == killed.params
    assert resumed.status == "FINISHED"
    assert resumed.steps("train/loss") == list(range(10, 401, 10))


def test_points_that_arrived_before_a_kill_are_not_sent_again(recorder, plan, train, stored):
    """Killed between sending and remembering: the new process asks MLflow what it has."""
    train(plan[0], 100)
    recorder().sync(plan[0])
    train(plan[0], 150)
    recorder().sync(plan[0])
    assert stored()["base", 1].steps("train/loss") == list(range(10, 151, 10))


def test_points_of_a_curve_that_a_kill_kept_mlflow_from_noting_are_not_sent_again(recorder, plan, train, stored, home):
    """MLflow commits points before it commits that their curve is there; what was run again has another time."""
    folder = train(plan[0], 20)
    recorder().sync(plan[0])
    with contextlib.closing(sqlite3.connect(home / "mlflow.db")) as database, database:
        database.execute("delete from latest_metrics")
    with folder.curves.open() as curves:
        curves.append(20, {"train/loss": 5.0, "train/learning_rate": 0.02})
    recorder().sync(plan[0])
    assert stored()["base", 1].steps("train/loss") == [10, 20]


def test_a_final_score_that_differs_from_the_curve_is_the_latest(recorder, plan, train, finish, stored):
    folder = train(plan[0], 390)
    with folder.curves.open() as curves:
        curves.append(400, {"dev/perplexity": 5.1})
    recorder().sync(plan[0])
    finish(plan[0], perplexity=4.9)
    for _ in range(2):
        recorder().sync(plan[0])
    run = stored()["base", 1]
    assert run.latest["dev/perplexity"] == 4.9
    assert run.steps("dev/perplexity") == [400, 400]


def test_a_diverged_trial_says_so_and_holds_no_infinity(recorder, plan, diverge, stored):
    diverge(plan[0])
    recorder().sync(plan[0])
    run = stored()["base", 1]
    assert run.status == "FAILED"
    assert run.tags["ablation.status"] == "diverged"
    assert run.tags["ablation.diverged_at_step"] == "17"
    assert run.tags["ablation.last_finite_loss"] == "9.5"
    assert run.tags["ablation.reason"] == "diverged at step 17: loss is inf"
    assert "dev/perplexity" not in run.latest


def test_numbers_that_are_none_are_never_sent(recorder, plan, home, stored):
    """MLflow on SQLite would keep an infinity as 1.797e308, which sorts as a number."""
    path = TrialFolder(home, "base-1").path / "metrics.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"step": 1, "time": 1.0, "values": {"train/loss": Infinity, "train/tokens": NaN, "a": 1.0}}\n')
    recorder().sync(plan[0])
    assert stored()["base", 1].latest == {"a": 1.0}


def test_a_crashed_trial_has_its_reason_until_it_succeeds(recorder, plan, train, finish, stored):
    folder = train(plan[0], 50)
    folder.add_failure("OSError: disk full", trace="Traceback …")
    record = recorder()
    record.sync(plan[0])
    failed = stored()["base", 1]
    assert (failed.status, failed.tags["ablation.reason"]) == ("FAILED", "OSError: disk full")
    assert "Traceback …" in failed.file("failure.txt")
    with folder.lock():
        record.sync(plan[0])
        assert stored()["base", 1].status == "RUNNING"
    finish(plan[0])
    folder.forget_failure()
    record.sync(plan[0])
    healed = stored()["base", 1]
    assert (healed.id, healed.status) == (failed.id, "FINISHED")
    assert "ablation.reason" not in healed.tags


def test_runs_that_a_kill_left_open_get_their_true_status(recorder, plan, trial, train, finish, stored):
    gone = trial("gone", 1)
    for each in (*plan[:2], gone):
        with train(each, 50).lock():
            recorder(plan=(*plan, gone)).sync(each)
    assert {run.status for run in stored().values()} == {"RUNNING"}
    finish(plan[1])
    record = recorder()
    record.sync_all()
    runs = stored()
    assert {place: run.status for place, run in runs.items()} == {
        ("", 0): "RUNNING",
        ("base", 1): "KILLED",
        ("base", 2): "FINISHED",
        ("gone", 1): "KILLED",
    }
    record.close("KILLED")
    assert stored()["", 0].status == "KILLED"


def test_trials_that_have_not_begun_get_no_run(recorder, trial, plan, stored):
    homeless = trial("base", 9, data_key=None, train_key=None, evaluate_key=None)
    record = recorder(plan=(*plan, homeless))
    record.sync(homeless)
    record.sync_all()
    assert list(stored()) == [("", 0)]


def test_rows_that_ask_for_the_same_trial_follow_it_both(recorder, plan, trial, finish, stored):
    twin = trial("twin", 1, train_key="base-1", evaluate_key="base-1-scores")
    finish(plan[0])
    recorder(plan=(*plan, twin)).sync(plan[0])
    runs = stored()
    assert runs["twin", 1].status == runs["base", 1].status == "FINISHED"
    assert runs["twin", 1].steps("train/loss") == runs["base", 1].steps("train/loss")


def test_a_database_lost_is_rebuilt_from_the_folders(recorder, plan, finish, stored, home, empty_store):
    for trial in plan:
        finish(trial)
    recorder().sync_all()
    before = {place: (run.params, run.latest, run.status) for place, run in stored().items()}
    (home / "mlflow.db").rename(home / "lost.db")
    rebuilt = recorder()
    rebuilt.sync_all()
    assert {place: (run.params, run.latest, run.status) for place, run in stored().items()} == before


def test_more_points_than_a_batch_holds(recorder, plan, home, stored):
    with TrialFolder(home, "base-1").curves.open() as curves:
        for step in range(1, 1102):
            curves.append(step, {"train/loss": 1 / step})
    recorder().sync(plan[0])
    assert stored()["base", 1].steps("train/loss") == list(range(1, 1102))


def test_a_metric_name_that_mlflow_refuses_loses_no_other(recorder, plan, home, stored):
    with TrialFolder(home, "base-1").curves.open() as curves:
        curves.append(1, {"f1 (macro)": 0.5, "train/loss": 2.0})
    record = recorder()
    record.sync(plan[0])
    assert stored()["base", 1].latest == {"f1 _macro_": 0.5, "train/loss": 2.0}
    assert not record.behind


def test_an_experiment_deleted_in_mlflow_is_restored(recorder, plan, finish, stored, caplog):
    finish(plan[0])
    recorder().sync(plan[0])
    run = stored()["base", 1]
    run.client.delete_experiment(run.client.get_experiment_by_name("table3").experiment_id)
    record = recorder()
    record.sync(plan[0])
    assert not record.behind
    assert stored()["base", 1].id == run.id
    assert "experiment table3 was deleted in MLflow and is restored" in caplog.text


def test_a_run_deleted_meanwhile_keeps_no_other_from_being_sent(recorder, plan, train, stored, clock, caplog):
    record = recorder()
    for trial in plan[:2]:
        train(trial, 20)
        record.sync(trial)
    stored()["base", 1].client.delete_run(stored()["base", 1].id)
    for trial in plan[:2]:
        train(trial, 30)
    record.sync_all()
    assert record.behind
    assert stored()["base", 2].steps("train/loss") == [10, 20, 30]
    clock.now = 10.0
    record.sync_all()
    assert not record.behind
    assert stored()["base", 1].steps("train/loss") == [10, 20, 30]
    assert caplog.text.count("training goes on") == 1


def test_a_server_that_is_down_stops_nothing_and_is_told_once(recorder, plan, finish, clock, caplog):
    caplog.set_level(logging.WARNING)
    started = time.monotonic()
    record = recorder("http://127.0.0.1:9")
    for trial in plan:
        finish(trial)
        record.sync(trial)
    clock.now = 6.0
    record.sync_all()
    record.table("", "")
    record.close("FINISHED")
    assert time.monotonic() - started < 10
    assert record.behind
    told = [entry.message for entry in caplog.records]
    assert len(told) == 2
    assert told[0].startswith("MLflow at http://127.0.0.1:9 fails (API request to http://127.0.0.1:9/")
    assert len(told[0]) < 300
    assert told[0].endswith("training goes on, and what is missing is sent once it answers")
    assert told[1] == "http://127.0.0.1:9 is behind the trials' folders: `ablate sync` brings it up to date"
