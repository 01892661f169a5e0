"""A property: a name, a sentence, and a function that finds it broken."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from framework.errors import PluginError
from framework.frames import innermost_frame
from framework.testing.subject import Subject


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one property of one plugin."""

    broken: str | None = None
    """What was seen and how to mend it; None where the property holds."""
    note: str | None = None
    """What there is to know besides, such as a cost."""


@dataclass(frozen=True, slots=True)
class Property:
    """Something that is true of every right plugin of a kind.

    Its function raises `PluginError` where it finds it broken, and may give a note. The function's name is the
    property's, and its docstring says what holds.
    """

    check: Callable[[Any], str | None]
    quick: bool = False
    """Whether it takes milliseconds at the sizes of a real model, so that every row of a table can afford it."""
    founding: bool = False
    """Whether those after it mean nothing where it is broken."""

    @property
    def name(self) -> str:
        return self.check.__name__

    @property
    def says(self) -> str:
        """What holds, in a sentence."""
        return " ".join(inspect.getdoc(self.check).partition("\n\n")[0].split())  # type: ignore[union-attr]

    def of(self, subject: Subject) -> Outcome:
        """Try it on a plugin; whatever that raises is its failure. Leaves torch's own generator as it was."""
        try:
            with torch.random.fork_rng(devices=[]), _one_thread():
                return Outcome(note=self.check(subject))
        except PluginError as error:
            return Outcome(broken=str(error))
        except (Exception, SystemExit) as error:  # whatever a plugin raises
            said = str(error).partition("\n")[0]  # torch goes on with frames of its own
            where = _place(error, inspect.getfile(subject.plugin))
            return Outcome(broken=f"fails on {subject.tried_on}: {type(error).__name__}: {said} ({where})")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small input gains nothing by several threads, which wait for each other where other programs run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _place(error: BaseException, plugin_file: str) -> str:
    """The innermost line of the plugin's own file; of whatever is no library where it is not in the plugin."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == plugin_file]
    where = own[-1] if own else innermost_frame(error)
    return f"{where.filename}:{where.lineno}"
