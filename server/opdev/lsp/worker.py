"""The one thread that lints.

It does at once what matters to the person typing; of a document only the newest version waits;
what is in the background steps aside between two rules when something more urgent comes.
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Callable, Hashable
from enum import IntEnum

from opdev.lsp.collecting import LATER, SOON, Collector
from opdev.rules.engine import Cancelled
from opdev.rules.watchdog import CheckTimeout

log = logging.getLogger("opdev.lsp.worker")

Stop = Callable[[], bool]
Work = Callable[[Stop], None]


class Priority(IntEnum):
    """Smaller goes first."""

    DOCUMENT = 0
    """A document's own rules, after an edit."""
    OPERATOR = 1
    """Cross-file rules of open documents."""
    FILE = 2
    """A file that is not open and changed."""
    SCAN = 3
    """The rest of the workspace."""


class _Job:
    __slots__ = ("again", "key", "patient", "priority", "stop", "work")

    def __init__(self, key: Hashable, priority: Priority, work: Work) -> None:
        self.key, self.priority, self.work = key, priority, work
        self.stop = False
        self.again = False
        """Stepped aside for something urgent: to be done again."""
        self.patient = False
        """The run before it was given up for a newer version; this one may finish."""


class Worker:
    """Runs jobs by priority on a daemon thread; a job that fails loses only itself."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: dict[Hashable, _Job] = {}
        self._heap: list[tuple[int, int, _Job]] = []
        self._count = 0
        self._running: _Job | None = None
        self._closed = False
        self._collector = Collector()
        self._thread = threading.Thread(target=self._run, name="opdev-lsp-lint", daemon=True)
        self._thread.start()

    def submit(self, key: Hashable, priority: Priority, work: Work) -> None:
        """Do ``work``; it replaces what waits under the same key, and supersedes what runs under it."""
        job = _Job(key, priority, work)
        with self._lock:
            if self._closed:
                return
            before = self._waiting.get(key)
            if before is not None:
                job.patient = before.patient
            running = self._running
            if running is not None and not running.stop:
                if running.key == key and not running.patient:
                    running.stop = job.patient = True
                elif priority < running.priority:
                    running.stop = running.again = True
            self._push(job)
            self._lock.notify()

    def forget(self, key: Hashable) -> None:
        """Nobody wants what waits or runs under ``key``."""
        with self._lock:
            self._waiting.pop(key, None)
            if self._running is not None and self._running.key == key:
                self._running.stop, self._running.again = True, False

    def close(self) -> None:
        """Start nothing more, and ask what runs to stop."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            if self._running is not None:
                self._running.stop, self._running.again = True, False
            self._lock.notify()

    def _push(self, job: _Job) -> None:
        self._waiting[job.key] = job
        self._count += 1
        heapq.heappush(self._heap, (job.priority, self._count, job))

    def _next(self) -> _Job | None:
        pauses = [(SOON, self._collector.in_pause), (LATER, self._collector.at_rest)]
        while True:
            with self._lock:
                while True:
                    while self._heap:
                        _, _, job = heapq.heappop(self._heap)
                        if self._waiting.get(job.key) is job:
                            del self._waiting[job.key]
                            self._running = job
                            return job
                    if self._closed:
                        return None
                    if not self._lock.wait(pauses[0][0] if pauses else None) and not self._heap and pauses:
                        break
            pauses.pop(0)[1]()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job.work(lambda job=job: job.stop)  # type: ignore[misc]  # mypy takes the default for a parameter
            except Cancelled:
                pass
            except (Exception, CheckTimeout):
                log.exception("%s failed", job.key)
            finally:
                with self._lock:
                    self._running = None
                    if job.stop and job.again and job.key not in self._waiting and not self._closed:
                        fresh = _Job(job.key, job.priority, job.work)
                        self._push(fresh)
            self._collector.after_work()
