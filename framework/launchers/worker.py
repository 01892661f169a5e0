"""The worker process: takes trials on standard input, fills their folders, answers on standard output."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO

import torch

from framework.frames import innermost_frame
from framework.registry import Registry
from framework.spec import TrialSpec
from framework.trial import run_trial, use_one_thread


def main() -> None:
    """Work until the input closes."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plugin prints must not be taken for an answer
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    use_one_thread()
    setting = json.loads(requests.get())
    registry = Registry.load(map(Path, setting["plugins"]))
    home, device = Path(setting["home"]), torch.device(setting["device"])
    if device.type != "cpu":
        torch.cuda.set_device(device)  # whose generator counts as the current one
    while True:
        _answer(_run(requests.get(), registry, home, device), answers)


def _listen(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    # The coordinator is gone, perhaps killed. Every file of a trial survives an end at any moment.
    os._exit(0)


def _run(request: str, registry: Registry, home: Path, device: torch.device) -> dict[str, Any]:
    try:
        trial = TrialSpec.model_validate_json(request, context={"catalog": registry})
        run_trial(trial, registry, home, device)
    except BaseException as error:  # whatever a plugin raises, SystemExit too, costs this trial alone
        return {"error": _in_a_line(error), "trace": traceback.format_exc()}
    return {}


def _in_a_line(error: BaseException) -> str:
    said, where = f"{type(error).__name__}: {error}".splitlines()[0], innermost_frame(error)
    return f"{said} ({Path(where.filename).name}:{where.lineno} in {where.name})"


def _answer(message: dict[str, Any], answers: TextIO) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
