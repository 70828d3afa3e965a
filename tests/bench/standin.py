"""The CPU stand-in: how long a user waits from `opdev sim run` to the verdict of the checker, and what it costs.

Seconds of processor are told beside: on a machine that does other things, too, they are what can be compared.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import sys
import time
from pathlib import Path

from measure import Row, run

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
PES, ELEMENTS, LAUNCHES = 8, 100003, 10
RUNS = 3


def measure(work: Path) -> list[Row]:
    """An allgather on 8 PEs: with its build, and without; the stand-in's own runtime is compiled once, on first use."""
    if shutil.which("g++") is None or shutil.which("cmake") is None:
        print("g++ and cmake are not here: the stand-in is not measured", flush=True)
        return []
    operators = work / "custom-ops"
    operators.mkdir(parents=True)
    for name in ("allgather", "scripts"):
        shutil.copytree(CORPUS / name, operators / name)
    operator = operators / "allgather"
    sim = [sys.executable, "-m", "opdev.sim"]
    environment = {"OPDEV_CACHE_DIR": str(work / "cache"), "OPDEV_SIM_NBI": "now"}
    took, used = _timed([*sim, "build", str(operators / "allgather")], environment, "built: ")
    rows = [Row("stand-in: first use, runtime and operator built", took, "s"), Row("  the same, processor", used, "s")]
    command = [*sim, "run", str(operator), "--", *map(str, (PES, ELEMENTS, "float32", 0, LAUNCHES))]
    verdict = f"PASS: all {PES} PE outputs match"
    what = f"{PES} PEs, {ELEMENTS} floats, {LAUNCHES}x"
    warm = [_timed(command, environment, verdict) for _ in range(RUNS)]
    cold = []
    for number in range(RUNS):
        for source in ("allgather_kernel.cpp", "main.cpp"):
            with (operator / "src" / source).open("a", encoding="utf-8") as stream:
                stream.write(f"constexpr int measured_{number} = {number};\n")
        cold.append(_timed(command, environment, verdict))
    for name, times, budget in (("run to verdict", warm, 3.0), ("with its build", cold, 8.0)):
        took, used = (statistics.median(column) for column in zip(*times, strict=True))
        rows += [Row(f"stand-in: {what}: {name}", took, "s", budget), Row("  the same, processor", used, "s")]
    return rows


def _timed(command: list[str], environment: dict[str, str], verdict: str) -> tuple[float, float]:
    """Seconds, and seconds of processor, of a command that must say ``verdict``."""
    before, began = _cpu(), time.perf_counter()
    done = run(command, None, **environment)
    took = time.perf_counter() - began
    if done.returncode or verdict.encode() not in done.stdout:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{(done.stdout + done.stderr).decode(errors='replace')}")
    return took, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
