"""The curves of a trial: a line of JSON per point, appended while it trains and read by whoever watches."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import TypeAdapter, ValidationError

from framework.errors import TrialError
from framework.files import first_problem

_LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class Point:
    """Values at one step of a curve, by full name (`train/loss`), and when they were written."""

    step: int
    time: float
    values: Mapping[str, float]


_POINT = TypeAdapter(Point)


class Curves:
    """A file of points. A line that a kill has torn is no point."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def open(self) -> Iterator[CurveWriter]:
        """Append to the curves; a torn last line is cut off first. What was appended is on disk afterwards."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            file.seek(0)
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)
            writer = CurveWriter(file)
            yield writer
            writer.sync()

    def points(self) -> list[Point]:
        """All points in order of steps. Steps run again after a kill count once, as last written.

        Raises `TrialError` for a line that is no point.
        """
        by_step: dict[int, Point] = {}
        for point in self.follow().more():
            earlier = by_step.get(point.step)
            by_step[point.step] = Point(point.step, point.time, {**(earlier.values if earlier else {}), **point.values})
        return [by_step[step] for step in sorted(by_step)]

    def last(self) -> Point | None:
        """The newest point, from the end of the file alone: cheap however long the curves are."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST_LINE))
                lines = file.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return None
        try:
            return _POINT.validate_json(lines[-1], strict=True) if lines else None
        except ValidationError:
            return None  # one line longer than was read, or damaged, which whoever reads them all is told

    def follow(self) -> CurveReader:
        """Read the curves from the start, and then as they grow."""
        return CurveReader(self._path)


class CurveReader:
    """Reads every line of a growing file once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._lines = 0

    def more(self) -> list[Point]:
        """The points that were added since the last call; a line that is not whole yet waits.

        Raises `TrialError` for a line that is no point.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                content = file.read()
        except FileNotFoundError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        points = [self._point(line, number) for number, line in enumerate(whole.split(b"\n")[:-1], self._lines + 1)]
        self._read += len(whole)
        self._lines += len(points)
        return points

    def _point(self, line: bytes, number: int) -> Point:
        try:
            return _POINT.validate_json(line, strict=True)
        except ValidationError as error:
            reason = first_problem(error)
            raise TrialError(
                f"line {number} of {self._path} is damaged: {reason}. Delete this line: no more than its point is lost"
            ) from error


class CurveWriter:
    """Appends points to a file that is open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def append(self, step: int, values: Mapping[str, float]) -> None:
        """Add a point, stamped with the time. Raises `ValueError` for a value that is not finite."""
        line = json.dumps({"step": step, "time": round(time.time(), 3), "values": dict(values)}, allow_nan=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def sync(self) -> None:
        """Put what was appended on disk, through a power cut too: so before whatever must not be ahead of it."""
        os.fsync(self._file.fileno())
