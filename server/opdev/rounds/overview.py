"""Every round as one row: what `opdev rounds` shows and what a performance report tells.

``overview`` is the library's answer for whoever writes the report: decisions, files, figures and their distances are
those of the ledger, nothing is computed twice elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Ledger, Retest, Round, read
from opdev.rounds.measured import BUS, Measured
from opdev.rounds.store import Store
from opdev.rounds.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One round.  Distances are relative (0.05 is 5 %) on kernel_bus; None where there is nothing comparable.

    A simulated figure is none of hardware: it stands in ``measured``, and no distance is made from it.
    """

    round: Round
    changed: Mapping[str, str]
    retest: Retest | None = None
    """The one that speaks for the round: of its last state, else its last."""
    measured: Measured | None = None
    vs_first: float | None = None
    vs_kept: float | None = None
    vs_baseline: float | None = None
    baseline: Measured | None = None
    """What the baseline was measured at, where that is comparable."""
    best: Retest | None = None
    """The best passing retest where it is another one."""
    verdict: Verdict = field(default_factory=lambda: Verdict("none", "untested"))

    @property
    def correctness(self) -> str:
        return self.retest.correctness if self.retest is not None else "none"


def overview(root: str) -> list[Row]:
    """The rounds of an operator, Round 0 first; Refused where the ledger cannot be read."""
    ledger = read(root)
    return [_row(ledger, one, root) for one in ledger.rounds]


def _row(ledger: Ledger, one: Round, root: str) -> Row:
    code = one.end or (one.retests[-1].code if one.retests else one.code)
    tests = [r for r in one.retests if r.code == code] or list(one.retests[-1:])
    with_figures = [r for r in tests if r.measured is not None]
    real = [r for r in with_figures if r.measured is not None and not r.measured.simulated]
    candidates = real or with_figures or tests
    chosen = candidates[-1] if candidates else None
    measured = chosen.measured if chosen is not None else None
    best = max((r for r in one.retests if r.correctness == "pass" and _bus(r.measured, measured)), key=lambda r: _bus(r.measured, measured), default=None)  # fmt: skip
    first = ledger.base
    baseline = next((b for b in ledger.baselines if _bus(b, measured)), None)
    return Row(
        one,
        one.changed if one.state != "open" else changes(root, one),
        chosen,
        measured,
        _gain(measured, _of(first)) if one.number else None,
        _gain(measured, ledger.reference(one.number, measured)) if one.number else None,
        _gain(measured, baseline),
        baseline,
        best if best is not chosen else None,
        chosen.verdict if chosen is not None else Verdict("none", "untested"),
    )


def changes(root: str, one: Round) -> dict[str, str]:
    """What an open round changed up to now; empty where that cannot be seen."""
    store = Store(root)
    try:
        return dict(store.tree(f"{one.number}/base").changes(store.present().tree))
    except Refused:
        return {}


def _of(one: Round | None) -> Measured | None:
    found = [r.measured for r in one.retests if r.measured is not None and not r.measured.simulated] if one else []
    return found[-1] if found else None


def _bus(measured: Measured | None, like: Measured | None) -> float:
    """The deciding figure where it is comparable; 0 else."""
    if measured is None or like is None or measured.key != like.key or not measured.same_payload(like):
        return 0.0
    return measured.value(BUS) or 0.0


def _gain(measured: Measured | None, other: Measured | None) -> float | None:
    if measured is None or other is None or measured.simulated:
        return None
    before, now = _bus(other, measured), measured.value(BUS)
    return now / before - 1 if before > 0 and now is not None else None


def row_data(row: Row) -> dict[str, Any]:
    """A row as ``rounds.schema.json`` has it; distances in percent."""
    one, m = row.round, row.measured
    figures = {} if m is None else {name: m.value(name) for name in _names(m)}
    ratio = None if row.vs_baseline is None else (row.vs_baseline + 1) * 100
    return {
        "round": one.number, "state": one.state, "idea": one.idea, "hypothesis": one.hypothesis, "started": one.started, "ended": one.ended,
        "changed": [{"path": p, "change": c} for p, c in row.changed.items()],
        "retests": [_retest(one, r) for r in one.retests],
        "step": f"{one.number}.{row.retest.number}" if row.retest is not None else None,
        "best_step": f"{one.number}.{row.best.number}" if row.best is not None else None,
        "correctness": row.correctness,
        "measured": None if m is None else {"simulated": m.simulated, **m.data(), "figures": figures, "spread_pct": m.spread * 100},
        "vs_round0_pct": _percent(row.vs_first), "vs_kept_pct": _percent(row.vs_kept), "vs_baseline_pct": _percent(row.vs_baseline),
        "baseline_ratio_pct": ratio, "proposal": _verdict(row.verdict), "against_proposal": one.against, "reason": one.reason,
        "saved": one.saved.removeprefix("saved/"),
    }  # fmt: skip


def _names(m: Measured) -> list[str]:
    return list(dict.fromkeys(name for s in m.samples for name in s))


def _percent(value: float | None) -> float | None:
    return None if value is None else value * 100


def _verdict(found: Verdict) -> dict[str, Any]:
    return {
        "what": found.what,
        "code": found.code,
        "gain_pct": _percent(found.gain),
        "noise_pct": _percent(found.noise),
    }


def _retest(one: Round, r: Retest) -> dict[str, Any]:
    m = r.measured
    return {
        "step": f"{one.number}.{r.number}", "time": r.time, "run": r.run, "backend": r.backend, "correctness": r.correctness,
        "cases": dict(r.cases), "why": r.why, "changed": list(r.changed), "proposal": _verdict(r.verdict),
        "kernel_bus_bandwidth_GBps": m.value(BUS) if m is not None else None, "e2e_us": m.value("e2e_us") if m is not None else None,
    }  # fmt: skip
