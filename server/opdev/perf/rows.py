"""An optimisation round in one row, as terminal and report tell of it; the ledger of rounds is another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One optimisation round as the report tells of it; distances in percent, None where nothing is comparable."""

    number: int
    idea: str
    decision: str
    reason: str
    correctness: str
    bus: float | None
    e2e_us: float | None
    vs_first: float | None
    vs_kept: float | None
    run: str
    steps: Sequence[tuple[str, str, str, float | None, float | None]] = ()
    """(step, change, correctness, e2e_us, kernel_bus)."""
    vs_baseline: float | None = None
    """The share of the baseline that was reached, in percent."""
