"""Where runs are kept: ``<operator>/.opdev/runs/<id>/`` with ``events.jsonl``, ``status.json``, ``plan.json``, ``logs/``.

Old runs are removed by count, size and age, never one that is active, never the newest, and
none that a round was measured in.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opdev.rounds.errors import Refused
from opdev.rounds.ledger import read
from opdev.runs import process, status
from opdev.runs.ids import is_id, new_id
from opdev.runs.status import ACTIVE, Status

EVENTS, PLAN, LOGS = "events.jsonl", "plan.json", "logs"
_BELOW = ".opdev/runs"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is kept of an operator's runs: number, bytes, days.  0 is no limit."""

    runs: int = 50
    size: int = 2_000_000_000
    days: float = 30.0


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk: its id and its folder (absolute)."""

    id: str
    folder: str

    @property
    def events(self) -> str:
        return f"{self.folder}/{EVENTS}"

    @property
    def status(self) -> Status | None:
        return status.read(self.folder)

    @property
    def plan(self) -> Mapping[str, Any]:
        """What was asked of it; empty where that cannot be read."""
        try:
            with open(f"{self.folder}/{PLAN}", "rb") as stream:
                value = json.load(stream)
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def create(root: str, plan: Mapping[str, Any]) -> Run:
    """A new run of the operator at ``root`` with its folder; OSError where that cannot be written."""
    base = f"{root}/{_BELOW}"
    os.makedirs(base, exist_ok=True)
    ignore = f"{root}/.opdev/.gitignore"
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="utf-8") as stream:
            stream.write("*\n")
    while True:
        run = Run(name := new_id(), f"{base}/{name}")
        try:
            os.mkdir(run.folder)
        except FileExistsError:
            continue
        os.mkdir(f"{run.folder}/{LOGS}")
        with open(f"{run.folder}/{PLAN}", "w", encoding="utf-8") as stream:
            json.dump(dict(plan), stream, ensure_ascii=False, indent=1)
        return run


def runs(root: str) -> list[Run]:
    """An operator's runs, oldest first."""
    base = f"{root}/{_BELOW}"
    try:
        names = os.listdir(base)
    except OSError:
        return []
    return [Run(name, f"{base}/{name}") for name in sorted(names) if is_id(name)]


def find(roots: Iterable[str], word: str) -> list[Run]:
    """The runs that a word means: an id, the unique part of one, or ``last``."""
    every = sorted((run for root in roots for run in runs(root)), key=lambda run: run.id)
    if word in ("last", "latest"):
        return every[-1:]
    exact = [run for run in every if run.id == word]
    return exact or [run for run in every if word in run.id]


def active(root: str) -> Iterator[tuple[Run, Status]]:
    """The runs that are going on."""
    for run in runs(root):
        found = run.status
        if found is not None and found.now in ACTIVE:
            yield run, found


def mend(run: Run) -> bool:
    """Write ``lost`` into the status of a run whose runner died, and end what it left; whether it was one."""
    found = run.status
    if found is None or found.state not in ACTIVE or found.now != "lost":
        return False
    process.sweep(run.id)
    status.write(run.folder, found.changed(state="lost", ended=time.time()))
    return True


def prune(root: str, limits: Limits, now: float | None = None) -> list[str]:
    """Remove runs over the limits, apart from those that rounds rest on; the ids of those removed."""
    moment = time.time() if now is None else now
    done: list[tuple[Run, float, int]] = []
    total = 0
    every = runs(root)
    told = _told_of(root)
    for run in every:
        found = run.status
        if run is every[-1] or run.id in told or (found is not None and found.now in ACTIVE):
            continue
        size = _size(run.folder)
        total += size
        done.append((run, os.stat(run.folder).st_mtime, size))
    removed: list[str] = []
    count = len(every)
    for run, written, size in done:
        over = (
            (limits.runs and count > limits.runs)
            or (limits.size and total > limits.size)
            or (limits.days and moment - written > limits.days * 86400)
        )
        if over:
            shutil.rmtree(run.folder, ignore_errors=True)
            removed.append(run.id)
            count, total = count - 1, total - size
    return removed


def _told_of(root: str) -> frozenset[str]:
    """The runs that rounds were measured in: reports name their lines for as long as the rounds are on record."""
    try:
        rounds = read(root).rounds
    except Refused:
        return frozenset()
    return frozenset(
        name
        for one in rounds
        for test in one.retests
        for name in (test.run, test.measured.run if test.measured is not None else "")
    )


def _size(folder: str) -> int:
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{here}/{name}").st_size
            except OSError:
                continue
    return total
