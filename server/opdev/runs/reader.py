"""Reading a run: from the beginning, and on while it grows.

A finished run and a live one are read by the same code, so a replay shows what the live view showed.  A last line
without its end is kept back: it is the one a runner was killed in, or one that is being written.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator

from opdev.runs.events import Event
from opdev.runs.status import ACTIVE
from opdev.runs.store import LOGS, Run

_STEP = 1 << 20
_POLL = 0.03


class Reader:
    """The events of a run, in order; call ``more`` again for those that came since."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.damaged = 0
        """Lines that are no event."""
        self._at = 0
        self._rest = b""

    def more(self) -> Iterator[Event]:
        """The events that are complete by now."""
        try:
            handle = os.open(self.run.events, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            while data := os.pread(handle, _STEP, self._at):
                self._at += len(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    event = _event(line)
                    if event is not None:
                        yield event
                    else:
                        self.damaged += 1
        finally:
            os.close(handle)

    def text(self, event: Event) -> bytes:
        """The raw bytes an ``output`` event speaks of; shorter where the log was removed."""
        name = os.path.basename(str(event.get("log", "")))
        try:
            with open(f"{self.run.folder}/{LOGS}/{name}", "rb") as stream:
                stream.seek(int(event["start"]))
                return stream.read(int(event["end"]) - int(event["start"]))
        except (OSError, KeyError, ValueError):
            return b""


def _event(line: bytes) -> Event | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def replay(run: Run) -> list[Event]:
    """All events of a run as far as it got."""
    return list(Reader(run).more())


def follow(run: Run, *, until: Callable[[], bool] | None = None, poll: float = _POLL) -> Iterator[Event]:
    """The events of a run until it has ended, was lost, or ``until`` says so.

    After the last event of a lost run nothing comes: ``run.status.now`` tells.
    """
    reader = Reader(run)
    while True:
        # Asked before reading: what was written until then is read after it.
        found = run.status
        over = (found is not None and found.now not in ACTIVE) or (until is not None and until())
        ended = False
        for event in reader.more():
            yield event
            ended = ended or event["type"] == "run-ended"
        if ended or over:
            return
        time.sleep(poll)
