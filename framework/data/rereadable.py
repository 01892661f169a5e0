"""Text that is read from its file each time anew, so that none of it has to stay in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T", covariant=True)


class Rereadable(Iterable[T]):
    """An iterable that begins again with each iteration, unlike an iterator."""

    def __init__(self, read: Callable[[], Iterator[T]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[T]:
        return self._read()
