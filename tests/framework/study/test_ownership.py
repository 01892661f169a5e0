from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from framework.errors import FrameworkError, Locked
from framework.study import owned

FILE = Path("tiny.yaml")


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path):
    pid, host = os.getpid(), re.escape(os.uname().nodename)
    said = (
        rf"^experiment 'tiny' is being run by another coordinator: .*\"pid\": {pid}, \"host\": \"{host}\", \"since\": "
    )
    with owned("tiny", tmp_path, FILE):
        with pytest.raises(FrameworkError, match=said) as refused, owned("tiny", tmp_path, FILE):
            pass
        assert str(refused.value).endswith("Wait for it, or stop it first")
        with owned("another", tmp_path, FILE):
            pass
    with owned("tiny", tmp_path, FILE):
        pass


def test_locks_of_others_are_not_mistaken_for_its_own(tmp_path):
    with pytest.raises(Locked, match=r"^a trial's$"), owned("tiny", tmp_path, FILE):
        raise Locked("a trial's")


def run_from(file, home):
    file.parent.mkdir(exist_ok=True)
    file.touch()
    with owned("tiny", home, file):
        pass


def test_another_file_of_the_same_name_is_warned_of(tmp_path, caplog):
    first, second = (tmp_path / folder / "tiny.yaml" for folder in ("first", "second"))
    run_from(first, tmp_path)
    run_from(first, tmp_path)
    assert caplog.messages == []
    run_from(second, tmp_path)
    assert caplog.messages == [
        f"experiment 'tiny' was run here from {first}, and now from {second}, which takes over its study, its MLflow "
        "runs and its table: if these are two experiments, give one of them another name"
    ]
    run_from(second, tmp_path)
    assert len(caplog.messages) == 1


def test_a_file_that_moved_is_the_same_experiment(tmp_path, caplog):
    here, there = tmp_path / "here" / "tiny.yaml", tmp_path / "there.yaml"
    run_from(here, tmp_path)
    here.rename(there)
    run_from(there, tmp_path)
    assert caplog.messages == []
