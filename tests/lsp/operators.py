"""Operators whose build and run scripts are small programs, for tests of runs in the editor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from ready import Ready, until

from opdev.runs.process import alive, carrying
from opdev.runs.reader import replay

PASSING = "mkdir -p output\necho 'PE 0: PASS (8 elements)'\necho 'PASS: all 2 PE outputs match'\n"
BUILDING = """\
here=$(cd "$(dirname "$0")/../$1" && pwd)
mkdir -p "$here/build/bin"
echo '[ 50%] Building CXX object a.o'
test ! -f "$here/broken" || {{ echo "$here/src/demo_kernel.cpp:4:5: error: use of undeclared identifier 'wait'" >&2; exit 1; }}
{more}
touch "$here/build/bin/$1"
"""
HELD = """\
echo 'held'
while test ! -f "$(dirname "$0")/../go"; do sleep 0.02; done
mkdir -p output
echo 'PE 0: PASS (8 elements)'
"""
KERNEL = """\
// demo：核函数 😀
extern "C" __global__ __aicore__ void demo_fp16(GM_ADDR input)
{
    wait();
}
"""
CASES = """\
[
 {"case_id": "小_2pe", "category": "functional", "scale": "XS", "n_pes": 2, "dtype": "float16", "shape": [8], "rtol": 0.001, "atol": 0.001},
 {"case_id": "odd_2pe", "category": "boundary", "scale": "XS", "n_pes": 2, "dtype": "float16", "shape": [7], "rtol": 0.001, "atol": 0.001}
]
"""
MATRIX = """\
import argparse, os, sys
parser = argparse.ArgumentParser()
parser.add_argument("--only", default="")
words = parser.parse_args().only.split(",")
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.makedirs(here + "/data/logs", exist_ok=True)
os.makedirs(here + "/docs", exist_ok=True)
open(here + "/docs/case_matrix_report.md", "w").write("# x\\n")
failed = 0
for case in ("小_2pe", "odd_2pe"):
    if not any(word in case for word in words):
        continue
    bad = case == "odd_2pe" and os.path.exists(here + "/wrong")
    failed += bad
    with open(f"{here}/data/logs/{case}.log", "w") as log:
        if bad:
            log.write("PE 1: dtype=float16 MaxAE=5.0e-01 MaxRE=1.0e+00 rtol=0.001 atol=0.001\\n")
            log.write("  first mismatch idx=3 actual=0.5 golden=1.0\\n")
    print(f"[CASE] id={case} n_pes=2 result={'FAIL' if bad else 'PASS'} maxae={0.5 if bad else 0.0} maxre=0.0 log=data/logs/{case}.log", flush=True)
print(f"[MATRIX] total=2 passed={2 - failed} failed={failed} blocked=0")
sys.exit(1 if failed else 0)
"""


@dataclass
class Operator(Ready):
    """``custom-ops/demo`` of a folder of its own."""

    @property
    def kernel(self) -> Path:
        return self.root / "src" / "demo_kernel.cpp"

    def events(self, run):
        return replay(next(r for r in self.runs() if r.id == run))

    def opdev(self, *words):
        """``opdev …`` in a terminal, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "opdev.cli", *words, "--op", str(self.root)], capture_output=True, text=True, check=False,
            timeout=60, cwd="/",
        )  # fmt: skip

    def end(self):
        """Nothing of the operator is left running."""
        for run in self.runs():
            found = run.status
            if found is not None and found.runner is not None and alive(found.runner):
                with suppress(OSError):
                    os.kill(found.runner.pid, signal.SIGKILL)
            until(lambda run=run: not carrying(run.id), what="the end of what the run started")


def make(folder: Path, *, run=PASSING, more="") -> Operator:
    """An operator with all a run of phases 3 and 4 needs."""
    op = Operator(folder / "custom-ops" / "demo")
    op.answered(run, BUILDING.format(more=more))
    op.write("src/demo_kernel.cpp", KERNEL)
    op.write("scripts/cases.json", CASES)
    op.write("scripts/run_case_matrix.py", MATRIX)
    return op


def dumped(value) -> str:
    return json.dumps(value, ensure_ascii=False)
