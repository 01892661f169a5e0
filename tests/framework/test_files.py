from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from framework.errors import Locked
from framework.files import held, write_whole


def test_a_file_appears_whole_and_makes_its_folders(tmp_path):
    path = tmp_path / "a" / "b" / "x.json"
    write_whole(path, "é")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert [file.name for file in path.parent.iterdir()] == ["x.json"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    write_whole(path, "old")

    def refuse(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(OSError, match="no space left"):
            write_whole(path, "new")
    assert path.read_text() == "old"
    write_whole(path, "newer")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.json"]


def test_a_reader_never_sees_half_a_file(tmp_path):
    path, sizes = tmp_path / "x", (0, 100_000)
    write_whole(path, b"")
    stop = threading.Event()

    def rewrite():
        while not stop.is_set():
            for size in sizes:
                write_whole(path, b"x" * size)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = {len(path.read_bytes()) for _ in range(300)}
    finally:
        stop.set()
        writer.join()
    assert seen <= set(sizes)


def test_a_second_holder_is_refused_and_told_the_first(tmp_path):
    lock = tmp_path / "deep" / "lock"
    with held(lock, {"pid": 7, "host": "here"}):
        with pytest.raises(Locked, match=r'lock is held by \{"pid": 7, "host": "here"\}$'), held(lock, {"pid": 8}):
            pytest.fail("two at once")
        with held(tmp_path / "other", {}):
            pass
    with held(lock, {"pid": 8}):
        assert json.loads(lock.read_text()) == {"pid": 8}


def test_the_lock_is_let_go_when_its_holder_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), held(tmp_path / "lock", {}):
        raise ZeroDivisionError
    with held(tmp_path / "lock", {}):
        pass


HOLD = """
import sys, time
from pathlib import Path
from framework.files import held
with held(Path(sys.argv[1]), {"pid": "the other"}):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_holder(tmp_path):
    """Another process that holds `lock`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_lock_is_let_go_when_its_holder_is_killed(tmp_path, other_holder):
    with pytest.raises(Locked, match=r'held by \{"pid": "the other"\}$'), held(tmp_path / "lock", {}):
        pass
    other_holder.send_signal(signal.SIGKILL)
    other_holder.wait()
    with held(tmp_path / "lock", {}):
        pass


def test_whoever_asks_to_wait_gets_the_lock_when_it_is_free(tmp_path, other_holder):
    timer = threading.Timer(0.3, other_holder.kill)
    timer.start()
    start = time.monotonic()
    with held(tmp_path / "lock", {}, wait=True):
        assert time.monotonic() - start >= 0.25
    timer.join()
