"""The most memory that this process has held, counted anew for each trial that a worker runs."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def restart_peak_memory() -> None:
    """Count from now on. Where the system cannot, the count goes on from the start of the process."""
    with suppress(OSError):
        _CLEAR.write_text("5")  # proc(5): resets the peak resident set size


def peak_memory_bytes() -> int:
    """The peak resident set size since the last restart."""
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
