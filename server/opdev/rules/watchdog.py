"""Stopping a check that does not come back.

Python cannot stop a thread, but it can raise in one: a daemon thread looks at what runs and since
when, and raises CheckTimeout in the thread whose check is over its limit.  The engine turns that
into a finding that names the rule, and goes on.
"""

from __future__ import annotations

import threading
import time


class CheckTimeout(BaseException):
    """Raised inside a check that ran too long; BaseException so that no check swallows it."""


class Watchdog:
    """Watches the checks of any number of threads; ``limit`` is in seconds."""

    def __init__(self, limit: float = 10.0) -> None:
        self.limit = limit
        self._running: dict[int, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, rule: str) -> None:
        """The calling thread starts a check."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="opdev-watchdog", daemon=True)
            self._thread.start()
        self._running[threading.get_ident()] = (rule, time.monotonic())

    def end(self) -> None:
        """The calling thread's check is done.  Nothing is raised in it after this returns."""
        if self._running.pop(threading.get_ident(), None) is None:
            # It is being stopped at this moment: the lock is free when that is done.
            with self._lock:
                pass

    def _watch(self) -> None:
        import ctypes

        while True:
            time.sleep(self.limit / 4)
            now = time.monotonic()
            for ident, (_, began) in list(self._running.items()):
                if now - began > self.limit:
                    with self._lock:
                        if self._running.pop(ident, None) is not None:
                            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                                ctypes.c_ulong(ident), ctypes.py_object(CheckTimeout)
                            )
