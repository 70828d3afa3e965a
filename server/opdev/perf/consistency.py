"""A line against itself and against the standard: every derived field is computed again from what it derives from.

A field disagrees where it is more than ``TOLERANCE`` off, the rounding of the printed digits allowed for.  A line
that disagrees was computed wrong, cut, mixed up or made up: it supports no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opdev.design.derived import Collective, bus_factor
from opdev.design.dtypes import SIZES, fold_dtype
from opdev.perf.formulas import bandwidth_GBps, bus_bandwidth_GBps, peaks_GBps, percent
from opdev.perf.model import Measurement, Problem

TOLERANCE = 0.01
JITTER = 1.05
"""How far kernel_us may lie above e2e_us: both are means of launches of their own."""
_GIB = 1e9 / 2**30


def disagreements(
    found: Measurement, n_pes: int | None = None, kind: Collective | None = None, *, sim: bool = False
) -> Iterator[Problem]:
    """The problems of one line; ``n_pes`` and ``kind`` where the run tells them.

    On the stand-in (``sim``) threads share a few cores, and which of two times is longer is chance.
    """
    yield from _derived(found)
    e2e, kernel = found["e2e_us"], found["kernel_us"]
    if e2e is not None and kernel is not None and kernel > e2e * JITTER and not sim:
        yield _problem(found, "kernel-longer", "error", kernel=_text(kernel), e2e=_text(e2e))
    used = found["bandwidth_utilization_pct"]
    if used is not None and used > 100:
        yield _problem(found, "above-peak", "warning", value=_text(used))
    yield from _standard(found, n_pes, kind)


def _derived(found: Measurement) -> Iterator[Problem]:
    payload, factor = found["payload_bytes"], found["bus_factor"]
    bus, peak = found["kernel_bus_bandwidth_GBps"], found["peak_bandwidth_GBps"]
    algo = found["algo_bandwidth_GBps"]
    kernel_plain = bandwidth_GBps(payload, found["kernel_us"])
    e2e_bus = algo * factor if algo is not None and factor is not None else None
    rows = (
        ("algo_bandwidth_GBps", bandwidth_GBps(payload, found["e2e_us"]), "payload_bytes / e2e_us"),
        ("e2e_bus_bandwidth_GBps", e2e_bus, "algo_bandwidth_GBps × bus_factor"),
        ("kernel_bus_bandwidth_GBps", bus_bandwidth_GBps(payload, found["kernel_us"], factor), "payload_bytes / kernel_us × bus_factor"),
        ("bandwidth_utilization_pct", percent(bus, peak), "kernel_bus_bandwidth_GBps / peak_bandwidth_GBps × 100"),
    )  # fmt: skip
    for field, right, formula in rows:
        shown = found[field]
        if shown is None or right is None or agrees(shown, right, found.steps.get(field, 0.0)):
            continue
        key = "disagrees"
        if field == "algo_bandwidth_GBps" and kernel_plain is not None and agrees(shown, kernel_plain, 0.0):
            key = "algo-from-kernel"
        elif agrees(shown, right * 2, 0.0):
            key = "doubled"
        elif "GBps" in field and agrees(shown, right * _GIB, 0.0):
            key = "binary-unit"
        yield _problem(found, key, "error", field=field, shown=_text(shown), right=_text(right), formula=formula)


def _standard(found: Measurement, n_pes: int | None, kind: Collective | None) -> Iterator[Problem]:
    factor, peak = found["bus_factor"], found["peak_bandwidth_GBps"]
    if factor is not None and n_pes:
        share = (n_pes - 1) / n_pes
        known = [bus_factor(kind, n_pes)] if kind is not None else [1.0, share, 2 * share]
        if not any(agrees(factor, one, found.steps.get("bus_factor", 0.0)) for one in known):
            # Uneven routing of dispatch and combine has a factor of its own, with an explanation.
            severity = "warning" if kind in ("dispatch", None) else "error"
            right = " / ".join(_text(one) for one in known)
            yield _problem(found, "odd-factor", severity, shown=_text(factor), right=right, n_pes=str(n_pes))
    if peak is not None:
        peaks = peaks_GBps(kind, n_pes)
        if not any(agrees(peak, one, found.steps.get("peak_bandwidth_GBps", 0.0)) for one in peaks):
            yield _problem(found, "odd-peak", "warning", shown=_text(peak), right=", ".join(_text(p) for p in peaks))
    if found.pe is not None and n_pes and found.pe >= n_pes:
        yield _problem(found, "no-such-pe", "error", pe=str(found.pe), n_pes=str(n_pes))


def odd_payloads(
    lines: Iterable[Measurement], n_pes: int | None, kind: Collective | None, dtype: str, count: int | None
) -> Iterator[Problem]:
    """Payloads that the elements asked for cannot come to: bandwidths made of one are too high or too low by as much.

    Each is told once, and where PEs, elements, dtype and what the operator does are known; tokens of a dispatch are no elements.
    """
    size = SIZES.get(fold_dtype(dtype) or "")
    if kind is None or kind == "dispatch" or not (n_pes and count and size):
        return
    told: set[float] = set()
    for one in lines:
        payload = one["payload_bytes"]
        if payload is None or payload in told:
            continue
        told.add(payload)
        wanted = [count * size, count * size * n_pes]
        if not any(agrees(payload, w, one.steps.get("payload_bytes", 0.0)) for w in wanted):
            right = " / ".join(dict.fromkeys(str(w) for w in wanted))
            yield _problem(
                one, "odd-payload", "warning", shown=f"{payload:.10g}", right=right, count=str(count), dtype=dtype
            )


def agrees(shown: float, right: float, step: float) -> bool:
    """Whether a printed number is the right one, within the tolerance or the half of its last digit."""
    return abs(shown - right) <= max(TOLERANCE * abs(right) * (1 + 1e-9), step / 2 * (1 + 1e-9))


def _problem(found: Measurement, key: str, severity: str, **args: str) -> Problem:
    return Problem(key, "error" if severity == "error" else "warning", found.log, found.line, args, found.run)


def _text(value: float) -> str:
    return f"{value:.6g}"
