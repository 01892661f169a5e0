from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.errors import Locked
from framework.journal import Evaluation, Failure, TrainingResult, TrialFolder, status
from framework.spec import TrialSpec

TRAINED = TrainingResult(status="trained", steps=3, parameters=10, seconds=1.5, peak_memory_bytes=7)
DIVERGED = TrainingResult(
    status="diverged", steps=3, parameters=10, seconds=1.5, peak_memory_bytes=7, reason="the loss is not finite"
)
SCORES = Evaluation(metrics={"dev/perplexity": 5.5})


@pytest.fixture
def folder(tmp_path):
    return TrialFolder(tmp_path, "key")


def test_a_folder_s_lock_names_process_and_host(folder):
    assert not folder.is_locked
    with folder.lock():
        assert folder.is_locked
        with pytest.raises(Locked, match=rf'"pid": {os.getpid()}, "host": "{os.uname().nodename}"'), folder.lock():
            pass
    assert not folder.is_locked


def test_results_read_back_as_they_were_written(folder):
    assert folder.training() is None
    assert folder.evaluation("e") is None
    folder.write_training(DIVERGED)
    folder.write_evaluation("e", SCORES)
    assert folder.training() == DIVERGED
    assert folder.evaluation("e") == SCORES
    assert folder.evaluation("other") is None


def test_failures_in_a_row_are_counted_until_one_succeeds(folder):
    folder.add_failure("ValueError: one", "trace")
    folder.add_failure("ValueError: two", "trace")
    assert folder.failure() == Failure(attempts=2, error="ValueError: two", trace="trace")
    folder.forget_failure()
    folder.forget_failure()
    assert folder.failure() is None


def test_what_was_asked_is_written_once(folder, make):
    data = {"corpus": "toy_translation"}
    trial = make(
        TrialSpec, model={}, data=data, train={}, evaluate={}, experiment="x", row="r", group=None, seed=1, changes={},
        data_key="d", train_key="t", evaluate_key="e",
    )  # fmt: skip
    folder.write_spec(trial)
    folder.write_spec(trial.model_copy(update={"row": "other"}))
    assert json.loads((folder.path / "spec.json").read_text())["row"] == "r"


def test_where_a_trial_stands_is_told_by_its_folder_alone(tmp_path, folder):
    def now():
        return status(tmp_path, "key", "e")

    assert status(tmp_path, None, None) == "no corpus"
    assert now() == "to do"
    assert not (tmp_path / "trials").exists()  # asking leaves no trace
    folder.add_failure("ValueError: one", "trace")
    assert now() == "failed"
    with folder.lock():
        assert now() == "running"
    folder.forget_failure()
    folder.write_training(TRAINED)
    assert now() == "to do"
    assert not folder.finished("e")
    folder.write_evaluation("e", SCORES)
    assert now() == "done"
    assert folder.finished("e")
    assert status(tmp_path, "key", "another beam") == "to do"
    with folder.lock():
        assert now() == "done"
        assert status(tmp_path, "key", "another beam") == "running"


def test_a_diverged_trial_is_finished_under_every_evaluation(tmp_path, folder):
    folder.write_training(DIVERGED)
    assert status(tmp_path, "key", "e") == status(tmp_path, "key", "other") == "diverged"
    assert folder.finished("e")


def test_reading_a_journal_needs_no_torch():
    program = "import sys, framework.journal; print([m for m in ('torch', 'optuna', 'mlflow') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
