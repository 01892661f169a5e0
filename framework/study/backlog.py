"""What the study has yet to be told: a study that fails stops no training."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from framework.study.mirror import StudyMirror, in_short

_log = logging.getLogger(__name__)
PAUSE = 30.0
"""Seconds between tries of a study that fails: each may keep the coordinator waiting for as long as a lock does."""


class Backlog:
    """Tells a study what happens, in order, and keeps what it could not be told. Nothing here raises."""

    def __init__(self, study: StudyMirror, clock: Callable[[], float] = time.monotonic) -> None:
        self._study = study
        self._clock = clock
        self._untold: deque[Callable[[], None]] = deque()
        self._failed_at: float | None = None

    def tell(self, what: Callable[[], None]) -> None:
        """Make a call of the study's, after those that still wait; it is made again until it succeeds."""
        self._untold.append(what)
        self.catch_up()

    def catch_up(self) -> None:
        """Tell what waits, unless the study has just failed."""
        if self._failed_at is None or self._clock() >= self._failed_at + PAUSE:
            self._try()

    def close(self) -> bool:
        """Try one last time, pause or not, and say whether the study is up to date."""
        self._try()
        if self._untold:
            _log.warning(
                "the Optuna study at %s is behind the trials' folders: `ablate sync` brings it up to date",
                self._study.shown,
            )
        return not self._untold

    def _try(self) -> None:
        if not self._untold:
            return
        try:
            if self._failed_at is not None:
                self._study.reopen()  # a call that failed may have arrived all the same
            while self._untold:
                self._untold[0]()
                self._untold.popleft()
        except Exception as error:  # Optuna's, SQLAlchemy's, a driver's: whatever a study in trouble raises
            if self._failed_at is None:
                _log.warning(
                    "the Optuna study at %s fails (%s): training goes on, and what is missing is told once it answers",
                    self._study.shown,
                    in_short(error),
                )
            _log.debug("Optuna's error", exc_info=error)
            self._failed_at = self._clock()
        else:
            if self._failed_at is not None:
                _log.warning("the Optuna study at %s is up to date again", self._study.shown)
            self._failed_at = None
