"""Stops calls to what does not answer, for pauses that grow, so that nobody waits for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

FIRST_PAUSE = 5.0
LONGEST_PAUSE = 300.0


class Breaker:
    """Closed while all is well; open for a pause, in seconds, after each failure in a row."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pause = 0.0
        self._opened_at = clock()

    @property
    def is_open(self) -> bool:
        return self._clock() < self._opened_at + self._pause

    @property
    def has_tripped(self) -> bool:
        """Whether the last call failed."""
        return self._pause > 0

    def trip(self) -> None:
        self._pause = min(max(FIRST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
        self._opened_at = self._clock()

    def reset(self) -> None:
        self._pause = 0.0

    def let_one_through(self) -> None:
        """Try once more at once; a failure then lengthens the pause all the same."""
        self._opened_at = -math.inf
