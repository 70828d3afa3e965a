"""The thread that finds runs, whoever started them, and reads what they write.

It polls: folders that containers and other machines write to send no events.  Looking at an operator costs one
``stat``; a run is read in pieces, so a flood of events waits on disk and not in memory, and the editor's own
work goes on between the pieces.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from opdev.lsp.running.findings import Findings
from opdev.lsp.running.placing import Placer
from opdev.lsp.running.tracks import Track
from opdev.lsp.uris import to_uri
from opdev.runs import store
from opdev.runs.reader import Reader
from opdev.runs.status import ACTIVE
from opdev.runs.store import Run

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.runs.events import Event

log = logging.getLogger("opdev.lsp.runs")

_IDLE, _BUSY = 0.5, 0.08
_EVENTS = 300
"""Events of one run in one round."""
_BYTES = 64 * 1024
"""Characters of events in one message, about."""
_BACKLOG = 100
"""Messages that wait for the client; with more nothing is read, it comes later."""
_PAST = 5
"""Ended runs whose findings are looked at when an operator is met."""
_LARGEST = 50_000_000
_FRESH = 2_000_000_000
"""Nanoseconds in which a folder may change twice under one time."""


class Watch:
    """Follows the runs of the operators that ``desk`` names; tells ``desk``, on the loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session
        self._awake = threading.Event()
        self._stopped = False
        self._seen: dict[str, tuple[int, set[str]]] = {}
        self._tracks: dict[str, Track] = {}
        self._findings: dict[str, Findings] = {}
        self._thread = threading.Thread(target=self._run, name="opdev-lsp-runs", daemon=True)

    def start(self) -> None:
        """Begin; from here on the desk is told."""
        self._thread.start()

    def wake(self) -> None:
        """Look now."""
        self._awake.set()

    def stop(self) -> None:
        """Follow nothing any more; runs go on."""
        self._stopped = True
        self._awake.set()

    def _run(self) -> None:
        while not self._stopped:
            try:
                for root in self._desk.roots():
                    self._discover(root)
                for track in list(self._tracks.values()):
                    self._follow(track)
            except Exception:
                log.exception("runs could not be looked at")
            self._awake.wait(_BUSY if self._tracks else _IDLE)
            self._awake.clear()

    def _discover(self, root: str) -> None:
        try:
            stamp = os.stat(f"{root}/.opdev/runs").st_mtime_ns
        except OSError:
            self._seen.setdefault(root, (0, set()))
            return
        known = self._seen.get(root)
        if known is not None and known[0] == stamp and time.time_ns() - stamp > _FRESH:
            return
        ids = set() if known is None else known[1]
        past: list[Run] = []
        settled = True
        for run in store.runs(root):
            if run.id in ids:
                continue
            found = run.status
            if found is None:
                # Its status is the first thing that is written; it comes, or the run never was one.
                settled = False
                continue
            ids.add(run.id)
            after = self._desk.after.get(run.id)
            # An operator may be met late, in a large workspace.
            news = known is not None or after is not None or found.started >= self._session.began
            if news or found.now in ACTIVE:
                self._tracks[run.id] = Track(root, run, found, -1 if after is None else after)
            else:
                past.append(run)
        self._seen[root] = (stamp if settled else 0, ids)
        if past:
            self._look_back(root, past[-_PAST:])

    def _look_back(self, root: str, past: list[Run]) -> None:
        """What the last runs found still stands."""
        findings = self._findings.setdefault(root, Findings())
        for run in past:
            if self._session.trusted:
                store.mend(run)
            try:
                if os.path.getsize(run.events) > _LARGEST:
                    continue
            except OSError:
                continue
            for event in Reader(run).more():
                findings.feed(event)
        self._show(root, findings)

    def _follow(self, track: Track) -> None:
        if self._desk.backlog() > _BACKLOG:
            return
        events = track.more(_EVENTS)
        findings = self._findings.setdefault(track.root, Findings())
        # Events somebody has already still say what is wrong: a new server knows nothing of them.
        changed = [findings.feed(event) for event in events]
        self._tell(track, [event for event in events if event.get("seq", 0) > track.after])
        if any(changed):
            self._show(track.root, findings)
        if track.over:
            del self._tracks[track.run.id]
            if track.brief.state == "lost" and self._session.trusted:
                store.mend(track.run)
        self._session.on_loop(self._desk.told, track.brief, track.over)

    def _show(self, root: str, findings: Findings) -> None:
        placed = Placer(self._session.operators.now(root)).place(findings.all())
        self._session.on_loop(self._desk.board.put, root, placed)

    def _tell(self, track: Track, events: list[Event]) -> None:
        """Send events, in messages of bounded size."""
        if not self._desk.wants_events or not (events or track.over):
            return
        rest: list[Any] = []
        size = 0
        for event in events:
            rest.append(event)
            size += _size(event)
            if size >= _BYTES:
                self._send(track, rest, "running")
                rest, size = [], 0
        if rest or track.over:
            self._send(track, rest, track.brief.state)

    def _send(self, track: Track, events: list[Any], state: str) -> None:
        self._session.notify(
            "opdev/runEvent", {"root": to_uri(track.root), "run": track.run.id, "state": state, "events": events}
        )


def _size(event: Event) -> int:
    return 100 + sum(len(value) if isinstance(value, str) else 20 for value in event.values())
