"""The measurements of runs: from a run's events and its raw logs, never from what somebody wrote down.

A log's backend, PEs, dtype and elements are what the runner recorded.  A step that did not pass measured something, and
nobody knows what: its figures are shown as a problem and judged by nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from opdev.design.derived import Collective, collective_of, telling_name
from opdev.design.dtypes import fold_dtype
from opdev.facts.cases import Case, matrix_of
from opdev.perf.document import Aim
from opdev.perf.formulas import FLOOR_PCT, TARGET_PCT
from opdev.perf.model import Log, Problem
from opdev.perf.reader import LARGEST, read
from opdev.perf.verdict import target_pct
from opdev.phases.evidence import Evidence
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Ledger
from opdev.rounds.ledger import read as read_ledger
from opdev.runs.events import Event
from opdev.runs.reader import replay
from opdev.runs.store import LOGS, Run, runs

_NEWEST = 50
"""Runs that are looked through for measurements."""


@dataclass(frozen=True, slots=True)
class Task:
    """One measuring step of a run."""

    run: Run
    id: str
    backend: str
    result: str
    n_pes: int | None
    dtype: str
    count: int | None


def tasks(run: Run, events: Iterable[Event] | None = None) -> Iterator[Task]:
    """The steps of a run that measured something, in order."""
    started: dict[str, Event] = {}
    measured: set[str] = set()
    for event in replay(run) if events is None else events:
        kind, name = event["type"], event.get("task")
        if not isinstance(name, str):
            continue
        if kind == "step-started":
            started[name] = event
        elif kind in ("perf", "profile"):
            measured.add(name)
        elif kind == "step-ended" and name in measured and name in started:
            asked = started[name].get("measures")
            said: Mapping[str, Any] = asked if isinstance(asked, dict) else {}
            pes, dtype, count = said.get("n_pes", event.get("n_pes")), said.get("dtype"), said.get("count")
            yield Task(
                run, name, "sim" if event.get("backend") == "sim" else "hardware", str(event.get("result")), _whole(pes),
                dtype if isinstance(dtype, str) else "", _whole(count),
            )  # fmt: skip


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def logs_of(run: Run, kind: Collective | None = None, events: Iterable[Event] | None = None) -> list[Log]:
    """What a run measured; empty where it measured nothing, or its logs were removed."""
    found = []
    for task in tasks(run, events):
        for stream in ("stdout", "stderr"):
            log = _log(task, f"{task.id}.{stream}.log", kind)
            if log is not None:
                found.append(log)
    return found


def _log(task: Task, name: str, kind: Collective | None) -> Log | None:
    try:
        with open(f"{task.run.folder}/{LOGS}/{name}", "rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError:
        return None
    log = read(
        data, f"{LOGS}/{name}", run=task.run.id, backend="sim" if task.backend == "sim" else "hardware", n_pes=task.n_pes,
        dtype=fold_dtype(task.dtype) or task.dtype, count=task.count, kind=kind,
    )  # fmt: skip
    if not log.measurements and not log.tables and not log.problems:
        return None
    if task.result == "pass":
        return log
    line = log.measurements[0].line if log.measurements else 1
    failed = Problem("step-failed", "error", log.name, line, {"result": task.result}, task.run.id)
    return replace(
        log, problems=(failed, *log.problems), measurements=tuple(replace(m, usable=False) for m in log.measurements)
    )


def latest(root: str, kind: Collective | None = None, of: Callable[[Run], bool] = lambda _: True) -> list[Log]:
    """The newest measurement of everything that an operator's runs measured: a log for each thing, not all ever made.

    ``of`` says whether a run measured the code that is meant; of any other only what the baseline did counts.
    """
    found: dict[tuple[object, ...], list[Log]] = {}
    every = runs(root)
    meant = {run.id for run in every if of(run)}
    known = {run.id for run in [r for r in every if r.id in meant][-_NEWEST:]} | {run.id for run in every[-_NEWEST:]}
    for run in reversed([r for r in every if r.id in known]):
        mine: dict[tuple[object, ...], list[Log]] = {}
        for log in logs_of(run, kind):
            sides = tuple(sorted({m.side for m in log.measurements}))
            if run.id not in meant and sides != ("baseline",):
                continue
            mine.setdefault((log.backend, sides, log.n_pes, log.dtype, log.count), []).append(log)
        for key, logs in mine.items():
            found.setdefault(key, logs)
    return [log for logs in reversed(found.values()) for log in logs]


def of_round_0(root: str) -> Callable[[Run], bool]:
    """Says of a run whether it was before the first round: what it measured is Round 0's.  Any is where there is no round."""
    first = next((r for r in _ledger(root).rounds if r.number > 0), None)
    return lambda run: first is None or _when(run) < first.started


def of_present(root: str) -> Callable[[Run], bool]:
    """Says of a run whether it measured what the operator is now: not while a round lay open that was taken back, or still is."""
    gone = [
        (r.started, r.ended if r.state == "reverted" else None)
        for r in _ledger(root).rounds
        if r.state in ("reverted", "open")
    ]
    return lambda run: (
        not any(start <= (moment := _when(run)) and (end is None or moment <= end) for start, end in gone)
    )


def _ledger(root: str) -> Ledger:
    try:
        return read_ledger(root)
    except Refused:
        return Ledger()


def _when(run: Run) -> float:
    """When a run was started; what cannot be told was not of now."""
    found = run.status
    return found.started if found is not None else 0.0


def kind_of(evidence: Evidence) -> Collective | None:
    """What the operator does, by its name or by the HCCL call that does the same."""
    design = evidence.design
    baseline = design.text("performance.baseline").strip() if design is not None else ""
    return collective_of(telling_name(evidence.name, baseline))


def measurable(evidence: Evidence) -> list[Case]:
    """The cases of the matrix whose elements are known and that are there for their size, not for an edge."""
    matrix = matrix_of(evidence.project)
    cases = matrix.cases if matrix is not None else ()
    return [c for c in cases if c.elements is not None and c.category not in ("boundary", "stress")]


def aim_of(evidence: Evidence) -> Aim:
    """What the design asks of the figures, and the names of its cases."""
    design = evidence.design
    baseline = design.text("performance.baseline").strip().lower() if design is not None else ""
    target = design.text("performance.baseline_target") if design is not None else ""
    cases: dict[tuple[int | None, str, int | None], tuple[str, str]] = {}
    for case in measurable(evidence):
        key = (case.n_pes, fold_dtype(case.dtype or "") or "", case.elements)
        cases.setdefault(key, (case.id, str(case.tier or "")))

    def case_of(n_pes: int | None, dtype: str, count: int | None) -> tuple[str, str] | None:
        found = cases.get((n_pes, dtype, count)) if count else None
        return found if found is not None and found[1] in ("XS", "S", "M", "L") else None

    alone = baseline == "metric_only"
    known: bool | None = None if baseline in ("", "pending") else not alone
    return Aim(
        TARGET_PCT if alone else target_pct(target), target_pct(target) if alone and "%" in target else FLOOR_PCT, known,
        case_of,
    )  # fmt: skip


def named(path: str) -> str:
    """A log's path as short as it can be named from here."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path
    return path if relative.startswith("..") else relative
