"""What may be concluded: the pass line is met, is not, or nobody can tell.

With a baseline kernel_bus_bandwidth_GBps decides, 80 % of it or what the design asks; without one the utilisation of
the link, 20 %.  A line that lies between the worst and the best that was measured is not decided by a median.
Simulated numbers are never judged, and nothing is judged from lines that could not be believed: where more than a tenth of
the launches is such, what is left of them meets no line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from opdev.perf import texts
from opdev.perf.consistency import agrees
from opdev.perf.formulas import FLOOR_PCT, TARGET_PCT, delta_pct, percent, reaches
from opdev.perf.model import Series
from opdev.perf.series import Spread, spread_of
from opdev.rules.model import Text

BUS = "kernel_bus_bandwidth_GBps"
USED = "bandwidth_utilization_pct"
State = Literal["pass", "fail", "noisy", "simulated", "unmeasured", "incomparable"]
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s*[%％]")


@dataclass(frozen=True, slots=True)
class Verdict:
    """``value``, ``low`` and ``high`` are percent, of the baseline or of the peak (``by``); None where there are none."""

    state: State
    by: Literal["baseline", "peak", ""]
    line_pct: float
    value_pct: float | None = None
    low_pct: float | None = None
    high_pct: float | None = None
    why: Text | None = None


def target_pct(text: str) -> float:
    """The percentage that ``current >= 80% baseline`` asks for; 80 where it names none."""
    match = _PERCENT.search(text)
    value = float(match[1]) if match else 0.0
    return value if 0 < value <= 1000 else TARGET_PCT


def judge(ours: Series, theirs: Series | None, target: float = TARGET_PCT, floor: float = FLOOR_PCT) -> Verdict:
    """A series against its baseline, or against the peak where there is none."""
    by: Literal["baseline", "peak"] = "baseline" if theirs is not None else "peak"
    line = target if theirs is not None else floor
    if ours.backend == "sim" and (theirs is None or theirs.backend == "sim"):
        return Verdict("simulated", by, line, why=texts.both("why-sim"))
    if theirs is not None and (why := incomparable(ours, theirs)) is not None:
        return Verdict("incomparable", by, line, why=why)
    mine = spread_of(ours, BUS)
    if mine is None or (theirs is not None and spread_of(theirs, BUS) is None):
        return Verdict("unmeasured", by, line, why=texts.both("why-unusable"))
    base = spread_of(theirs, BUS) if theirs is not None else None
    if base is not None:
        found = _decide(
            by, line, percent(mine.median, base.median), percent(mine.low, base.high), percent(mine.high, base.low)
        )
    else:
        used = spread_of(ours, USED)
        if used is None:
            return Verdict("unmeasured", by, line, why=texts.both("why-no-peak"))
        found = _decide(by, line, used.median, used.low, used.high)
    if found.state == "pass" and (why := broken(ours, theirs)) is not None:
        return replace(found, state="noisy", low_pct=0.0, why=why)
    return found


def broken(*series: Series | None) -> Text | None:
    """Why nothing good follows from series of which launches are lost; None where enough of them is whole."""
    for one in series:
        if one is not None and one.doubtful:
            return texts.both("why-broken", broken=one.broken, used=len(one.good))
    return None


def _decide(
    by: Literal["baseline", "peak"], line: float, value: float | None, low: float | None, high: float | None
) -> Verdict:
    if value is None or low is None or high is None:
        return Verdict("unmeasured", by, line, why=texts.both("why-unusable"))
    if reaches(high, line) and not reaches(low, line):
        why = texts.both("why-noisy", low=low, high=high, line=line)
        return Verdict("noisy", by, line, value, low, high, why)
    why = texts.both("why-baseline" if by == "baseline" else "why-floor", value=value, line=line)
    return Verdict("pass" if reaches(value, line) else "fail", by, line, value, low, high, why)


def incomparable(ours: Series, theirs: Series) -> Text | None:
    """Why two series cannot be held against each other; None where they can."""
    if ours.backend != theirs.backend:
        return texts.both("why-backend")
    if ours.n_pes and theirs.n_pes and ours.n_pes != theirs.n_pes:
        return texts.both("why-pes", ours=ours.n_pes, theirs=theirs.n_pes)
    if ours.dtype and theirs.dtype and ours.dtype != theirs.dtype:
        return texts.both("why-dtype", ours=ours.dtype, theirs=theirs.dtype)
    if not agrees(ours.payload_bytes, theirs.payload_bytes, 0.0):
        return texts.both("why-payload", ours=f"{ours.payload_bytes:.10g}", theirs=f"{theirs.payload_bytes:.10g}")
    factors = [next((v for s in one.good if (v := s.value("bus_factor")) is not None), None) for one in (ours, theirs)]
    if factors[0] is not None and factors[1] is not None and not agrees(factors[0], factors[1], 0.0):
        return texts.both("why-factor", ours=f"{factors[0]:.6g}", theirs=f"{factors[1]:.6g}")
    return None


Change = Literal["better", "worse", "same", "noisy"]


def change(new: Spread | None, old: Spread | None) -> tuple[float | None, Change | None]:
    """How a bandwidth moved, in percent, and whether that is more than the noise: ranges that overlap do not tell."""
    if new is None or old is None:
        return None, None
    delta = delta_pct(new.median, old.median)
    if delta is None:
        return None, None
    if new.low > old.high:
        return delta, "better"
    if new.high < old.low:
        return delta, "worse"
    return delta, "same" if new.median == old.median else "noisy"


__all__ = ["BUS", "USED", "Change", "State", "Verdict", "broken", "change", "incomparable", "judge", "target_pct"]
