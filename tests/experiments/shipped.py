"""Which files are shipped as experiments, and which as recipes that experiments extend."""

from __future__ import annotations

from pathlib import Path
from typing import Final

EXPERIMENTS: Final = Path(__file__).parents[2] / "experiments"
PROFILES: Final = EXPERIMENTS / "profiles"
FILES: Final = sorted(
    str(path.relative_to(EXPERIMENTS)) for path in EXPERIMENTS.rglob("*.yaml") if path.parent != PROFILES
)
"""The experiments, relative to their folder."""
