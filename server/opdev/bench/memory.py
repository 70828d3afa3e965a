"""How much memory the programs of a case hold, and the end of one that would take the machine from the others.

A limit on address space would not do: what generators are made of (node, Python with torch) reserves far more than it
uses.  So what is resident is summed up over all processes that carry a case's token, now and then.  On other hosts that
is theirs to limit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opdev.pyptosim import wheels
from opdev.runs import process
from opdev.runs.execute import Stop

REASON = "memory"
_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(prefix: str) -> dict[str, int]:
    """Bytes by token, the part after its last ``-`` left out, of processes whose token begins with ``prefix``."""
    word = f"{process.TOKEN}={prefix}".encode()
    found: dict[str, int] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as stream:
                token = next((one for one in stream.read().split(b"\0") if one.startswith(word)), b"")
            if token:
                with open(f"/proc/{name}/statm", "rb") as stream:
                    pages = int(stream.read().split()[1])
                case = token.decode("ascii", "replace").partition("=")[2].rpartition("-")[0]
                found[case] = found.get(case, 0) + pages * _PAGE
        except (OSError, ValueError, IndexError):
            continue
    return found


class Guard:
    """What is watched.  ``megabytes`` is the most one case may hold, 0: three quarters of the machine's memory."""

    def __init__(self, prefix: str, megabytes: int) -> None:
        self.limit = (megabytes or wheels.memory_megabytes()) * 1_000_000
        self._prefix = prefix
        self._lock = threading.Lock()
        self._watched: dict[str, Stop] = {}

    @contextmanager
    def watching(self, token: str, stop: Stop) -> Iterator[None]:
        """Have a case ended, by its own stop, when it holds too much."""
        with self._lock:
            self._watched[token] = stop
        try:
            yield
        finally:
            with self._lock:
                del self._watched[token]

    def look(self) -> None:
        """Look once."""
        if not self._watched:
            return
        found = resident(self._prefix)
        with self._lock:
            for token, stop in self._watched.items():
                if found.get(token, 0) > self.limit and not stop.asked:
                    stop.ask(REASON)
