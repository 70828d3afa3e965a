"""Timing that can be compared: medians, percentiles, peers run in turn in one session."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Row:
    """One line of the result: what, how much, against what, and whether the budget holds."""

    what: str
    value: float
    unit: str
    budget: float | None = None
    ratio: float | None = None
    ratio_budget: float | None = None
    peer: str = ""

    @property
    def ok(self) -> bool:
        within = self.budget is None or self.value <= self.budget
        return within and (self.ratio is None or self.ratio_budget is None or self.ratio <= self.ratio_budget)

    def __str__(self) -> str:
        budget = f"<= {self.budget:g}" if self.budget is not None else ""
        ratio = f"{self.ratio:.2f}x of {self.peer}" if self.ratio is not None else ""
        wanted = f"<= {self.ratio_budget:g}x" if self.ratio_budget is not None else ""
        judged = self.budget is not None or self.ratio_budget is not None
        mark = ("ok" if self.ok else "MISSED") if judged else ""
        return f"{self.what:<62} {self.value:>10.3f} {self.unit:<3} {budget:<9} {ratio:<30} {wanted:<8} {mark}"


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def alternate(runs: int, *actions: Callable[[], object]) -> list[float]:
    """The median seconds of each action, the actions taken in turn so that load hits all alike."""
    taken: list[list[float]] = [[] for _ in actions]
    for _ in range(runs):
        for times, action in zip(taken, actions, strict=True):
            began = time.perf_counter()
            action()
            times.append(time.perf_counter() - began)
    return [statistics.median(times) for times in taken]


# An installed program has its modules compiled; a checkout whose Python may not keep them would be measured compiling.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def program(name: str) -> str | None:
    """A program beside this Python, else on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def run(arguments: Sequence[str], cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program quietly; its findings' exit status is no failure."""
    return subprocess.run(
        list(arguments),
        cwd=cwd,
        capture_output=True,
        check=False,
        env={**ENVIRONMENT, **environment},
        stdin=subprocess.DEVNULL,
    )


def cpu(pid: int) -> float:
    """Seconds of processor a process has used, which other load on the machine changes far less than wall time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory of a process in MB (its peak, where the system tells)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0
