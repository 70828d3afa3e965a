"""What earlier runs left in ``.opdev/runs/<run>/events.jsonl``: the best evidence there is, never required.

A line counts when it is a JSON object with

    ``step``     build, smoke, matrix, perf, baseline, torch (anything else is passed over)
    ``result``   pass, fail, blocked
    ``time``     when it ended: seconds since 1970, or ISO 8601 (without a zone: UTC); the file's own time else
    ``n_pes``    PE count, where the step has one
    ``sources``  {path below the operator: SHA-256 of the file as it was run}; with it a result holds for
                 exactly those bytes and file times do not matter
    ``seconds``  how long it took, where that is known
    ``backend``  ``sim`` for the CPU stand-in: it shows that a build or a case passes, and is no measurement at all
    ``message``  the first valid error of a failed step; ``log`` the file it is in, below the run's folder
    ``phase``, ``class``, ``route``  of a failure: where it came up, what it is, which phase mends it (or ``here``)

Whatever else a line holds is the runner's.  Lines that are not that are passed over: a runner may have died
in the middle of one.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

STEPS = frozenset({"build", "smoke", "matrix", "perf", "baseline", "torch"})
MEASURED = frozenset({"perf", "baseline", "torch"})
"""Steps that speak for hardware only."""
RESULTS = frozenset({"pass", "fail", "blocked"})
_MOST_RUNS = 200
_MOST_BYTES = 4_000_000
_MOST_LINE = 200_000


@dataclass(frozen=True, slots=True)
class Record:
    """One finished step of one run; ``line`` is 1-based in ``path``."""

    step: str
    result: str
    time: float
    path: str
    line: int
    n_pes: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    backend: str = ""
    phase: str = ""
    cls: str = ""
    route: str = ""
    seconds: float | None = None


def read(root: str) -> list[Record]:
    """The records below an operator's ``.opdev/runs``, oldest first.  Of many runs the newest are read."""
    found: list[Record] = []
    for path, stamp in _newest(f"{root}/.opdev/runs"):
        found += _records(path, stamp)
    return sorted(found, key=lambda record: (record.time, record.path, record.line))


def last_backend(root: str) -> str:
    """Where the operator's last run ran: ``npu``, ``sim``, or nothing where there was none."""
    folder = f"{root}/.opdev/runs"
    try:
        # A run's id begins with its time.
        last = max((name for name in os.listdir(folder) if name[:1].isdigit()), default="")
        with open(f"{folder}/{last}/status.json", "rb") as stream:
            value = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return ""
    backend = value.get("backend") if isinstance(value, dict) else None
    return backend if isinstance(backend, str) else ""


def _newest(folder: str) -> list[tuple[str, float]]:
    runs: list[tuple[float, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}/events.jsonl"
                try:
                    runs.append((os.stat(path).st_mtime, path))
                except (OSError, ValueError):
                    continue
    except OSError:
        return []
    return [(path, stamp) for stamp, path in sorted(runs, reverse=True)[:_MOST_RUNS]]


def _records(path: str, stamp: float) -> Iterator[Record]:
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES)
    except OSError:
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if b'"step"' in line and len(line) < _MOST_LINE:
            record = _record(line, path, number, stamp)
            if record is not None:
                yield record


def _record(line: bytes, path: str, number: int, stamp: float) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    step, result = value.get("step"), value.get("result")
    if not isinstance(step, str) or not isinstance(result, str) or step not in STEPS or result not in RESULTS:
        return None
    backend = value.get("backend") if isinstance(value.get("backend"), str) else ""
    if backend == "sim" and step in MEASURED:
        return None
    pes, sources, message = value.get("n_pes"), value.get("sources"), value.get("message")
    return Record(
        step=step,
        result=result,
        time=_time(value.get("time"), stamp),
        path=path,
        line=number,
        n_pes=pes if isinstance(pes, int) and not isinstance(pes, bool) else None,
        sources=_digests(sources),
        message=message[:2000] if isinstance(message, str) else "",
        backend="sim" if backend == "sim" else "",
        phase=_word(value.get("phase")),
        cls=_word(value.get("class")),
        route=_word(value.get("route")),
        seconds=_seconds(value.get("seconds")),
    )


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _word(value: object) -> str:
    return value[:20] if isinstance(value, str) else ""


def _digests(sources: object) -> dict[str, str]:
    if not isinstance(sources, dict):
        return {}
    return {k: v.lower() for k, v in sources.items() if isinstance(k, str) and isinstance(v, str)}


def _time(value: object, stamp: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            seconds = float(value)
        except OverflowError:
            return stamp
        return seconds if math.isfinite(seconds) else stamp
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
            return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
        except (ValueError, OverflowError, OSError):
            return stamp
    return stamp
