"""Lengths of time as people write them: `45s`, `90m`, `2h`, `1h30m`, `1d`."""

from __future__ import annotations

import re
from typing import Final

from framework.errors import SpecError

UNITS: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}

_WRITTEN: Final = re.compile("".join(rf"(?:(\d+){unit})?" for unit in UNITS))


def seconds_of(text: str, option: str) -> int:
    """Read a length of time, its largest unit first. Raises `SpecError` at `option` for anything else, and for none."""
    found = _WRITTEN.fullmatch(text.strip())
    seconds = (
        sum(int(number or 0) * size for number, size in zip(found.groups(), UNITS.values(), strict=True))
        if found
        else 0
    )
    if seconds == 0:
        raise SpecError(f"{text!r} is no length of time: write such as 90m, 2h, 1h30m or 1d", option)
    return seconds


def duration(seconds: float) -> str:
    """Write seconds in their two largest units, rounded: `0.4s`, `45s`, `1h30m`, `2d`."""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    units = list(UNITS.items())
    # Rounded to the smaller of the two units first, so that 59.7 s are a minute, and 59 minutes and a half an hour.
    for (large, size), (small, step) in zip(units, [*units[1:], units[-1]], strict=True):
        rounded = round(seconds / step) * step
        if rounded >= size:
            whole, rest = divmod(rounded, size)
            return f"{whole}{large}" + (f"{rest // step}{small}" if rest else "")
    raise AssertionError("ten seconds have a unit")
