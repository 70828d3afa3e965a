"""What is asked of runs and phases: where operators stand, which runs there were, their events, their logs.

Everything here only reads, on a thread of the desk's.  A log is read by lines from any place in it: where every
thousandth line begins is remembered, so the end of a log of gigabytes is as near as its beginning.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from opdev.lsp import fields
from opdev.lsp.running.roots import number, refusal, root_of, run_of
from opdev.lsp.uris import to_uri
from opdev.runs import store
from opdev.runs.lines import text_of
from opdev.runs.reader import Reader
from opdev.runs.store import LOGS, Run

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import (
        OperatorStatus,
        PhaseState,
        PhaseStatusResult,
        Place,
        RunEventsResult,
        RunHistoryResult,
        RunLogResult,
        RunRecord,
    )
    from opdev.phases.model import Check, Spot

_MOST_RUNS, _RUNS = 500, 50
_MOST_EVENTS, _EVENTS = 2000, 500
_MOST_LINES, _LINES = 10_000, 500
_MOST_BYTES = 1_000_000
_LONGEST = 2000
"""Characters of a line that are shown; editors choke on more."""
_EVERY = 1000
_CHUNK = 1 << 20


class Records:
    """The reading requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session
        self._indexes: dict[str, _Index] = {}

    def phases(self, params: Mapping[str, Any]) -> PhaseStatusResult:
        """``opdev/phaseStatus``."""
        session = self._session
        named = params.get("root") is not None
        roots = [root_of(session, params)] if named else [e.root for e in session.listing.index.entries()]
        made: PhaseStatusResult = {"operators": [], "failed": [], "complete": named or session.listing.complete}
        for root in roots:
            try:
                made["operators"].append(self._phases(root))
            except Exception as error:  # noqa: BLE001 - one operator that cannot be judged does not hide the others
                made["failed"].append({"root": to_uri(root), "problem": f"{type(error).__name__}: {error}"})
        return made

    def _phases(self, root: str) -> OperatorStatus:
        from opdev.phases.status import status
        from opdev.runs.pypto import runnable

        session = self._session
        found = status(session.operators.now(root), session.rulebook.configs)
        lang = session.lang_of("auto")
        gates = {gate.phase.id: gate for gate in found.gates}
        phases: list[PhaseState] = []
        for phase in found.phases:
            gate, why = gates.get(phase.id), found.skipped.get(phase.id)
            state = "skipped" if why is not None else gate.state if gate is not None else "ahead"
            phases.append(
                {
                    "id": phase.id,
                    "title": phase.title[lang],
                    "runs": runnable(found.workflow, phase.id),
                    "state": cast("Any", state),
                    "why": why[lang] if why is not None else "",
                    "checks": [self._check(check, lang) for check in (gate.closed_by if gate is not None else ())],
                }
            )
        return {
            "root": to_uri(root), "name": found.operator, "workflow": cast("Any", found.workflow), "phase": found.at.phase.id, "row": found.at.row,
            "why": found.at.why[lang], "next": found.at.next[lang], "worker": found.at.worker, "complete": found.at.complete,
            "place": self._spot(found.at.place), "phases": phases, "running": self._desk.running(root),
        }  # fmt: skip

    def _check(self, check: Check, lang: str) -> Any:
        return {
            "id": check.id, "title": check.title[lang], "state": check.state, "detail": check.detail[lang],
            "opens": check.opens.get(lang, ""), "place": self._spot(check.place),
        }  # fmt: skip

    def _spot(self, spot: Spot | None) -> Place | None:
        if spot is None:
            return None
        return {"uri": self._session.uri_of(spot.path), "line": max((spot.line or 1) - 1, 0)}

    def history(self, params: Mapping[str, Any]) -> RunHistoryResult:
        """``opdev/runHistory``: newest first."""
        session = self._session
        if params.get("root") is not None:
            roots = [root_of(session, params)]
        else:
            roots = [entry.root for entry in session.listing.index.entries()]
        before = fields.text(params, "before") if params.get("before") is not None else ""
        limit = number(params, "limit", _RUNS, 1, _MOST_RUNS)
        every = sorted(
            ((run, root) for root in roots for run in store.runs(root)), key=lambda pair: pair[0].id, reverse=True
        )
        rest = [pair for pair in every if not before or pair[0].id < before]
        listed: list[RunRecord] = []
        more = False
        for run, root in rest:
            if len(listed) == limit:
                more = True
                break
            record = _record(run, root)
            if record is not None:
                listed.append(record)
        return {"runs": listed, "more": more}

    def events(self, params: Mapping[str, Any]) -> RunEventsResult:
        """``opdev/runEvents``: the events of a run after one."""
        run = run_of(self._session, root_of(self._session, params), params)
        after = number(params, "after", -1, -1, 1 << 60)
        limit = number(params, "limit", _EVENTS, 1, _MOST_EVENTS)
        found = run.status
        rest = (event for event in Reader(run).more() if event.get("seq", 0) > after)
        events = list(islice(rest, limit))
        return {
            "events": events,
            "state": found.now if found is not None else "lost",
            "more": next(rest, None) is not None,
        }

    def log(self, params: Mapping[str, Any]) -> RunLogResult:
        """``opdev/runLog``: lines of a log, or which logs there are."""
        run = run_of(self._session, root_of(self._session, params), params)
        folder = f"{run.folder}/{LOGS}"
        try:
            names = sorted(n for n in os.listdir(folder) if n.endswith(".log"))
        except OSError:
            names = []
        made: RunLogResult = {
            "logs": [{"name": n, "bytes": os.path.getsize(f"{folder}/{n}")} for n in names], "lines": [], "line": 0, "total": 0,
            "bytes": 0, "cut": False, "partial": False,
        }  # fmt: skip
        if params.get("log") is None:
            return made
        name = fields.text(params, "log")
        if name not in names:
            raise refusal(self._session, "no-log", run=run.id, log=name)
        index = self._index(f"{folder}/{name}")
        index.grow()
        made["total"], made["bytes"] = index.total, index.size
        if params.get("start") is not None:
            start = number(params, "start", 0, 0, index.size)
            end = number(params, "end", index.size, start, min(index.size, start + _MOST_BYTES))
            raw, made["line"] = index.read(start, end), index.line_at(start)
            lines = BytesIO(raw).readlines()
        else:
            line = number(params, "line", 0, -(1 << 60), 1 << 60)
            count = number(params, "count", _LINES, 1, _MOST_LINES)
            first = max(0, index.total + line) if line < 0 else min(line, index.total)
            made["line"], lines = first, index.lines(first, count)
        made["partial"] = bool(lines) and not lines[-1].endswith(b"\n")
        texts = [text_of(raw.rstrip(b"\r\n")) for raw in lines]
        made["cut"] = any(len(text) > _LONGEST for text in texts)
        made["lines"] = [text[:_LONGEST] for text in texts]
        return made

    def _index(self, path: str) -> _Index:
        found = self._indexes.pop(path, None) or _Index(path)
        self._indexes[path] = found
        while len(self._indexes) > 32:
            del self._indexes[next(iter(self._indexes))]
        return found


def _record(run: Run, root: str) -> RunRecord | None:
    found = run.status
    if found is None:
        return None
    return {
        "run": run.id, "root": to_uri(root), "operator": found.operator, "state": found.now, "request": found.request,
        "phase": found.phase, "step": found.step, "executor": found.executor, "backend": found.backend, "pes": found.n_pes,
        "started": found.started, "ended": found.ended, "message": found.message, "resumeOf": found.resume_of,
    }  # fmt: skip


class _Index:
    """Where lines of a growing file begin, every thousandth of them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._starts = [0]
        self._ends = 0
        """Line ends up to ``size``."""
        self.size = 0
        self._last = b"\n"

    @property
    def total(self) -> int:
        """Lines there are, the unfinished last one too."""
        return self._ends + (0 if self._last == b"\n" else 1)

    def grow(self) -> None:
        """Take in what was appended."""
        with open(self._path, "rb") as stream:
            stream.seek(self.size)
            while data := stream.read(_CHUNK):
                at = -1
                count = data.count(b"\n")
                need = len(self._starts) * _EVERY - self._ends
                if count >= need:
                    # Only chunks in which a remembered line begins are gone through.
                    done = 0
                    while (at := data.find(b"\n", at + 1)) >= 0:
                        done += 1
                        if (self._ends + done) % _EVERY == 0:
                            self._starts.append(self.size + at + 1)
                self._ends += count
                self.size += len(data)
                self._last = data[-1:]

    def read(self, start: int, end: int) -> bytes:
        with open(self._path, "rb") as stream:
            stream.seek(start)
            return stream.read(end - start)

    def line_at(self, offset: int) -> int:
        """The number of the line an offset is in."""
        from bisect import bisect_right

        known = bisect_right(self._starts, offset) - 1
        return known * _EVERY + self.read(self._starts[known], offset).count(b"\n")

    def lines(self, first: int, count: int) -> list[bytes]:
        """``count`` lines with their ends from number ``first`` on, a megabyte at most; nothing behind ``size``."""
        found: list[bytes] = []
        known = min(first // _EVERY, len(self._starts) - 1)
        left = self.size - self._starts[known]
        with open(self._path, "rb") as stream:
            stream.seek(self._starts[known])
            size = 0
            for at, line in enumerate(stream, known * _EVERY):
                if left <= 0:
                    break
                if at >= first:
                    # What was written since is not counted yet: the line may be longer by now.
                    found.append(line[:left])
                    size += len(line)
                if len(found) >= count or size > _MOST_BYTES:
                    break
                left -= len(line)
        return found
