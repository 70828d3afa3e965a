"""Which number the next round has, and how much a snapshot may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opdev.phases.evidence import Evidence
from opdev.rounds.scan import Limits


def limits_of(settings: Mapping[str, Any]) -> Limits:
    """How much a snapshot may take, by the configuration of runs."""
    return Limits(bytes=int(settings.get("rounds-megabytes", 64)) * 1_000_000)


def first_number(evidence: Evidence) -> int:
    """The least number a new round may have: the report may tell of rounds that were done by hand."""
    from opdev.phases.perf import finished, rounds_of

    return max((r.number for r in rounds_of(evidence) if finished(r) and r.executed), default=0) + 1
