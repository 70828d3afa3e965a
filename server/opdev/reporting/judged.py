"""What the precision engine made of each case of a run: verdict, the PEs, the first element that is wrong, or why it was not judged.

Both kinds of event say it: ``case-precision`` of every case as it ended, ``precision-summary`` of the one whose outputs were
left at the end of a matrix.  The first wins, since it is of the case's own outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from opdev.precision.model import place
from opdev.rules.model import Text
from opdev.runs.events import Event


@dataclass(frozen=True, slots=True)
class JudgedPe:
    """One output of one PE.  ``values`` by the checkers' names; ``first`` is its first wrong element, empty for none."""

    name: str
    pe: int | None
    verdict: str
    values: Mapping[str, float]
    first: Text | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One case.  ``verdict`` is empty where it was not judged, and ``why`` says why."""

    verdict: str
    why: Text | None
    pes: tuple[JudgedPe, ...]
    line: int
    """Of the run's ``events.jsonl``; 1-based."""

    @property
    def wrong(self) -> list[JudgedPe]:
        return [one for one in self.pes if one.verdict != "pass"]


_NAMES = {"max_abs": "MaxAE", "max_rel": "MaxRE", "mean_rel": "MeanRE"}


def judged(events: Iterable[Event]) -> dict[tuple[Any, Any], Judged]:
    """By (task, case)."""
    found: dict[tuple[Any, Any], Judged] = {}
    for event in events:
        if event["type"] not in ("case-precision", "precision-summary"):
            continue
        key = event.get("task"), event.get("case")
        one = _of(event)
        if event["type"] == "case-precision" or (not (key in found and found[key].verdict) and one.verdict):
            found[key] = one
    return found


def _of(event: Event) -> Judged:
    document = event.get("document")
    line = int(event.get("seq", 0)) + 1
    if not isinstance(document, dict):
        why = event.get("why")
        return Judged("", why if isinstance(why, dict) else None, (), line)
    return Judged(str(document.get("verdict", "")), None, tuple(map(_pe, document.get("results", ()))), line)


def _pe(result: Mapping[str, Any]) -> JudgedPe:
    metrics, limits = result.get("metrics") or {}, result.get("limits") or {}
    values = {name: metrics[key] for key, name in _NAMES.items() if isinstance(metrics.get(key), (int, float))}
    values |= {key: limits[key] for key in ("rtol", "atol") if isinstance(limits.get(key), (int, float))}
    return JudgedPe(str(result["name"]), result.get("pe"), str(result["verdict"]), values, _first(result))


def _first(result: Mapping[str, Any]) -> Text | None:
    reasons = result.get("reasons") or ()
    for one in result.get("mismatches") or ():
        where = place(one["coordinates"])
        return {
            "zh": f"{where} 实际 {one['actual']}，应为 {one['expected']}，共 {result['mismatch_count']} 个超差",
            "en": f"{where} is {one['actual']} instead of {one['expected']}, {result['mismatch_count']} out of tolerance",
        }
    for reason in reasons:
        text: Text = reason["text"]
        return text
    return None
