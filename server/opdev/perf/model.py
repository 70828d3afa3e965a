"""What a measurement is.  Units are in the names; every number knows the line it was read from.

A **measurement** is one PE's line.  A **sample** is one launch: a measurement of every PE that told of it.  A **series**
is the same thing measured again and again: one side, one payload, one number of PEs, on one backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Side = Literal["shmem", "baseline"]
Backend = Literal["hardware", "sim"]
Severity = Literal["error", "warning"]
FIELDS = (
    "e2e_us", "kernel_us", "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps",
    "bandwidth_utilization_pct", "payload_bytes", "bus_factor", "peak_bandwidth_GBps",
)  # fmt: skip
"""What a ``[PERF]`` line says besides its PE, in the order of the standard."""
BASELINE_FIELDS = tuple(f for f in FIELDS if f not in ("bandwidth_utilization_pct", "peak_bandwidth_GBps"))
MEANS = ("algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps", "bandwidth_utilization_pct")
"""Over PEs the mean counts; of times the longest."""
TIMES = ("e2e_us", "kernel_us")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line.  ``key`` names a text of ``texts``; an error keeps the line out of every verdict."""

    key: str
    severity: Severity
    log: str
    line: int
    args: Mapping[str, str] = field(default_factory=dict)
    run: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A ``[PERF]`` or ``[BASELINE_PERF]`` line: numbers by today's names, ``steps`` the last digit each was printed with.

    ``pe`` is None where the line names none.  ``usable``: whole, and no error of its own.
    """

    side: Side
    log: str
    line: int
    pe: int | None
    values: Mapping[str, float]
    steps: Mapping[str, float] = field(default_factory=dict)
    api: str = ""
    usable: bool = True
    run: str = ""

    def __getitem__(self, name: str) -> float | None:
        return self.values.get(name)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a cycle profile over its blocks: microseconds a pass."""

    frame: int
    avg_us: float
    max_core_us: float
    count: int
    blocks: int
    log: str = ""
    line: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """What one log says.  ``n_pes``, ``dtype`` and ``count`` (elements asked for) are what its run or name tells."""

    name: str
    backend: Backend
    measurements: tuple[Measurement, ...] = ()
    problems: tuple[Problem, ...] = ()
    tables: tuple[tuple[int, tuple[tuple[float, ...], ...]], ...] = ()
    """Cycle-profile tables: (line of the header, rows of block, frame, cycles, count, average in us)."""
    run: str = ""
    n_pes: int | None = None
    dtype: str = ""
    count: int | None = None
    lost: int = 0
    """Measurements it lost that can be told: it ends within one, or was not read to its end."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One launch.  ``whole``: every PE told of it, or PE 0 alone for all, and each line is usable."""

    measurements: tuple[Measurement, ...]
    whole: bool = True

    def value(self, name: str) -> float | None:
        """The longest time, the mean bandwidth; anything else as the first PE has it."""
        found = [v for m in self.measurements if (v := m[name]) is not None]
        if not found:
            return None
        if name in TIMES or name == "comm_only_us":
            return max(found)
        return sum(found) / len(found) if name in MEANS else found[0]


@dataclass(frozen=True, slots=True)
class Series:
    """Launches that measured the same."""

    side: Side
    backend: Backend
    n_pes: int | None
    dtype: str
    count: int | None
    payload_bytes: float
    samples: tuple[Sample, ...] = ()
    api: str = ""
    strays: int = 0
    """Lines of its logs that are too damaged to say what they measured."""

    @property
    def broken(self) -> int:
        """Launches nobody knows the figures of: they were told, and what was told cannot be believed."""
        return self.strays + sum(not s.whole for s in self.samples)

    @property
    def doubtful(self) -> bool:
        """Whether more launches are broken than the tenth that a range leaves out: any of them may have been the slow one."""
        return self.broken > (len(self.good) + self.broken) // 10

    @property
    def good(self) -> tuple[Sample, ...]:
        """The launches that may be judged."""
        return tuple(s for s in self.samples if s.whole)
