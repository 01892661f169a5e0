"""Worker processes: what happens to one costs its trial alone, and none outlives its coordinator."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from framework.journal import status
from framework.launchers import LocalWorkers, available_cores
from framework.spec import TrialSpec
from framework.study import coordinate
from framework.trial import run_trial
from tests.framework.study.in_process import Recorded
from tests.framework.tiny_experiment import findings, folder_of, load_prepared, write

pytestmark = pytest.mark.xdist_group("local_workers")

MISHAPS = Path(__file__).with_name("mishaps.py")


def mishap(how):
    return {"change": {"model.attention_score": {"name": "mishap", "options": {"how": how}}}}


def line_of(text):
    """The number of the mishaps' first line in which `text` stands."""
    return next(number for number, line in enumerate(MISHAPS.read_text().splitlines(), 1) if text in line)


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def workers():
    """The worker processes of this process; other tests may have left it other children."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # ended, or a zombie
            if "framework.launchers.worker" in child.cmdline():
                found.append(child)
    return found


def wait_for(launcher):
    while not (outcomes := launcher.wait(1.0)):
        pass
    return outcomes


class Run:
    """One experiment on one place, every row of which has something happen to it, and what came of it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        hows = ("talks", "raises", "exits", "exits_hard", "dies")
        rows = {"base": {}, **{how: mishap(how) for how in hows}, "last": {"change": {"model.d_ff": 8}}}
        experiment = load_prepared(write(folder, rows, plugins=[str(MISHAPS)]), self.home)
        self.trials = {trial.row: trial for trial in experiment.plan()}
        self.process: dict[str, int] = {}
        with LocalWorkers(1, self.home, experiment.plugin_paths, folder / "logs") as launcher:
            self.summary = coordinate(
                experiment.spec, experiment.plan(), self.home, launcher, Recorded(), watch=self._look
            )
        self.left = workers()

    def _look(self, progress) -> None:
        for trial in progress.running:
            for child in workers():  # none in the moment in which a new process is not itself yet
                self.process[trial.row] = child.pid

    def status(self, row):
        trial: TrialSpec = self.trials[row]
        return status(self.home, trial.train_key, trial.evaluate_key)

    def failure(self, row):
        failure = folder_of(self.trials[row], self.home).failure()
        assert failure is not None
        return failure


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("run"))


def test_a_mishap_costs_its_trial_alone(run):
    """And a line of JSON that a plugin prints is no answer of its worker."""
    assert {row: run.status(row) for row in run.trials} == {
        "base": "done",
        "talks": "done",
        "raises": "failed",
        "exits": "failed",
        "exits_hard": "failed",
        "dies": "failed",
        "last": "done",
    }
    assert run.summary.ran == 3


def test_a_crash_is_told_in_one_line_with_the_place_in_the_plugin(run):
    assert run.summary.failures == {
        ("raises", 1): f"RuntimeError: it happened (mishaps.py:{line_of('raise RuntimeError')} in forward)",
        ("exits", 1): f"SystemExit: 3 (mishaps.py:{line_of('sys.exit')} in forward)",
        ("exits_hard", 1): "the worker process died: exit code 7",
        ("dies", 1): "the worker process died: signal SIGSEGV",
    }


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("raises", "and more"),
        ("raises", 'mishaps.py", line'),
        ("exits", 'mishaps.py", line'),
        ("exits_hard", "last words"),
        ("dies", "Fatal Python error: Segmentation fault"),
        ("dies", 'mishaps.py", line'),
    ],
)
def test_the_trace_says_where(run, row, words):
    assert words in run.failure(row).trace


def test_after_a_crash_the_next_trial_gets_a_fresh_process(run):
    process = run.process
    assert process["base"] == process["talks"] == process["raises"]
    others = [process[row] for row in ("raises", "exits", "exits_hard", "dies", "last")]
    assert len(set(others)) == 5


def test_no_worker_is_left(run):
    assert run.left == []


def test_a_worker_finds_the_same_numbers_as_this_process(run, tmp_path, registry):
    for row in ("base", "last"):
        trial = run.trials[row]
        shutil.copytree(run.home / "cache", tmp_path / "cache", dirs_exist_ok=True)
        run_trial(trial, registry, tmp_path)
        assert findings(trial, tmp_path) == findings(trial, run.home)


def test_closing_ends_a_worker_at_once(tmp_path, monkeypatch):
    """An idle one that was killed is replaced first; and a module in the working folder is not taken for torch."""
    (tmp_path / "torch.py").write_text("raise ImportError('this is not torch')")
    monkeypatch.chdir(tmp_path)
    rows = {"base": {}, "endless": {"change": {"train.steps": 1_000_000}}}
    experiment = load_prepared(write(tmp_path, rows), Path("home"))
    base, endless = experiment.plan()
    with LocalWorkers(1, Path("home"), (), tmp_path / "logs") as launcher:
        launcher.submit(base)
        assert launcher.running == [base]
        assert not launcher.has_room
        (outcome,) = wait_for(launcher)
        assert (outcome.trial, outcome.error) == (base, None)

        (worker,) = workers()
        os.kill(worker.pid, signal.SIGKILL)
        assert launcher.wait(10.0) == []
        assert launcher.has_room

        launcher.submit(endless)
        wait_until(folder_of(endless, Path("home")).curves.points)
        (worker,) = workers()
        started = time.monotonic()
    assert time.monotonic() - started < 9.0  # before it would be killed
    assert not worker.is_running()
    assert workers() == []


def test_a_worker_that_cannot_begin_fails_its_trial(tmp_path):
    plugin = shutil.copy(MISHAPS, tmp_path / "here.py")
    experiment = load_prepared(write(tmp_path, {"base": {}}), tmp_path / "home", plugins=[plugin])
    Path(plugin).unlink()
    with LocalWorkers(1, tmp_path / "home", experiment.plugin_paths, tmp_path / "logs") as launcher:
        launcher.submit(experiment.plan()[0])
        (outcome,) = wait_for(launcher)
    assert outcome.error == "the worker process died: exit code 1"
    assert f"the plugin {plugin} does not exist" in outcome.trace


def test_two_experiments_that_share_a_trial_run_it_once(tmp_path):
    """Each has a coordinator and a worker of its own; the second to come waits for the folder."""
    home = tmp_path / "home"
    experiments = [load_prepared(write(tmp_path, {"base": {}}, name=name), home) for name in ("one", "other")]
    (shared,) = experiments[0].plan()
    assert experiments[1].plan()[0].evaluate_key == shared.evaluate_key
    summaries = []

    def run(experiment):
        with LocalWorkers(1, home, (), home / "logs" / experiment.spec.name) as launcher:
            summaries.append(coordinate(experiment.spec, experiment.plan(), home, launcher, Recorded()))

    threads = [threading.Thread(target=run, args=(experiment,)) for experiment in experiments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [summary.failures for summary in summaries] == [{}, {}]
    assert status(home, shared.train_key, shared.evaluate_key) == "done"
    lines = (folder_of(shared, home).path / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 4  # one training's


def test_available_cores_are_those_of_this_process():
    assert available_cores() == len(os.sched_getaffinity(0)) >= 1
