"""An optimisation round in one row, as terminal and report tell of it; the ledger of rounds is another's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class StepRow:
    """One retest of a round.  ``figures`` are its medians by the names of ``[PERF]`` lines; ``sources`` says the lines they are from."""

    name: str
    change: str = ""
    correctness: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    sources: str = ""


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
    steps: Sequence[StepRow] = ()
    vs_baseline: float | None = None
    """The share of the baseline that was reached, in percent."""
    step: str = ""
    """The one whose figures are the round's; the last where none is named."""
    hypothesis: str = ""
    settings: str = ""
    """What the step was measured with, and the files that the round changed, as a sentence."""
    against: Mapping[str, float] = field(default_factory=dict)
    """Medians of what the step is compared with: the baseline, where none is comparable Round 0."""
    against_name: str = ""
    against_sources: str = ""
    frames: Sequence[Mapping[str, Any]] = ()
    """Device frames of the step, as a document has them."""
