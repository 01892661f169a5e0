"""Which line of somebody's own code an exception arose in."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Final

_STANDARD_LIBRARY: Final = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def innermost_frame(error: BaseException) -> traceback.FrameSummary:
    """Give the innermost frame of an exception that was raised, outside installed packages and the standard library.

    That is the line of a plugin which handed torch what torch complains of. Where all code is installed, it is
    the innermost frame of all.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame for frame in reversed(frames) if not _is_library(frame.filename)), frames[-1])


def _is_library(filename: str) -> bool:
    path = Path(filename)
    return (
        filename.startswith("<")  # frozen or generated code
        or not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
        or any(path.is_relative_to(folder) for folder in _STANDARD_LIBRARY)
    )
