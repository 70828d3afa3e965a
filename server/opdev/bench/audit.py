"""Whether a batch's reports are what its evidence says: records, digests of every file, and the summary that lies there."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from opdev.bench import records, summary
from opdev.bench.model import BenchError
from opdev.bench.proof import Judged, Problem
from opdev.bench.totals import totals

_FIELDS = ("overall_status", "backend", "correctness", "perf_speedup", "proven")
_COUNTS = ("total", "success", "unproven", "by_status", "by_level", "by_backend", "correctness", "perf")


def check(root: str) -> list[Problem]:
    """Everything in the batch at ``root`` that is not as it is said to be; BenchError where there is no batch."""
    return of(summary.gathered(root, deep=True), root)


def of(cases: Sequence[Judged], root: str) -> list[Problem]:
    """The same of cases that are judged already."""
    return [*(problem for one in cases for problem in one.problems), *written(cases, root)]


def written(cases: Sequence[Judged], root: str) -> list[Problem]:
    """What a ``summary.json`` beside the records says otherwise than they do."""
    path = f"{summary.reports(root)}/{summary.NAME}"
    if not os.path.lexists(path):
        return []
    try:
        said = records.parsed(path, {"totals": "o", "cases": "a"})
    except BenchError as error:
        values = {name: value for name, value in error.values.items() if name != "path"}
        return [Problem("", path, error.key.removeprefix("r-"), values)]
    except OSError as error:
        return [Problem("", path, "unreadable", {"why": error.strerror or "?"})]
    if said.get("schema_version") is None:
        return []  # The field's own: it counts otherwise, and says so by what it lacks.
    found = summary.of(list(cases), root)
    bad = {one.key for one in cases if one.problems}
    return [*_totals(said, path), *_cases(said["cases"] or [], found["cases"], bad, path)]


def _totals(said: Mapping[str, Any], path: str) -> list[Problem]:
    """Whether its totals are those of its own cases."""
    claimed = said["totals"] or {}
    try:
        derived = totals(said["cases"] or [])
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        return [Problem("", path, "malformed", {"why": f"{type(error).__name__}: {error}"[:200]})]
    return [
        Problem(
            "",
            path,
            "summary-differs",
            {"name": f"totals.{name}", "claimed": claimed.get(name), "derived": derived.get(name)},
        )
        for name in _COUNTS
        if claimed.get(name) != derived.get(name)
    ]


def _cases(said: Sequence[Any], found: Sequence[Any], bad: Collection[str], path: str) -> list[Problem]:
    """Whether its cases are those there are; of one whose evidence does not hold that is said already."""
    claimed = {str(one.get("key")): one for one in said if isinstance(one, dict)}
    out = []
    for one in found:
        other = claimed.pop(one["key"], None)
        if one["key"] in bad and other is not None:
            continue
        for name in _FIELDS:
            value = other.get(name) if other is not None else None
            if value != one[name]:
                values = {"name": f"cases[{one['key']}].{name}", "claimed": value, "derived": one[name]}
                out.append(Problem(one["key"], path, "summary-differs", values))
                break
    return out + [Problem(key, path, "summary-invented", {}) for key in claimed]
