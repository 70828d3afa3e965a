"""`opdev precision` over large files: the whole process against one torch.allclose in memory, and what it takes of memory.

torch is no dependency: ``OPDEV_BENCH_TORCH`` names a Python that has it, else the one running this is tried; without it the
seconds stand alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from measure import ENVIRONMENT, Row, program

MB = 1 << 20
RUNS = 3
_PEER = """
import sys, time
try:
    import torch
except ImportError:
    sys.exit(7)
a, g = (torch.from_file(p, size=int(sys.argv[3]), dtype=torch.float16).float() for p in sys.argv[1:3])
for line in sys.stdin:
    began = time.perf_counter()
    torch.allclose(a, g, rtol=2**-8, atol=2**-8)
    print(time.perf_counter() - began, flush=True)
"""


def write(folder: Path, size: int) -> tuple[Path, Path]:
    """An fp16 pair of ``size`` bytes each, most elements slightly off, all within tolerance."""
    rng = np.random.default_rng(1)
    paths = folder / f"output-{size}.bin", folder / f"golden-{size}.bin"
    left = size // 2
    with paths[0].open("wb") as output, paths[1].open("wb") as golden:
        while left:
            count = min(left, 16 * MB)
            values = rng.standard_normal(count, dtype=np.float32).astype(np.float16)
            noise = rng.standard_normal(count, dtype=np.float32) * np.float32(2e-4)
            values.tofile(golden)
            (values + noise).astype(np.float16).tofile(output)
            left -= count
    return paths


def judged(paths: tuple[Path, Path], standard: str) -> tuple[float, float]:
    """(seconds, peak MB) of the process."""
    import time

    kind = ["--op-type", "COMPUTE_FLOAT"] if standard == "shmem" else []
    command = [
        program("opdev") or "opdev",
        "precision",
        "--output",
        str(paths[0]),
        "--golden",
        str(paths[1]),
        "--dtype",
        "fp16",
    ]
    began = time.perf_counter()
    child = subprocess.Popen([*command, "--standard", standard, *kind], stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"opdev precision: exit status {child.returncode}")
    return time.perf_counter() - began, used.ru_maxrss / 1024


def measure(work: Path, size: int = 256 * MB, large: int = 2048 * MB) -> list[Row]:
    work.mkdir(parents=True, exist_ok=True)
    paths = write(work, size)
    peer = subprocess.Popen(
        [os.environ.get("OPDEV_BENCH_TORCH") or sys.executable, "-c", _PEER, *map(str, paths), str(size // 2)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    taken: dict[str, list[float]] = {"shmem": [], "pypto": [], "torch": []}
    most = 0.0
    for _ in range(RUNS):
        taken["torch"] += _asked(peer)
        for standard in ("shmem", "pypto"):
            seconds, memory = judged(paths, standard)
            taken[standard].append(seconds)
            most = max(most, memory)
    if peer.stdin is not None and not peer.stdin.closed:
        peer.stdin.close()
    peer.wait()
    peers = sorted(taken["torch"])
    rows = []
    for standard in ("shmem", "pypto"):
        seconds = sorted(taken[standard])[RUNS // 2]
        ratio = seconds / peers[len(peers) // 2] if peers else None
        what = f"opdev precision, {size // MB} MB fp16 pair, {standard}, whole process"
        rows.append(Row(what, seconds, "s", None, ratio, 2.0 if peers else None, "torch.allclose in float32"))
    rows.append(Row("the same: peak memory", most, "MB", 1024))
    for path in paths:
        path.unlink()
    paths = write(work, large)
    seconds, memory = judged(paths, "shmem")
    rows.append(Row(f"opdev precision, {2 * large // MB} MB in all: peak memory", memory, "MB", 1024))
    rows.append(Row("the same: seconds", seconds, "s"))
    for path in paths:
        path.unlink()
    return rows


def _asked(peer: subprocess.Popen[str]) -> list[float]:
    """Seconds of one more comparison by the peer; none where there is no torch."""
    if peer.stdin is None or peer.stdout is None:
        return []
    try:
        peer.stdin.write("\n")
        peer.stdin.flush()
        line = peer.stdout.readline()
    except BrokenPipeError:
        return []
    return [float(line)] if line else []
