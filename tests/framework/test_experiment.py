"""The Python face, as far as the command line does not show it."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest
import yaml

import framework as fw
from framework.errors import MissingCorpus
from framework.journal import TrainingResult, TrialFolder
from framework.study import Progress
from tests.framework.tiny_experiment import TWO_ROWS, write


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
    placed = rf"^--set {re.escape(corpus)}: data\.corpus: the corpus file a does not exist$"
    with pytest.raises(MissingCorpus, match=placed):
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
        f"MLflow:  mlflow ui --workers 1 --backend-store-uri 'sqlite:///{home}/mlflow.db'  # http://127.0.0.1:5000",
        f"Optuna:  optuna-dashboard '{home}/studies/tiny.journal'  # http://127.0.0.1:8080",
    ]
    elsewhere = fw.load(write(tmp_path), home=home, storage="sqlite:///o.db", tracking="http://127.0.0.1:5000")
    assert elsewhere.where_to_look() == [
        "MLflow:  http://127.0.0.1:5000",
        "Optuna:  optuna-dashboard sqlite:///o.db  # http://127.0.0.1:8080",
    ]
    assert not home.exists()


def recorded(database):
    """Name and status of every run in an MLflow store."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute("select name, status from runs"))


def table_of(home):
    (table,) = home.glob("artifacts/tiny/*/artifacts/table.csv")
    return table.read_text()


def test_a_run_of_some_rows_records_the_whole_experiment(tmp_path):
    """The parent run and its table are the experiment's, whatever was chosen."""
    path, home = write(tmp_path, evaluate={"metrics": ["perplexity"]}), tmp_path / "home"
    summary = fw.load(path, home=home, rows=["one-head"]).run(workers=1)
    assert summary.ran == 1
    assert recorded(home / "mlflow.db") == {"tiny": "KILLED", "one-head seed 1": "FINISHED"}
    assert "base,,1,to do" in table_of(home)
    fw.load(path, home=home).run(workers=1)
    whole = table_of(home)
    assert recorded(home / "mlflow.db")["tiny"] == "FINISHED"
    for again in (fw.load(path, home=home, rows=["one-head"]), fw.load(path, home=home, seeds=[1])):
        again.run(workers=1)
        assert again.sync()
        assert (table_of(home), recorded(home / "mlflow.db")["tiny"]) == (whole, "FINISHED")


def test_a_row_that_does_not_fit_keeps_no_other_from_being_run_and_recorded(tmp_path):
    path = write(tmp_path, {"base": {}, "blue": {"change": {"evaluate.metrics": ["blue"]}}})
    experiment = fw.load(path, home=tmp_path / "home", rows=["base"], settings=["evaluate.metrics=[perplexity]"])
    assert experiment.run(workers=1).ran == 1
    assert "blue,,1,to do" in table_of(tmp_path / "home")


def test_sync_fills_a_lost_study_and_another_record(ran, tmp_path):
    experiment, *_ = ran
    home = experiment.home
    study = home / "studies" / "tiny.journal"
    study.unlink()
    path = home.parent / "tiny.yaml"
    assert fw.load(path, home=home, rows=["base"], tracking=f"sqlite:///{tmp_path}/rebuilt.db").sync()
    assert study.read_text().count('"status":"done"') == 2
    assert recorded(tmp_path / "rebuilt.db") == dict.fromkeys(("tiny", "base seed 1", "one-head seed 1"), "FINISHED")


def refused(path):
    experiment = fw.load(path, home=path.parent / "home")
    with pytest.raises(fw.SpecError) as error:
        experiment.run(workers=1)
    assert not (path.parent / "home" / "trials").exists()
    return str(error.value)


PAIRS = {"name": "text_pairs", "options": {"path": "pairs.tsv"}}


def write_pairs(folder, splits, rows=None, evaluate=None):
    """The tiny experiment on a table of sixty pairs for each of these splits."""
    lines = [f"{split}\t{n} ein Satz\t{n} one sentence" for split in splits for n in range(60)]
    (folder / "pairs.tsv").write_text("\n".join(("split\tsource\ttarget", *lines)) + "\n")
    path = write(folder, rows or {"base": {}}, evaluate=evaluate or {})
    content = yaml.safe_load(path.read_text())
    content["data"]["corpus"] = PAIRS
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def line_of(path, text):
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_a_split_that_there_is_not_is_said_before_anything_is_trained(tmp_path):
    path = write_pairs(tmp_path, ["train", "dev"], {"base": {}, "tested": {"change": {"evaluate.split": "test"}}})
    said = refused(path)
    assert said.startswith(f"{path}:{line_of(path, 'evaluate.split')}:")
    assert said.endswith(": rows.tested.change.evaluate.split: the corpus has no split 'test'; there are: train, dev")
    assert fw.load(path, home=tmp_path / "home", rows=["base"]).run(workers=1).ran == 1


def test_a_split_that_there_is_not_is_said_once_for_all_rows(tmp_path):
    path = write_pairs(tmp_path, ["train", "dev"], TWO_ROWS, {"split": "test"})
    said = refused(path)
    assert re.fullmatch(rf"{path}:{line_of(path, 'split: test')}:\d+: evaluate\.split: the corpus has no .*", said)


def test_a_split_that_is_near_is_offered(tmp_path):
    path = write_pairs(tmp_path, ["train", "dev", "tests"], evaluate={"split": "test"})
    assert refused(path).endswith("did you mean 'tests'? There are: train, dev, tests")


def test_what_only_shows_with_the_data_at_hand_is_placed_in_the_file(tmp_path):
    path = write(tmp_path, {"base": {}, "large": {"change": {"data.tokenizer.vocabulary_size": 9000}}})
    assert refused(path).startswith(f"{path}:{line_of(path, '9000')}:")
    assert ": rows.large.change.data.tokenizer.vocabulary_size: " in refused(path)


def test_a_corpus_without_dev_is_placed_in_the_file(tmp_path):
    path = write_pairs(tmp_path, ["train", "test"], evaluate={"split": "test"})
    line = line_of(path, "corpus:")
    assert re.match(rf"{path}:{line}:\d+: data\.corpus: the corpus has no split 'dev', only ", refused(path))


@pytest.mark.parametrize(
    ("storage", "tracking"),
    [
        ("sqlite:///one.db", "sqlite:///./one.db"),
        ("sqlite:///one.db?timeout=5", "sqlite:///{here}/one.db"),
        ("sqlite:///{here}/one.db", "sqlite+pysqlite:///one.db"),
        ("sqlite:///home/mlflow.db", None),
        ("postgresql://me@host/db", "postgresql+psycopg://you@HOST:5432/db"),
    ],
)
def test_one_database_for_two_masters_is_refused_however_it_is_written(tmp_path, monkeypatch, storage, tracking):
    monkeypatch.chdir(tmp_path)
    storage = storage.format(here=tmp_path)
    with pytest.raises(fw.SpecError) as error:
        fw.load(write(tmp_path), home="home", storage=storage, tracking=tracking and tracking.format(here=tmp_path))
    assert str(error.value) == (
        f"--storage: {storage} is MLflow's as well, and both keep a schema there: use two databases"
    )
    assert not (tmp_path / "home").exists()
