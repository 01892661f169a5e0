"""Against a real tracking server, which goes away and comes back."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.slow


@contextmanager
def serving(home, port):
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{home}/mlflow.db", "--artifacts-destination", str(home / "served")]
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (home / "server.log").open("a") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=home, start_new_session=True)
        try:
            _wait_for(f"http://127.0.0.1:{port}/health")
            yield
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _wait_for(address):
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"{address} does not answer")


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_killed_in_the_middle_misses_nothing_in_the_end(
    recorder, plan, train, finish, stored, home, port, clock, caplog
):
    address = f"http://127.0.0.1:{port}"
    record = recorder(address)
    with serving(home, port):
        train(plan[0], 20)
        record.sync(plan[0])
        assert not record.behind
    for upto in (30, 40):
        train(plan[0], upto)
        started = time.monotonic()
        record.sync(plan[0])
        assert time.monotonic() - started < 2
        assert record.behind
    finish(plan[0])
    with serving(home, port):
        clock.now += 10
        record.sync(plan[0])
        record.table("| row |\n", "row\n")
        record.close("FINISHED")
        runs = stored(address)
        assert runs["base", 1].steps("train/loss") == list(range(10, 401, 10))
        assert runs["base", 1].status == runs["", 0].status == "FINISHED"
        assert runs["", 0].files() == ["experiment.yaml", "plugins.json", "table.csv", "table.md"]
    assert not record.behind
    assert caplog.text.count("training goes on") == 1
    assert caplog.text.count("is up to date again") == 1


def test_a_server_that_hangs_blocks_for_ten_seconds_and_then_not_at_all(recorder, plan, train, port):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", port))
        silent.listen()
        record = recorder(f"http://127.0.0.1:{port}")
        train(plan[0], 20)
        started = time.monotonic()
        record.sync(plan[0])
        assert time.monotonic() - started < 12
        again = time.monotonic()
        record.sync(plan[0])
        assert time.monotonic() - again < 0.1
        assert record.behind
