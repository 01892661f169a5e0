"""Whatever ends a run, the same command goes on from there, and ends with the same numbers."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import optuna
import psutil
import pytest
from optuna.storages.journal import JournalFileBackend

from framework.experiment import load
from tests.framework.tiny_experiment import TINY, ablate, findings, folder_of, write

pytestmark = pytest.mark.xdist_group("durability")

ROWS = {"base": {}, "one-head": {"change": {"model.num_heads": 1}}}
LONGER = {**TINY["train"], "steps": 120, "log_every": 1, "evaluate_every": 40, "checkpoint_every": 15}
MOMENTS = [  # in the life of which row, at which step, and what ends the run then
    ("base", 1, signal.SIGKILL),
    ("base", 60, signal.SIGINT),
    ("one-head", 20, signal.SIGKILL),
    ("one-head", 50, signal.SIGTERM),
    ("one-head", 90, signal.SIGKILL),
]


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


class BrokenRun:
    """A run that is ended at every moment in turn and started again by the same command."""

    def __init__(self, path: Path, home: Path) -> None:
        self.home = home
        self.command = ("run", str(path), "--home", str(home), "--workers", "1")
        self.trials = {trial.row: trial for trial in load(path, home=home).plan()}
        self.codes: list[int] = []
        self.words: list[str] = []
        self.left: list[psutil.Process] = []
        for row, step, ending in MOMENTS:
            self._run_until(row, step, ending)
        self.last = ablate(*self.command)

    def _run_until(self, row: str, step: int, ending: signal.Signals) -> None:
        log = self.home.with_name("log")
        command = [sys.executable, "-c", "from framework.cli import main; main()", *self.command]
        with log.open("wb") as errors, subprocess.Popen(command, stderr=errors) as coordinator:
            process = psutil.Process(coordinator.pid)
            wait_until(lambda: coordinator.poll() is not None or (process.children() and self._step(row) >= step))
            assert coordinator.poll() is None, log.read_text()
            workers = process.children()
            if ending is signal.SIGINT:
                self.second = ablate(*self.command)
                self.first_pid = coordinator.pid
            coordinator.send_signal(ending)
            self.codes.append(coordinator.wait(60))
        self.words.append(log.read_text())
        _, alive = psutil.wait_procs(workers, timeout=10)
        self.left += alive

    def _step(self, row: str) -> int:
        point = folder_of(self.trials[row], self.home).curves.last()
        return point.step if point else 0


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("durability"), ROWS, train=LONGER)


@pytest.fixture(scope="module")
def straight(path):
    home = path.with_name("straight")
    assert ablate("run", path, "--home", home, "--workers", 1).code == 0
    return home


@pytest.fixture(scope="module")
def broken(path):
    return BrokenRun(path, path.with_name("broken"))


def test_an_interrupted_run_exits_with_130_and_says_how_to_go_on(broken):
    codes = dict(zip(MOMENTS, broken.codes, strict=True))
    assert {ending: code for (_, _, ending), code in codes.items()} == {
        signal.SIGKILL: -9,
        signal.SIGINT: 130,
        signal.SIGTERM: 130,
    }
    for moment, words in zip(MOMENTS, broken.words, strict=True):
        if moment[2] is not signal.SIGKILL:
            assert words == "\nInterrupted. The same command goes on from here.\n"


def test_no_worker_outlives_its_coordinator(broken):
    assert broken.left == []


def test_the_same_command_completes(broken):
    assert broken.last.code == 0
    assert "2 trials run" in broken.last.err or "1 trial run, 1 done before" in broken.last.err


def test_a_second_coordinator_is_told_who_the_first_is(broken):
    assert (broken.second.code, broken.second.out) == (2, "")
    assert f'"pid": {broken.first_pid}' in broken.second.err


def test_a_run_that_was_killed_reports_the_same_bytes(path, straight, broken):
    reports = [ablate("report", path, "--home", home, "--format", "csv").out for home in (straight, broken.home)]
    assert reports[0] == reports[1]
    assert reports[0].count("done") == 2


def test_every_folder_holds_the_same_weights_curves_and_scores(straight, broken):
    for trial in broken.trials.values():
        ours, theirs = (findings(trial, home) for home in (straight, broken.home))
        assert ours == theirs
        assert len(ours["curves"]) == 120


def test_the_study_has_each_trial_once(broken):
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(broken.home / "studies" / "tiny.journal")))
    trials = optuna.load_study(study_name="tiny", storage=storage).get_trials()
    assert [(trial.user_attrs["row"], trial.state.name) for trial in trials] == [
        ("base", "COMPLETE"),
        ("one-head", "COMPLETE"),
    ]


def test_the_record_has_each_run_once_and_no_step_twice(broken):
    with contextlib.closing(sqlite3.connect(broken.home / "mlflow.db")) as database:
        runs = database.execute("select name, status from runs order by name").fetchall()
        twice = database.execute("select key, step from metrics group by run_uuid, key, step having count(*) > 1")
        assert twice.fetchall() == []
    assert runs == [("base seed 1", "FINISHED"), ("one-head seed 1", "FINISHED"), ("tiny", "FINISHED")]
