"""What the precision engine says of the outputs that a matrix left, told beside what the operator's own checker said.

The outputs of one case are there when a matrix ends: each writes over those of the one before.  They are judged by a
process of its own within a bounded time; where there are none, or they are older than the matrix, that is told, and no
verdict.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from opdev import ourselves
from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs.execute import Command, Outcome, Stop, execute
from opdev.runs.reader import replay
from opdev.runs.store import Run

_PATIENCE = 120.0
"""Seconds for one judgement: gigabytes of outputs take a quarter of that."""
_LONGEST = 16_000_000


def judged(folder: str, root: str, stop: Stop) -> dict[str, Any] | None:
    """The fields of a ``precision-summary`` event of the run in ``folder``; None where no matrix ran in it."""
    last = _last(Run(os.path.basename(folder), folder))
    if last is None or stop.asked:
        return None
    task, since, case, said = last
    found = _summary(root, since, stop)
    document = found["document"]
    verdict = document["verdict"] if document is not None else None
    agrees = None if said not in ("PASS", "FAIL") or verdict not in ("pass", "fail") else (said == "PASS") == (verdict == "pass")  # fmt: skip
    return {"task": task, "case": case, "said": said, "agrees": agrees, **found}


def _last(run: Run) -> tuple[str, float, str | None, str | None] | None:
    """(task, when it began, its last case, what was said of that) of the last matrix of a run."""
    begun: dict[str, float] = {}
    cases: dict[str, tuple[str | None, str | None]] = {}
    task = None
    for event in replay(run):
        name = event.get("task")
        if not isinstance(name, str):
            continue
        if event["type"] == "step-started":
            begun[name] = event["time"]
        elif event["type"] == "case":
            cases[name] = event.get("case"), event.get("verdict")
        elif event["type"] == "step-ended" and event.get("step") == "matrix":
            task = name
    if task is None or task not in begun:
        return None
    return task, begun[task], *cases.get(task, (None, None))


def _summary(root: str, since: float, stop: Stop) -> dict[str, Any]:
    said: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}

    def output(stream: str, data: bytes) -> None:
        room = _LONGEST - len(said[stream])
        said[stream].extend(data[:room])

    argv = ourselves.argv("opdev.precision.summary", [root, repr(since)])
    outcome = execute(Command(argv, root, dict(os.environ), _PATIENCE), output, stop)
    try:
        found = json.loads(said["stdout"]) if outcome.good else None
    except ValueError:
        found = None
    if isinstance(found, Mapping) and {"document", "why"} <= found.keys():
        return dict(found)
    return {"document": None, "why": _why(outcome, bytes(said["stderr"]))}


def _why(outcome: Outcome, err: bytes) -> Text:
    if outcome.stopped:
        return both("停止了，没有判断", "stopped, not judged")
    if outcome.timed_out:
        return both(
            f"{_PATIENCE:g} 秒内没有判断完：opdev precision", f"not done within {_PATIENCE:g} s: `opdev precision`"
        )
    last = (err.decode("utf-8", "replace").strip().splitlines() or [outcome.failed or f"exit {outcome.exit}"])[-1][:300]
    return both(f"没有判断成：{last}", f"could not be judged: {last}")
