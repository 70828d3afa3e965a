"""What check_result.py measured on each PE of a case, from the log its ``[CASE]`` line names.

That log lies in the operator's folder and the next run writes over it, so it counts only where it says the same as the
recorded line: the largest error of its PEs is the one the run recorded, and it is no younger than that run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from opdev.facts.logs import LARGEST, check_lines, number
from opdev.reporting.cases import Outcome, Place, Row

_SLACK = 2.0


@dataclass(frozen=True, slots=True)
class OnePe:
    """The statistics of one PE of a case; ``values`` by the checker's names, ``verdict`` empty where none was printed."""

    pe: int
    values: Mapping[str, float]
    verdict: str
    place: Place


def per_pe(root: str, row: Row) -> list[OnePe]:
    """The PEs of a case in order; empty where the log is gone, or is another run's."""
    outcome = row.outcome
    relative = outcome.texts.get("log", "") if outcome is not None else ""
    if outcome is None or not relative or os.path.isabs(relative) or ".." in relative.split("/"):
        return []
    path = f"{root}/{relative}"
    try:
        if os.path.getmtime(path) > outcome.ended + _SLACK:
            return []
        with open(path, "rb") as stream:
            data = stream.read(LARGEST)
    except OSError:
        return []
    statistics: dict[int, tuple[Mapping[str, float], int]] = {}
    verdicts: dict[int, str] = {}
    for line in check_lines(data):
        if line.pe is None:
            continue
        if line.result is None:
            statistics[line.pe] = line.values, data.count(b"\n", 0, line.start) + 1
        else:
            verdicts[line.pe] = line.result
    found = [
        OnePe(pe, values, verdicts.get(pe, ""), Place("", relative, line))
        for pe, (values, line) in sorted(statistics.items())
    ]
    return found if _same(outcome, found) else []


def _same(outcome: Outcome, found: list[OnePe]) -> bool:
    recorded = number(outcome.text("maxae"))
    measured = [one.values["MaxAE"] for one in found if "MaxAE" in one.values]
    return recorded is not None and bool(measured) and max(measured) == recorded
