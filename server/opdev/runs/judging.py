"""What the precision engine says of the outputs that a matrix left, told beside what the operator's own checker said.

Each case was judged as it ended (``percase``); what is left at the end is what the last of them wrote, as ``opdev precision``
finds it.  It is judged by a process of its own within a bounded time; where there is nothing, or it is older than the matrix,
that is told, and no verdict.  How many of the cases were judged is told with it.
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
from opdev.runs.percase import agrees
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
    task, since, case, said, cases = last
    found = _summary(root, since, stop)
    document = found["document"]
    verdict = document["verdict"] if document is not None else None
    more = {"cases": cases} if cases is not None else {}
    return {"task": task, "case": case, "said": said, "agrees": agrees(said, verdict), **found, **more}


def _last(run: Run) -> tuple[str, float, str | None, str | None, dict[str, Any] | None] | None:
    """(task, when it began, its last case, what was said of that, what was judged of all) of the last matrix of a run."""
    begun: dict[str, float] = {}
    cases: dict[str, tuple[str | None, str | None]] = {}
    judged: dict[str, dict[str, str | None]] = {}
    task = None
    for event in replay(run):
        name = event.get("task")
        if not isinstance(name, str):
            continue
        if event["type"] == "step-started":
            begun[name] = event["time"]
        elif event["type"] == "case":
            cases[name] = event.get("case"), event.get("verdict")
        elif event["type"] == "case-precision":
            judged.setdefault(name, {})[event["case"]] = event["verdict"]
        elif event["type"] == "step-ended" and event.get("step") == "matrix":
            task = name
    if task is None or task not in begun:
        return None
    case, said = cases.get(task, (None, None))
    return task, begun[task], case, said, counted(judged[task]) if task in judged else None


def counted(verdicts: Mapping[str, str | None]) -> dict[str, Any]:
    """How many cases there are, how many pass and fail, and those that were not judged."""
    every = list(verdicts.values())
    unjudged = [name for name, verdict in verdicts.items() if verdict not in ("pass", "fail")]
    return {"total": len(every), "passed": every.count("pass"), "failed": every.count("fail"), "unjudged": unjudged}


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
