"""Every error that a caller of the framework may want to catch.

FrameworkError
├── SpecError      the person who wrote the experiment can fix it (exit code 2)
│   └── MissingCorpus    the experiment is right, its data is not there yet
├── PluginError    the author of a plugin can fix it
└── TrialError     a trial failed while it ran
    └── Locked     another process is filling the same folder
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class FrameworkError(Exception):
    """The root: `except FrameworkError` catches all that the framework raises on purpose."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a value was written. Lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and in words that say the way out."""

    message: str
    path: str = ""
    place: Place | None = None

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.place, self.path, self.message) if part)


class SpecError(FrameworkError):
    """What was asked cannot be done as written. Carries every problem found, not only the first."""

    def __init__(self, problems: str | Problem | Iterable[Problem], path: str = "") -> None:
        if isinstance(problems, str):
            problems = Problem(problems, path)
        if isinstance(problems, Problem):
            problems = (problems,)
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class MissingCorpus(SpecError):
    """A corpus names a file that does not exist: the experiment can be planned, not run."""


class PluginError(FrameworkError):
    """A plugin breaks its contract; the message names the plugin and the rule."""


class TrialError(FrameworkError):
    """A trial could not be run to its end."""


class Locked(TrialError):
    """The folder is being filled by another process."""
