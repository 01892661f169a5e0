"""The most memory that this process has held on a device, counted anew for each trial that a worker runs."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def restart_peak_memory(device: torch.device) -> None:
    """Count from now on. Where the system cannot, the count goes on from the start of the process."""
    if device.type != "cpu":
        torch.get_device_module(device).reset_peak_memory_stats(device)
        return
    with suppress(OSError):
        _CLEAR.write_text("5")  # proc(5): resets the peak resident set size


def peak_memory_bytes(device: torch.device) -> int:
    """What tensors took at most since the last restart: on a CPU all of the process's resident set, elsewhere alone."""
    if device.type != "cpu":
        return int(torch.get_device_module(device).max_memory_allocated(device))
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
