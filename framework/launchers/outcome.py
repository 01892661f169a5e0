"""What a launcher says of a trial that it is done with."""

from __future__ import annotations

from dataclasses import dataclass

from framework.spec import TrialSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trial that left its worker: its folder says with what result, unless it crashed."""

    trial: TrialSpec
    error: str | None = None
    """One line about the crash, or None where the folder is filled."""
    trace: str = ""
