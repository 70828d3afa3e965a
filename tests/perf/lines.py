"""``[PERF]`` and ``[BASELINE_PERF]`` lines as programs print them, right in every derived field."""

from __future__ import annotations

from opdev.perf.model import Log
from opdev.perf.reader import read

MESH = 196.0


def perf(kernel, /, *, payload=134217728, factor=0.875, e2e=None, peak=MESH, pe=0, digits=6, **other):
    """A line; ``other`` replaces a field by what is given, or leaves it out where that is None."""
    e2e = e2e or kernel
    bus = payload / kernel / 1e3 * factor
    fields = {
        "pe": pe,
        "e2e_us": _n(e2e, digits),
        "kernel_us": _n(kernel, digits),
        "algo_bandwidth_GBps": _n(payload / e2e / 1e3, digits),
        "e2e_bus_bandwidth_GBps": _n(payload / e2e / 1e3 * factor, digits),
        "kernel_bus_bandwidth_GBps": _n(bus, digits),
        "bandwidth_utilization_pct": _n(bus / peak * 100, digits),
        "payload_bytes": _n(payload, digits),
        "bus_factor": _n(factor, digits),
        "peak_bandwidth_GBps": _n(peak, digits),
        **other,
    }
    return "[PERF] " + " ".join(f"{k}={v}" for k, v in fields.items() if v is not None) + "\n"


def baseline(kernel, /, *, api="HcclAlltoAll", **other):
    """A line of the baseline's program."""
    line = perf(kernel, bandwidth_utilization_pct=None, peak_bandwidth_GBps=None, **other)
    return f"[BASELINE_PERF]{line[len('[PERF]') : -1]} api={api}\n"


def launch(kernel, /, n_pes=8, make=perf, **other):
    """One launch: a line of every PE."""
    return "".join(make(kernel, pe=pe, **other) for pe in range(n_pes))


def log(text, name="x.log", **known) -> Log:
    return read(text if isinstance(text, bytes) else text.encode(), name, **known)


def _n(value, digits):
    return f"{value:.{digits}g}"
