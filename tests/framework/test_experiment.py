"""The Python face, as far as the command line does not show it."""

from __future__ import annotations

import pytest

import framework as fw
from framework.errors import MissingCorpus
from framework.journal import TrainingResult, TrialFolder
from framework.study import Progress
from tests.framework.tiny_experiment import write


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """An experiment that was run from Python, and what the run says."""
    folder = tmp_path_factory.mktemp("ran")
    experiment = fw.load(write(folder), home=folder / "home")
    seen: list[Progress] = []
    return experiment, experiment.run(workers=1, watch=seen.append), seen


def test_load_plan_run_report(ran):
    experiment, summary, _ = ran
    assert [(trial.row, trial.seed) for trial in experiment.plan()] == [("base", 1), ("one-head", 1)]
    assert (summary.ran, summary.already_done, summary.failures) == (2, 0, {})
    assert experiment.report().trials["status"].to_list() == ["done", "done"]
    assert not experiment.lacks_scores()
    again = experiment.run(workers=4)
    assert (again.ran, again.already_done) == (0, 2)


def test_a_run_is_watched(ran):
    *_, seen = ran
    assert (seen[0].planned, seen[0].finished, len(seen[0].running)) == (2, 0, 1)
    assert (seen[-1].planned, seen[-1].finished, seen[-1].running) == (2, 2, [])


def test_rows_that_share_a_corpus_prepare_it_once(ran):
    experiment, *_ = ran
    assert len(list((experiment.home / "cache" / "data").iterdir())) == 1


def test_everything_lies_under_the_home(ran):
    experiment, *_ = ran
    assert {path.name for path in experiment.home.iterdir()} == {
        "artifacts",
        "cache",
        "logs",
        "mlflow.db",
        "mlflow.lock",
        "studies",
        "trials",
    }
    assert {path.name for path in experiment.home.parent.iterdir()} == {"home", "tiny.yaml"}


def test_a_missing_corpus_is_said_before_anything_is_made(tmp_path):
    path = write(tmp_path)
    sides = {"source": "a", "target": "b"}
    corpus = f"data.corpus={{name: text_pairs, options: {{train: {sides}, dev: {sides}}}}}"
    experiment = fw.load(path, settings=[corpus], home=tmp_path / "home")
    assert [trial.train_key for trial in experiment.plan()] == [None, None]
    assert experiment.lacks_scores()
    with pytest.raises(MissingCorpus, match="a"):
        experiment.run()
    assert not (tmp_path / "home" / "trials").exists()


@pytest.mark.parametrize("workers", [0, -3])
def test_a_run_needs_a_worker(tmp_path, workers):
    with pytest.raises(fw.SpecError, match=rf"^--workers: trials need at least 1 process; this is {workers}$"):
        fw.load(write(tmp_path), home=tmp_path / "home").run(workers)


def test_parts_that_do_not_fit_are_said_before_anything_is_made(tmp_path):
    experiment = fw.load(write(tmp_path, evaluate={"metrics": ["blue"]}), home=tmp_path / "home")
    with pytest.raises(fw.SpecError, match="has no metric 'blue'"):
        experiment.run()
    assert not (tmp_path / "home").exists()


def test_a_diverged_trial_is_done_with_and_lacks_scores(tmp_path):
    experiment = fw.load(write(tmp_path, {"base": {}}), home=tmp_path)
    (trial,) = experiment.plan()
    result = TrainingResult(status="diverged", steps=3, parameters=1, seconds=0.1, peak_memory_bytes=1, reason="it did")
    TrialFolder(tmp_path, str(trial.train_key)).write_training(result)
    assert experiment.lacks_scores()
    assert [line.status for line in experiment.survey()] == ["diverged"]


def test_rows_alike_are_warned_of_once(tmp_path):
    rows = {"base": {}, "same": {}, "too": {}, "other": {"change": {"model.d_ff": 8}}}
    experiment = fw.load(write(tmp_path, rows, seeds=[1, 2]), home=tmp_path)
    assert experiment.warnings() == [
        "rows 'base' and 'same' ask for the same trials, which run once",
        "rows 'base' and 'too' ask for the same trials, which run once",
    ]


def test_where_to_look_can_be_pasted_into_a_shell(tmp_path):
    home = tmp_path / "a home"
    assert fw.load(write(tmp_path), home=home).where_to_look() == [
        f"MLflow:  mlflow ui --workers 1 --backend-store-uri 'sqlite:///{home}/mlflow.db'",
        f"Optuna:  optuna-dashboard '{home}/studies/tiny.journal'",
    ]
    elsewhere = fw.load(write(tmp_path), home=home, storage="sqlite:///o.db", tracking="http://127.0.0.1:5000")
    assert elsewhere.where_to_look() == [
        "MLflow:  http://127.0.0.1:5000",
        "Optuna:  optuna-dashboard sqlite:///o.db",
    ]
    assert not home.exists()
