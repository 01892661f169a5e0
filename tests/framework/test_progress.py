"""Bars where someone looks, and not a byte where no one does."""

from __future__ import annotations

import logging
import re
import sys

import pytest

from framework.cli import _ToStandardError
from framework.experiment import load
from framework.journal import TrialFolder
from framework.progress import ProgressBars
from framework.study import Progress
from tests.framework.tiny_experiment import write

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@pytest.fixture
def plan(tmp_path):
    return load(write(tmp_path), home=tmp_path).plan()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "120")


def shown(capsys):
    """The last picture, without its codes."""
    captured = capsys.readouterr()
    assert captured.out == ""
    pictures = _CODES.sub("", captured.err).split("tiny: trials")
    return f"tiny: trials{pictures[-1]}"


def test_no_bars_where_standard_error_is_no_terminal(plan, tmp_path, capsys):
    with ProgressBars("tiny", tmp_path) as bars:
        bars.watch(Progress(planned=2, finished=0, failed=0, running=list(plan)))
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_run_and_its_trials(terminal, plan, tmp_path, capsys):
    base, one_head = plan
    with TrialFolder(tmp_path, str(base.train_key)).curves.open() as curves:
        curves.append(3, {"train/loss": 5.4321})
    with ProgressBars("tiny", tmp_path) as bars:
        bars.watch(Progress(planned=7, finished=2, failed=1, running=[base, one_head]))
    run, first, second = shown(capsys).splitlines()[:3]
    assert re.fullmatch(r"tiny: trials .* 2/7 +\S+ 1 failed *", run)
    assert re.fullmatch(r"  base, seed 1 .* 3/12 +\S+ loss 5\.432 *", first)
    assert re.fullmatch(r"  one-head, seed 1 .* 0/12 +\S+ starting *", second)


def test_a_trial_that_has_made_its_last_step_is_evaluating(terminal, plan, tmp_path, capsys):
    with TrialFolder(tmp_path, str(plan[0].train_key)).curves.open() as curves:
        curves.append(12, {"train/loss": 5.0})
    with ProgressBars("tiny", tmp_path) as bars:
        bars.watch(Progress(planned=2, finished=0, failed=0, running=[plan[0]]))
    assert re.search(r"12/12 +\S+ evaluating", shown(capsys))


def test_a_trial_that_ended_leaves_the_picture(terminal, plan, tmp_path, capsys):
    with ProgressBars("tiny", tmp_path) as bars:
        bars.watch(Progress(planned=2, finished=0, failed=0, running=list(plan)))
        capsys.readouterr()
        bars.watch(Progress(planned=2, finished=1, failed=0, running=[plan[1]]))
    picture = shown(capsys)
    assert "one-head, seed 1" in picture
    assert "base, seed 1" not in picture


def test_warnings_go_above_the_bars(terminal, tmp_path, monkeypatch):
    """A line that went around them would be painted over."""
    handler = _ToStandardError()
    with ProgressBars("tiny", tmp_path):
        behind = sys.stderr
        written: list[str] = []
        monkeypatch.setattr(behind, "write", written.append)
        handler.emit(logging.makeLogRecord({"msg": "row base, seed 1: RuntimeError", "levelno": logging.WARNING}))
    assert "".join(written) == "row base, seed 1: RuntimeError\n"
