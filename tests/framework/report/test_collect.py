from __future__ import annotations

import polars as pl

from framework.journal import Evaluation, TrialFolder
from framework.report.collect import metric_names, trials


def test_nothing_done_is_a_table_all_the_same(plan, tmp_path):
    frame = trials(plan, tmp_path, {"base": 285_000})
    assert frame["row"].to_list() == [trial.row for trial in plan]
    assert frame["status"].unique().to_list() == ["to do"]
    assert frame["parameters"].to_list() == [285_000] * 3 + [None] * 6
    assert metric_names(frame) == ["dev/perplexity"]
    assert frame["dev/perplexity"].null_count() == 9


def test_metrics_that_the_plan_names_have_columns_before_they_are_measured(trial, finish, tmp_path):
    asked = trial("base", 1, evaluate={"metrics": ["exact_match"], "split": "test"})
    finish(trial("h1", 1), 4.9, further={"accuracy": 0.9})
    frame = trials((asked, trial("h1", 1)), tmp_path)
    assert metric_names(frame) == ["dev/accuracy", "dev/perplexity", "test/exact_match", "test/perplexity"]
    assert frame["test/exact_match"].to_list() == [None, None]


def test_every_status_with_its_reason(trial, finish, diverge, fail, tmp_path):
    done, diverged, failed, waiting = (trial("base", seed) for seed in (1, 2, 3, 4))
    homeless = trial("base", 5, data_key=None, train_key=None, evaluate_key=None)
    finish(done, 4.9, 25.8)
    diverge(diverged)
    fail(failed)
    frame = trials((done, diverged, failed, waiting, homeless), tmp_path)
    assert frame["status"].to_list() == ["done", "diverged", "failed", "to do", "no corpus"]
    assert frame["reason"].to_list() == [
        None,
        "loss is inf at step 7",
        "OSError: no space left on device",
        None,
        None,
    ]
    assert frame["dev/perplexity"].to_list() == [4.9, None, None, None, None]


def test_a_crash_before_the_one_that_succeeded_is_forgiven(trial, finish, fail, tmp_path):
    fail(trial("base", 1))
    finish(trial("base", 1), 4.9)
    assert trials((trial("base", 1),), tmp_path)["status"].item() == "done"


def test_trained_but_not_scored_under_these_rules_is_still_to_do(trial, finish, tmp_path):
    finish(trial("base", 1), 4.9)
    wider = trial("beam8", 1, train_key="base-1", evaluate_key="wider", evaluate={"beam_size": 8})
    frame = trials((trial("base", 1), wider), tmp_path)
    assert frame["status"].to_list() == ["done", "to do"]
    assert frame["parameters"].to_list() == [285_000, 285_000]


def test_rows_that_share_a_trial_both_show_it(trial, finish, tmp_path):
    finish(trial("base", 1), 4.9)
    twin = trial("twin", 1, train_key="base-1", evaluate_key="base-1-scores")
    assert trials((trial("base", 1), twin), tmp_path)["dev/perplexity"].to_list() == [4.9, 4.9]


def test_columns_are_not_guessed_from_the_first_hundred_trials(trial, finish, tmp_path):
    """Polars would drop a column that first appears in line 151, and make 1.5 after whole numbers a 1."""
    plan = (*[trial("base", 1)] * 150, trial("base", 150), trial("base", 151))
    finish(plan[0], 5.0)
    folder = TrialFolder(tmp_path, plan[150].train_key)
    folder.write_evaluation(plan[150].evaluate_key, Evaluation(metrics={"dev/perplexity": 1.5, "dev/sigma": 2.0}))
    frame = trials(plan, tmp_path)
    assert frame["dev/perplexity"][150] == 1.5
    assert frame["dev/sigma"].to_list() == [None] * 150 + [2.0, None]


def test_frame_has_one_type_per_column(finished, tmp_path):
    frame = trials(finished, tmp_path)
    assert frame.schema["seed"] == pl.Int64
    assert frame.schema["dev/perplexity"] == pl.Float64
    assert frame.schema["detail dev/bleu"] == pl.String
