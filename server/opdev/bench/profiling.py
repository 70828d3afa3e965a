"""What a run on an NPU took: the reference by the profiler's table of operations, the implementation by its one swimlane trace.

Reading both kinds of files was tried on files of their form; the two stages that write them (``inside/profiling.py``) have not
been run on hardware so far.  In simulation nothing of this is called.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from opdev.bench.children import Ran
from opdev.bench.isolating import Copied
from opdev.bench.model import BenchError, Performance, VerifierSettings
from opdev.bench.texts import both
from opdev.rules.model import Text

_DURATIONS = ("Task Duration(us)", "Duration(us)", "Task Duration", "Duration")
_TYPES, _NAMES = ("OP Type", "Op Type", "Type", "OpType"), ("Op Name", "OP Name", "Name")
_COMPARING = ("isclose", "reduceall")
"""Operations of a comparison, which are not the reference's."""
_TABLES = ("op_summary", "kernel_details")
_TRACE = "merged_swimlane.json"
_MOST_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """``traces`` counts the swimlane traces of one forward: more than one are more than one kernel."""

    performance: Performance
    traces: int = 0


def measured(
    spawn: Callable[..., Ran], case: bytes, own: Callable[[str], str], copy: Copied, implementation: str, seed: int,
    settings: VerifierSettings,
) -> Found:  # fmt: skip
    """Both times and their quotient; what could not be measured is None with the reason."""
    folder, base_files, own_files = own("case"), own("profile"), own("profile")
    with open(f"{folder}/case.py", "wb") as stream:
        stream.write(case)
    words = {"folder": folder, "file": "case.py", "seed": seed, "warmup": settings.warmup, "runs": settings.runs}
    try:
        ran = spawn("profile-base", files=base_files, **words)
        if not ran.good:
            return Found(_failed(ran.stage.message))
        base = base_us(base_files, settings.runs)
        ran = spawn(
            "profile-generated", files=own_files, **words, implementation={"folder": copy.root, "file": implementation, "paths": list(copy.paths)},
        )  # fmt: skip
        if not ran.good:
            return Found(Performance(base_us=base, message=_failed(ran.stage.message).message))
        traces = sorted(_below(own_files, _TRACE))
        if len(traces) != 1:
            return Found(Performance(base_us=base, message=_failed(both("v-p-no-trace")).message), len(traces))
        generated = span_us(traces[0])
    except BenchError as error:
        return Found(_failed(both(error.key, **error.values)))
    speedup = base / generated
    return Found(
        Performance(generated, base, speedup, both("v-p-done", generated=generated, base=base, speedup=speedup)), 1
    )


def _failed(what: Text) -> Performance:
    return Performance(message={lang: both("v-p-failed", what=what[lang])[lang] for lang in ("zh", "en")})


def _below(folder: str, name: str) -> Iterator[str]:
    for top, _, files in os.walk(folder):
        yield from (f"{top}/{file}" for file in files if file == name)


def base_us(folder: str, forwards: int) -> float:
    """Microseconds of the reference's fastest forward, by the tables below ``folder``; BenchError where they do not say it.

    A forward is as many rows as there are for each; where rows do not divide evenly, it is the mean of all.
    """
    tables = [
        f"{top}/{file}" for top, _, files in os.walk(folder) for file in files
        if file.endswith(".csv") and file.startswith(_TABLES)
    ]  # fmt: skip
    if not tables:
        raise BenchError("v-p-no-csv")
    tables.sort(
        key=lambda path: (_TABLES.index(next(t for t in _TABLES if os.path.basename(path).startswith(t))), path)
    )
    durations = list(rows(tables[0]))
    if not durations or forwards < 1:
        raise BenchError("v-p-no-rows", path=tables[0])
    each, rest = divmod(len(durations), forwards)
    if rest or not each:
        return sum(durations) / forwards
    return min(sum(durations[at : at + each]) for at in range(0, len(durations), each))


def rows(path: str) -> Iterator[float]:
    """The durations of a table of operations, in microseconds, without those of comparisons."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as stream:
            reader = csv.DictReader(stream)
            names = [name.strip() for name in reader.fieldnames or () if name]
            column = next((name for name in _DURATIONS if name in names), None)
            if column is None:
                raise BenchError("v-p-no-column", path=path, columns=", ".join(names[:8]) or "-")
            for raw in reader:
                row = {(key or "").strip(): value for key, value in raw.items() if isinstance(value, str)}
                kind = " ".join(row.get(name, "") for name in (*_TYPES, *_NAMES)).lower()
                try:
                    duration = float(row.get(column, ""))
                except ValueError:
                    continue
                if isfinite(duration) and duration > 0 and not any(word in kind for word in _COMPARING):
                    yield duration
    except (OSError, csv.Error) as error:
        raise BenchError("v-p-bad-trace", path=path, why=str(error)) from error


def span_us(path: str) -> float:
    """Microseconds from the first event's begin to the last one's end in a swimlane trace; BenchError where it says none."""
    if os.path.exists(path) and os.path.getsize(path) > _MOST_BYTES:
        raise BenchError("v-p-bad-trace", path=path, why=f"> {_MOST_BYTES} bytes")
    try:
        with open(path, encoding="utf-8") as stream:
            value: Any = json.load(stream)
    except (OSError, ValueError, RecursionError) as error:
        raise BenchError("v-p-bad-trace", path=path, why=str(error)) from error
    events = value.get("traceEvents") if isinstance(value, dict) else value
    begins, ends = [], []
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        begin, took = _number(event.get("ts")), _number(event.get("dur"))
        if begin is not None and took is not None and took >= 0:
            begins.append(begin)
            ends.append(begin + took)
    if not begins or max(ends) <= min(begins):
        raise BenchError("v-p-bad-trace", path=path, why="no X events")
    return max(ends) - min(begins)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and isfinite(value) else None
