from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.errors import Locked, TrialError
from framework.journal import Evaluation, Failure, Output, TrainingResult, TrialFolder, status
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


OUTPUTS = (
    Output(hypothesis="a\u2028line\x0b of \x85 several\n\r ends", reference="ein „Wort“"),
    Output(hypothesis="", reference=""),
)


def test_outputs_read_back_as_they_were_generated_whatever_ends_of_lines_they_hold(folder):
    """B18: the rule holds for hypotheses too."""
    folder.write_evaluation("e", SCORES, OUTPUTS)
    assert folder.evaluation("e") == SCORES
    assert folder.outputs("e") == OUTPUTS
    assert [path.name for path in sorted((folder.path / "evaluations").iterdir())] == ["e.json", "e.outputs.jsonl"]


def test_an_evaluation_that_generated_nothing_has_no_outputs(folder):
    folder.write_evaluation("e", SCORES)
    assert folder.outputs("e") is None
    assert folder.outputs("other") is None


def test_damaged_outputs_are_named_with_the_way_out(folder):
    folder.write_evaluation("e", SCORES, OUTPUTS)
    path = folder.path / "evaluations/e.outputs.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(
        TrialError, match=r"e\.outputs\.jsonl is damaged: .* Delete it and e\.json beside it, and the next"
    ):
        folder.outputs("e")


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


def test_whose_code_answered_is_written_once(folder):
    plugins = [{"kind": "mask", "name": "full", "module": "plugins.masks.full", "origin": "builtin", "digest": "d"}]
    folder.write_plugins(plugins)
    folder.write_plugins([])
    assert json.loads((folder.path / "plugins.json").read_text()) == plugins


def test_a_training_may_turn_out_to_have_diverged():
    found = TRAINED.diverged(3, "the loss is nan", 5.5)
    assert (found.status, found.steps, found.seconds) == ("diverged", 3, 1.5)
    assert (found.diverged_at_step, found.last_finite_loss) == (3, 5.5)
    assert found.reason == "diverged at step 3: the loss is nan"


READERS = {
    "training.json": lambda folder: folder.training(),
    "evaluations/e.json": lambda folder: folder.evaluation("e"),
    "failure.json": lambda folder: folder.failure(),
}


@pytest.fixture
def filled(folder):
    folder.write_training(DIVERGED)
    folder.write_evaluation("e", SCORES)
    folder.add_failure("ValueError: one", "trace")
    return folder


@pytest.mark.parametrize(
    ("name", "reason", "without_it"),
    [
        ("training.json", "status: Field required", "trains on from the last checkpoint"),
        ("evaluations/e.json", "metrics: Field required", "measures the model again"),
        ("failure.json", "attempts: Field required", "tries the trial again"),
    ],
)
def test_a_damaged_file_is_named_with_what_happens_without_it(filled, name, reason, without_it):
    path = filled.path / name
    whole = path.read_bytes()
    for content, why in [(b"{}", reason), (whole[:20], "Invalid JSON: EOF while parsing"), (b"\xff\0", "Invalid JSON")]:
        path.write_bytes(content)
        with pytest.raises(TrialError) as raised:
            READERS[name](filled)
        assert str(raised.value).startswith(f"{path} is damaged: {why}")
        assert str(raised.value).endswith(f". Delete this file, and the next run {without_it}")


@pytest.mark.parametrize("name", READERS)
def test_what_a_newer_version_adds_is_passed_over(filled, name):
    path, read = filled.path / name, READERS[name]
    before = read(filled)
    path.write_text(json.dumps({**json.loads(path.read_text()), "invented_later": [1, {"a": None}]}))
    assert read(filled) == before


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
