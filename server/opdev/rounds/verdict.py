"""Whether a round is worth keeping: better and correct, else taken back.

Better is more of the deciding figure than repetitions of it lie apart, and more than ``FLOOR``.  Where that cannot be
said (simulated, nothing to compare with, another payload) it is not said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opdev.rounds.measured import BUS, Measured

What = Literal["keep", "revert", "none"]
Code = Literal["red", "untested", "payload", "parameters", "unmeasured", "simulated", "no-reference", "gain", "noise", "slower"]  # fmt: skip
FLOOR = 0.01
"""A relative gain up to this is noise however close repetitions lie."""
CLOSED: frozenset[str] = frozenset({"red", "untested", "payload", "parameters"})
"""What a round is never kept with: not correct, or not comparable."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a round.  ``gain`` and ``noise`` are relative (0.05 is 5 %)."""

    what: What
    code: Code
    gain: float | None = None
    noise: float | None = None


def judge(correctness: str, measured: Measured | None, reference: Measured | None) -> Verdict:
    """The verdict on a retest against what was kept last (``reference``), Round 0 where nothing was."""
    if correctness != "pass":
        return Verdict("revert", "red") if correctness == "fail" else Verdict("none", "untested")
    if measured is None or measured.value(BUS) is None:
        return Verdict("none", "unmeasured")
    if reference is not None and measured.backend == reference.backend:
        if measured.key != reference.key:
            return Verdict("none", "parameters")
        if not measured.same_payload(reference):
            return Verdict("none", "payload")
    if measured.simulated:
        return Verdict("none", "simulated")
    before = reference.value(BUS) if reference is not None and not reference.simulated else None
    if reference is None or before is None or before <= 0:
        return Verdict("none", "no-reference")
    gain = (measured.value(BUS) or 0.0) / before - 1
    noise = max(FLOOR, measured.spread, reference.spread)
    if gain > noise:
        return Verdict("keep", "gain", gain, noise)
    return Verdict("revert", "slower" if gain < -noise else "noise", gain, noise)


def from_data(value: Mapping[str, object]) -> Verdict:
    """From JSON as ``dataclasses.asdict`` made it."""
    return Verdict(value["what"], value["code"], value["gain"], value["noise"])  # type: ignore[arg-type] # written by this module
