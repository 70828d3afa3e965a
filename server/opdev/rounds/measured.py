"""What one measurement of an operator was: where, of what, how often, and the figures the facts compare.

Several PEs print one line each: a latency is the slowest PE's, a bandwidth the mean over PEs.  Of several sizes in one
output the largest counts (L); of several repetitions the median, and their spread is the noise.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BUS = "kernel_bus_bandwidth_GBps"
"""The figure that decides."""
LATENCIES = ("e2e_us", "kernel_us")
FIGURES = (
    *LATENCIES, "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", BUS, "bandwidth_utilization_pct", "bus_factor",
    "peak_bandwidth_GBps",
)  # fmt: skip
_SAME = 1e-5
"""Relative: a payload printed as 1.34218e+08 is the same payload."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Repetitions of one case.  ``payload`` in bytes; ``samples`` hold microseconds, GB/s, percent by ``FIGURES``."""

    backend: str
    n_pes: int
    dtype: str
    count: str
    payload: float
    samples: tuple[Mapping[str, float], ...]
    run: str = ""
    devices: str = ""

    @property
    def simulated(self) -> bool:
        return self.backend == "sim"

    @property
    def key(self) -> tuple[str, int, str, str]:
        """What must be the same for two measurements to be compared at all; then the payload must be, too."""
        return (self.backend, self.n_pes, self.dtype, self.count)

    def value(self, figure: str) -> float | None:
        """The median of a figure, one that was measured: of an even number the slower of the middle two.  None where there is none."""
        found = [s[figure] for s in self.samples if figure in s]
        middle = statistics.median_high if figure in LATENCIES else statistics.median_low
        return middle(found) if found else None

    @property
    def spread(self) -> float:
        """How far repetitions of the deciding figure lie apart, relative to their median; 0 for a single one."""
        found = [s[BUS] for s in self.samples if BUS in s]
        middle = statistics.median_low(found) if found else 0.0
        return (max(found) - min(found)) / middle if middle > 0 else 0.0

    def same_payload(self, other: Measured) -> bool:
        return abs(self.payload - other.payload) <= _SAME * max(abs(self.payload), abs(other.payload))

    def with_sample_of(self, other: Measured) -> Measured:
        """Both as repetitions of one."""
        return Measured(
            self.backend, self.n_pes, self.dtype, self.count, self.payload, (*self.samples, *other.samples),
            other.run, other.devices,
        )  # fmt: skip

    def data(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "backend": self.backend, "n_pes": self.n_pes, "dtype": self.dtype, "count": self.count, "payload_bytes": self.payload,
            "devices": self.devices, "run": self.run, "samples": [dict(s) for s in self.samples],
        }  # fmt: skip

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Measured:
        """From JSON; KeyError, TypeError or ValueError for what is none."""
        samples = tuple({str(k): float(v) for k, v in s.items()} for s in value["samples"])
        return cls(
            str(value["backend"]), int(value["n_pes"]), str(value["dtype"]), str(value["count"]), float(value["payload_bytes"]),
            samples, str(value["run"]), str(value["devices"]),
        )  # fmt: skip
