"""Worker processes of one thread each on this machine.

A worker takes a trial as a line of JSON on its standard input and answers with a line on its standard
output. It is reused from trial to trial, and gone when its input closes: also when the coordinator is
killed, since the kernel closes the pipe then.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from framework.launchers.outcome import Outcome
from framework.spec import TrialSpec

_ONE_THREAD = {
    # Two busy threads on two busy cores are many times slower than one each; and one thread gives the same
    # sums everywhere.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_SECONDS_TO_END = 10.0
_LAST_BYTES = 20_000
"""Of a worker's standard error: a crash tells every thread's frames, and then every extension module."""


def available_cores() -> int:
    """The cores that this process may use, where the system says; all of them elsewhere."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalWorkers:
    """A launcher with a fixed number of places; a worker is started when a place is first used.

    Places take turns on `devices`, as torch names them: with as many places as devices, each has one of its own.
    """

    def __init__(
        self, places: int, home: Path, plugins: Sequence[Path], logs: Path, devices: Sequence[str] = ("cpu",)
    ) -> None:
        self._home = home
        self._plugins = plugins
        self._logs = logs
        self._devices = devices
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, TrialSpec] = {}
        self._free_places = list(range(places))
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def has_room(self) -> bool:
        return bool(self._idle or self._free_places)

    @property
    def running(self) -> list[TrialSpec]:
        return list(self._busy.values())

    def submit(self, trial: TrialSpec) -> None:
        """Start a trial in a free place."""
        if self._idle:
            worker = self._idle.pop()
        else:
            place = self._free_places.pop(0)
            device = self._devices[place % len(self._devices)]
            worker = _Worker(place, self._home, self._plugins, self._logs / f"worker-{place}.log", device)
            self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        self._busy[worker] = trial
        worker.send(trial.model_dump(mode="json"))

    def wait(self, seconds: float) -> list[Outcome]:
        """Give the trials that ended, waiting for at most `seconds` for the first of them."""
        ready = [key.data for key, _ in self._selector.select(seconds)]
        return [outcome for worker in ready if (outcome := self._collect(worker))]

    def _collect(self, worker: _Worker) -> Outcome | None:
        answer = worker.answers.readline()
        trial = self._busy.pop(worker, None)
        if trial is None:  # its input was not closed by us, so it was killed while it had nothing to do
            self._idle.remove(worker)
            self._retire(worker)
            return None
        if not answer.endswith(b"\n"):
            how = self._retire(worker)
            return Outcome(trial, f"the worker process died: {how}", worker.last_words())
        outcome = Outcome(trial, **json.loads(answer))
        if outcome.error is None:
            self._idle.append(worker)
        else:  # what a crash left behind in the process must not reach the next trial
            self._retire(worker)
        return outcome

    def _retire(self, worker: _Worker) -> str:
        """Make room for a fresh worker, and say how this one ended."""
        self._selector.unregister(worker.answers)
        self._free_places.append(worker.place)
        return worker.end()

    def close(self) -> None:
        """End every worker; what they were doing goes on from its last checkpoint another time."""
        workers = [*self._idle, *self._busy]
        for worker in workers:
            worker.hang_up()
        for worker in workers:
            worker.end()
        self._idle.clear()
        self._busy.clear()
        self._selector.close()


class _Worker:
    """One process and its pipes."""

    def __init__(self, place: int, home: Path, plugins: Sequence[Path], log: Path, device: str) -> None:
        self.place = place
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                # -P: modules are never taken from the folder that one happens to be in.
                [sys.executable, "-P", "-X", "faulthandler", "-m", "framework.launchers.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the coordinator, which then hangs up
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self.answers: IO[bytes] = self._process.stdout
        plugin_paths = [str(path.resolve()) for path in plugins]
        self.send({"home": str(home.resolve()), "plugins": plugin_paths, "device": device})

    def send(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # it died; its answers end, and the trial comes back as crashed
            self._requests.write(json.dumps(message).encode() + b"\n")
            self._requests.flush()

    def hang_up(self) -> None:
        with suppress(BrokenPipeError):
            self._requests.close()

    def end(self) -> str:
        """Make sure that the process is gone, and say how it ended."""
        self.hang_up()
        try:
            code = self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self.answers.close()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def last_words(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._log.read_bytes()[-_LAST_BYTES:].decode(errors="replace")
