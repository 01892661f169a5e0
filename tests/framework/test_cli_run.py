"""Running and reporting from the command line: what is printed where, recorded, and said by the exit code."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from pathlib import Path

import pytest
import yaml

from framework.study import owned
from tests.framework.tiny_experiment import ablate, write

pytestmark = pytest.mark.xdist_group("cli_run")

MISHAPS = Path(__file__).parent / "launchers" / "mishaps.py"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The tiny experiment, run with one worker: its file, its home, and what the command said."""
    folder = tmp_path_factory.mktemp("done")
    path = write(folder)
    return path, folder / "home", ablate("run", path, "--home", folder / "home", "--workers", 1)


def test_run_prints_the_table_and_nothing_else_to_standard_output(done):
    path, home, said = done
    assert said.code == 0
    assert said.out == ablate("report", path, "--home", home).out
    assert said.err.splitlines() == [
        "",
        "2 trials run, 0 done before.",
        f"MLflow:  mlflow ui --workers 1 --backend-store-uri sqlite:///{home}/mlflow.db  # http://127.0.0.1:5000",
        f"Optuna:  optuna-dashboard {home}/studies/tiny.journal  # http://127.0.0.1:8080",
    ]


def test_a_second_run_runs_nothing_and_prints_the_same_table(done):
    path, home, first = done
    second = ablate("run", path, "--home", home)
    assert (second.code, second.out) == (0, first.out)
    assert "0 trials run, 2 done before." in second.err


@pytest.mark.parametrize("format", ["table", "markdown", "csv", "json"])
def test_a_report_can_be_written_to_a_file(done, tmp_path, format):
    path, home, _ = done
    printed = ablate("report", path, "--home", home, "--format", format)
    written = ablate("report", path, "--home", home, "--format", format, "--output", tmp_path / "report")
    assert (printed.code, written.code, written.out) == (0, 0, "")
    assert (tmp_path / "report").read_text(encoding="utf-8") == printed.out
    assert "one-head" in printed.out


def test_a_report_can_be_by_row(done):
    path, home, _ = done
    said = ablate("report", path, "--home", home, "--format", "json", "--per", "row")
    assert [(row["row"], row["n"], len(row["train_keys"])) for row in json.loads(said.out)] == [
        ("base", 1, 1),
        ("one-head", 1, 1),
    ]


def test_what_two_rows_generated_is_compared(done):
    path, home, _ = done
    said = ablate("compare", path, "base", "one-head", "--home", home, "--metric", "chrf")
    assert said.code == 0
    figures, signature = said.out.splitlines()
    assert re.fullmatch(r"seed 1: base +\S+ +one-head +\S+ +difference [+-]\S+ +p = [01]\.\d{4}", figures)
    assert signature.startswith("nrefs:1|ar:10000|seed:12345|")
    assert said.err == "Each p is of two trained models; how much seeds differ, the table says.\n"
    unknown = ablate("compare", path, "base", "two-heads", "--home", home)
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err.startswith("compare: the experiment has no row 'two-heads'; did you mean 'one-head'?")


def test_an_unfinished_experiment_has_a_report(done):
    path, home, _ = done
    said = ablate("report", path, "--home", home, "--set", "seeds=[1, 2]", "--format", "json")
    assert said.code == 0
    assert {(t["row"], t["seed"]): t["status"] for t in json.loads(said.out)} == {
        ("base", 1): "done",
        ("base", 2): "to do",
        ("one-head", 1): "done",
        ("one-head", 2): "to do",
    }


def recorded(database):
    """Name and status of every run in an MLflow store."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute("select name, status from runs"))


@pytest.fixture(scope="module")
def troubled(done):
    """In the same home: one row that is there already, one that diverges, one that crashes."""
    path, home, _ = done
    rows = {
        "base": {},
        "wild": {"change": {"train.learning_rate_factor": 1.0e30}},
        "raises": {"change": {"model.attention_score": {"name": "mishap", "options": {"how": "raises"}}}},
    }
    path = write(path.parent, rows, name="troubled", plugins=[str(MISHAPS)])
    said = ablate("run", path, "--home", home, "--workers", 1)
    return path, home, said, recorded(home / "mlflow.db")


def test_a_run_with_trouble_tells_it_and_exits_with_1(troubled):
    _, _, said, _ = troubled
    assert said.code == 1
    assert "1 trial run, 1 done before." in said.err
    assert "diverged: row wild, seed 1: diverged at step " in said.err
    assert re.search(
        r"failed: row raises, seed 1: RuntimeError: it happened \(mishaps.py:\d+ in forward\)\n"
        r"The same command tries failed trials again; traces: ",
        said.err,
    )
    for row in ("base", "wild", "raises"):
        assert row in said.out


def test_trouble_is_recorded_as_it_was(troubled):
    *_, runs = troubled
    assert {name: runs[name] for name in ("wild seed 1", "raises seed 1", "troubled")} == {
        "wild seed 1": "FAILED",
        "raises seed 1": "FAILED",
        "troubled": "FAILED",
    }


def test_a_run_exits_with_1_as_long_as_a_score_is_missing(troubled):
    path, home, *_ = troubled
    said = ablate("run", path, "--home", home, "--row", "base", "--row", "wild")
    assert said.code == 1
    assert "0 trials run, 2 done before." in said.err
    assert ablate("run", path, "--home", home, "--row", "base").code == 0


def test_a_second_coordinator_is_refused(done):
    path, home, _ = done
    before = recorded(home / "mlflow.db")
    with owned("tiny", home, path):
        for verb in ("run", "sync"):
            said = ablate(verb, path, "--home", home)
            assert said.code == 2
            assert said.out == ""
            assert said.err.startswith("experiment 'tiny' is being run by another coordinator: ")
            assert '"pid": ' in said.err
        assert ablate("report", path, "--home", home).code == 0
    assert recorded(home / "mlflow.db") == before  # the record is its owner's alone


def test_sync_rebuilds_the_record(done):
    path, home, _ = done
    said = ablate("sync", path, "--home", home, "--tracking", f"sqlite:///{home}/rebuilt.db")
    assert (said.code, said.err) == (0, "")
    assert recorded(home / "rebuilt.db") == dict.fromkeys(("base seed 1", "one-head seed 1", "tiny"), "FINISHED")


def test_plan_shows_what_is_done(done):
    path, home, _ = done
    plans = json.loads(ablate("plan", path, "--home", home, "--format", "json", "--seed", 1).out)
    assert [line["status"] for line in plans] == ["done", "done"]


def test_an_output_that_cannot_be_written(done, tmp_path):
    path, home, _ = done
    said = ablate("report", path, "--home", home, "--output", tmp_path / "none" / "report.md")
    assert (said.code, said.err) == (2, f"{tmp_path / 'none' / 'report.md'}: No such file or directory\n")


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_are_refused(tmp_path, workers):
    said = ablate("run", write(tmp_path), "--workers", workers, "--home", tmp_path / "home")
    assert (said.code, said.err) == (2, f"--workers: trials need at least 1 process; this is {workers}\n")
    assert not (tmp_path / "home").exists()


def test_one_database_for_two_masters_is_refused(tmp_path):
    said = ablate("run", write(tmp_path), "--storage", "sqlite:///one.db", "--tracking", "sqlite:///one.db")
    assert (said.code, said.err) == (
        2,
        "--storage: sqlite:///one.db is MLflow's as well, and both keep a schema there: use two databases\n",
    )


def test_an_experiment_without_its_corpus_does_not_run(tmp_path):
    corpus = {
        "name": "text_pairs",
        "options": {"train": {"source": "a", "target": "b"}, "dev": {"source": "c", "target": "d"}},
    }
    path = write(tmp_path)
    content = yaml.safe_load(path.read_text())
    content["data"]["corpus"] = corpus
    path.write_text(yaml.safe_dump(content))
    assert ablate("plan", path).code == 0
    said = ablate("run", path, "--home", tmp_path / "home")
    assert said.code == 2
    assert str(tmp_path / "a") in said.err
    assert not (tmp_path / "home" / "trials").exists()
