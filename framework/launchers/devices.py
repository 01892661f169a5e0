"""Where trials may compute: one device each, so that rows of a table run side by side."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from framework.errors import SpecError
from framework.spec.suggest import choices


def devices_found() -> tuple[str, ...]:
    """Name the devices of this machine as torch does: the CPU, then every GPU of CUDA's kind.

    Not Apple's: float64, in which positions and losses are computed, is unknown there.
    """
    return ("cpu", *(f"cuda:{index}" for index in range(torch.cuda.device_count())))


def require_devices(names: Sequence[str]) -> tuple[str, ...]:
    """Give the names back. Raises `SpecError` for one that this machine does not have."""
    found = devices_found()
    for name in names:
        if name not in found:
            raise SpecError(f"this machine has no device {name!r}{choices(name, found)}", "--devices")
    return tuple(names)
