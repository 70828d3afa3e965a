"""When Python's cycle collector runs: never between a keystroke and its findings.

Every version of a document leaves some thousand objects that refer to one another. Left to itself the collector
would go through them, and now and then through all the server has, in the middle of an edit; so it is switched off
and called when nothing waits, or at the latest when very much has gathered.
"""

from __future__ import annotations

import gc

SOON = 0.1
"""Seconds without work after which the young objects are looked at."""
LATER = 2.0
"""Seconds without work after which everything may be."""
_WORTH = 2_000
_TOO_MANY = 100_000
_EVERY = 10


class Collector:
    """Decides between two jobs and in pauses; used by one thread."""

    def __init__(self) -> None:
        self._young = 0
        self._middle = 0

    @staticmethod
    def take_over() -> None:
        """Keep what is loaded out of every later round, and let nobody but us start one."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def after_work(self) -> None:
        """Bounds what gathers while there is never a pause."""
        if gc.isenabled() or gc.get_count()[0] < _TOO_MANY:
            return
        if self._middle >= _EVERY:
            self._all()
        else:
            self._some(1 if self._young >= _EVERY else 0)

    def in_pause(self) -> None:
        """A short pause: the newest only."""
        if not gc.isenabled() and gc.get_count()[0] >= _WORTH:
            self._some(1 if self._young >= _EVERY else 0)

    def at_rest(self) -> None:
        """A long one."""
        if not gc.isenabled() and self._middle:
            self._all()

    def _some(self, generation: int) -> None:
        gc.collect(generation)
        self._young = 0 if generation else self._young + 1
        self._middle += generation

    def _all(self) -> None:
        gc.collect()
        self._young = self._middle = 0
