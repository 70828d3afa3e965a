"""The metrics of a communication operator, each formula once.  GB/s are 10^9 bytes a second.

Bus factor, peak and scale follow from a design as well and live in ``design.derived``.  A formula whose input is not
a positive finite number gives None: nothing is concluded from a log that says nan, 0 or -1.
"""

from __future__ import annotations

import math

from opdev.design.derived import LINK_GBPS, Collective, peak_gbps

TARGET_PCT = 80.0
"""Of the baseline's kernel_bus_bandwidth_GBps, where the design says nothing else."""
FLOOR_PCT = 20.0
"""Utilisation that is asked for where there is no baseline."""
SIO_GBPS = 270.0
"""Between the dies of one 910C card."""


def _good(*values: float | None) -> bool:
    return all(v is not None and math.isfinite(v) and v > 0 for v in values)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def bandwidth_GBps(payload_bytes: float | None, time_us: float | None) -> float | None:  # noqa: N802 - the unit
    """Bytes over time; with the end-to-end time this is algo_bandwidth_GBps."""
    if payload_bytes is None or time_us is None or not _good(payload_bytes, time_us):
        return None
    return _finite(payload_bytes / time_us / 1e3)


def bus_bandwidth_GBps(payload_bytes: float | None, time_us: float | None, factor: float | None) -> float | None:  # noqa: N802
    """Bytes over time, by the bus factor; with the kernel's time this is what decides."""
    plain = bandwidth_GBps(payload_bytes, time_us)
    if plain is None or factor is None or not _good(factor):
        return None
    return _finite(plain * factor)


def percent(part: float | None, whole: float | None) -> float | None:
    """Utilisation of a peak, or ours over the baseline's, in percent."""
    if part is None or whole is None or not _good(part, whole):
        return None
    return _finite(part / whole * 100)


def delta_pct(new: float | None, old: float | None) -> float | None:
    """How much more the new one is, in percent of the old one."""
    if new is None or old is None or not _good(new, old):
        return None
    return _finite((new / old - 1) * 100)


def effective_flops(flops: float | None, frame_us: float | None) -> float | None:
    """Floating-point operations a second of a compute frame (GEMM: 2·M·N·K operations)."""
    if flops is None or frame_us is None or not _good(flops, frame_us):
        return None
    return _finite(flops / (frame_us * 1e-6))


def reaches(value: float, line: float) -> bool:
    """Whether a value is on its line or above; a last bit lost in a division does not decide."""
    return value >= line or math.isclose(value, line, rel_tol=1e-9)


def peaks_GBps(kind: Collective | None, n_pes: int | None) -> tuple[float, ...]:  # noqa: N802
    """The peaks the standard knows for a pattern: a link, a mesh of the PEs, and the 910C's two."""
    found = {SIO_GBPS, float(peak_gbps("all-to-all", 8))}
    if kind is not None and n_pes:
        found.add(float(peak_gbps(kind, n_pes)))
    else:
        found |= {float(LINK_GBPS * links) for links in range(1, 16)}
    return tuple(sorted(found))
