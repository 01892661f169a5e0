from __future__ import annotations

import os
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import TrialError
from framework.journal import TrialFolder


@pytest.fixture
def folder(tmp_path):
    return TrialFolder(tmp_path, "key")


def append(folder, *steps, name="train/loss"):
    with folder.curves.open() as curves:
        for step in steps:
            curves.append(step, {name: step / 2})


def test_points_come_back_in_order_of_steps(folder):
    append(folder, 1, 2, 3)
    append(folder, 4)
    points = folder.curves.points()
    assert [(point.step, point.values) for point in points] == [
        (step, {"train/loss": step / 2}) for step in (1, 2, 3, 4)
    ]
    assert all(abs(point.time - time.time()) < 60 for point in points)


def test_steps_run_again_after_a_kill_count_once_as_last_written(folder):
    append(folder, 1, 2, 3, 4)
    with folder.curves.open() as curves:
        curves.append(3, {"train/loss": 9.0})
        curves.append(4, {"dev/perplexity": 7.0})
    values = {point.step: point.values for point in folder.curves.points()}
    assert values == {
        1: {"train/loss": 0.5},
        2: {"train/loss": 1.0},
        3: {"train/loss": 9.0},
        4: {"train/loss": 2.0, "dev/perplexity": 7.0},
    }


@pytest.mark.parametrize("torn", [1, 5, -1])
def test_a_last_line_torn_by_a_kill_is_not_read_and_is_cut_off_by_the_next_writer(folder, torn):
    append(folder, 1, 2)
    path = folder.path / "metrics.jsonl"
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole + last[:torn])
    assert [point.step for point in folder.curves.points()] == [1, 2]
    last_point = folder.curves.last()
    assert last_point is not None
    assert last_point.step == 2
    append(folder, 3)
    assert [point.step for point in folder.curves.points()] == [1, 2, 3]
    assert path.read_bytes().startswith(whole)


@given(st.lists(st.integers(1, 30), max_size=12), st.binary(max_size=20).filter(lambda tail: b"\n" not in tail))
@settings(max_examples=40, deadline=None)
def test_whatever_a_kill_leaves_behind_the_curves_hold_every_whole_line(tmp_path_factory, steps, tail):
    folder = TrialFolder(tmp_path_factory.mktemp("home"), "key")
    append(folder, *steps)
    with (folder.path / "metrics.jsonl").open("ab") as file:
        file.write(tail)
    append(folder, 99)
    assert [point.step for point in folder.curves.points()] == sorted({*steps, 99})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_not_finite_is_refused_and_leaves_no_half_line(folder, value):
    append(folder, 1)
    with folder.curves.open() as curves, pytest.raises(ValueError, match="not JSON compliant"):
        curves.append(2, {"train/loss": value})
    assert [point.step for point in folder.curves.points()] == [1]


def test_curves_that_do_not_exist_are_empty(folder):
    assert folder.curves.points() == []
    assert folder.curves.last() is None
    with folder.curves.open():
        pass
    assert folder.curves.points() == []
    assert folder.curves.last() is None


def test_the_newest_point_is_found_however_long_the_curves_are(folder):
    append(folder, *range(1, 2000))
    last = folder.curves.last()
    assert last is not None
    assert (last.step, last.values) == (1999, {"train/loss": 999.5})


def test_the_newest_point_is_the_one_written_last(folder):
    append(folder, 5, 6, 2)
    last = folder.curves.last()
    assert last is not None
    assert last.step == 2


@pytest.mark.parametrize("characters", [4000, 5000])
def test_a_line_longer_than_what_is_read_gives_no_newest_point(folder, characters):
    append(folder, 1)
    append(folder, 2, name="x" * characters)
    assert (folder.curves.last() is None) == (characters > 4096)
    assert len(folder.curves.points()) == 2


def test_whoever_follows_the_curves_reads_every_line_once_and_none_that_is_torn(folder):
    reader = folder.curves.follow()
    assert reader.more() == []
    append(folder, 1, 2)
    assert [point.step for point in reader.more()] == [1, 2]
    assert reader.more() == []
    path = folder.path / "metrics.jsonl"
    with path.open("ab") as file:
        file.write(b'{"step": 3, "ti')
    assert reader.more() == []
    append(folder, 3, 4)
    assert [point.step for point in reader.more()] == [3, 4]


DAMAGED = {
    b"{}": "step: Field required",
    b"[1]": "Input should be ",
    b'{"step": 2, "ti': "Invalid JSON: ",
    b"\0\0\0": "Invalid JSON: ",
    b'{"step": "2", "time": 1.0, "values": {}}': "step: Input should be a valid integer",
    b"": "Invalid JSON: ",
}


@pytest.mark.parametrize("line", DAMAGED, ids=[repr(line) for line in DAMAGED])
def test_a_damaged_line_is_named_with_the_way_out(folder, line):
    append(folder, 1)
    path = folder.path / "metrics.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + line + b"\n")
    append(folder, 3)
    words = re.escape(f"line 2 of {path} is damaged: {DAMAGED[line]}")
    with pytest.raises(TrialError, match=f"^{words}.*\\. Delete this line: no more than its point is lost$"):
        folder.curves.points()
    reader = folder.curves.follow()
    for _ in range(2):
        with pytest.raises(TrialError, match="line 2 of "):
            reader.more()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::2]))  # the way out
    assert [point.step for point in folder.curves.points()] == [1, 3]
    assert [point.step for point in reader.more()] == [1, 3]


def test_whoever_follows_the_curves_is_told_the_line_in_the_file(folder):
    append(folder, 1, 2)
    reader = folder.curves.follow()
    reader.more()
    append(folder, 3)
    with (folder.path / "metrics.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(TrialError, match="line 4 of "):
        reader.more()


def test_a_damaged_last_line_is_no_newest_point(folder):
    append(folder, 1)
    with (folder.path / "metrics.jsonl").open("ab") as file:
        file.write(b"{}\n")
    assert folder.curves.last() is None


def test_what_a_newer_version_adds_to_a_point_is_passed_over(folder):
    append(folder, 1)
    with (folder.path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 2, "time": 1.0, "values": {"train/loss": 1.0}, "epoch": 3}\n')
    assert [point.step for point in folder.curves.points()] == [1, 2]
    last = folder.curves.last()
    assert last is not None
    assert last.step == 2


def test_what_was_appended_is_on_disk_when_asked_and_at_the_end(folder, monkeypatch):
    sizes, flush = [], os.fsync

    def noted(file):
        sizes.append(os.fstat(file).st_size)
        flush(file)

    monkeypatch.setattr(os, "fsync", noted)
    with folder.curves.open() as curves:
        curves.append(1, {"train/loss": 1.0})
        curves.sync()
        curves.append(2, {"train/loss": 1.0})
    first, second = (folder.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    assert sizes == [len(first), len(first) + len(second)]
