"""An operator with a past: runs that measured, passed and failed, and an output that is wrong in one place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from code_server import ROOT

sys.path.insert(0, str(ROOT / "tests" / "lsp"))

from operators import Operator, make

PAYLOAD = 1 << 20
ELEMENTS = 4096
# A matrix of two cases on two PEs; PE 1 is wrong in the last one where a file says so.
MATRIX = """\
import glob, os, sys
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for path in glob.glob(root + "/output/*.bin"):
    os.utime(path)
wrong = os.path.exists(root + "/wrong")
open(root + "/docs/case_matrix_report.md", "w").write("# x\\n")
for case, bad in (("小_2pe", False), ("odd_2pe", wrong)):
    for pe in (0, 1):
        off = 1.0 if bad and pe else 0.0
        print(f"PE {pe}: dtype=float16 MaxAE={off:.6e} MaxRE={off:.6e} MeanRE={off / 16:.6e} rtol=0.0 atol=0.0")
        print(f"PE {pe}: {'FAIL (256 of 4096)' if off else 'PASS (4096 elements)'}")
    if bad:
        print("  first mismatch idx=3840 actual=0 expected=15")
    print(f"[CASE] id={case} result={'FAIL' if bad else 'PASS'} seconds=0.1", flush=True)
print(f"[MATRIX] total=2 passed={2 - wrong} failed={int(wrong)} blocked=0")
sys.exit(int(wrong))
"""


def runs(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".opdev/runs").iterdir())


def measured(op: Operator, bus: float, tag: str = "PERF") -> None:
    """A run on this machine whose program says it has so many GB/s."""
    kernel = PAYLOAD / bus / 1e3
    peak = "" if tag != "PERF" else f"bandwidth_utilization_pct={bus / 196 * 100:.6g} peak_bandwidth_GBps=196"
    api = "api=HcclAllGather" if tag != "PERF" else ""
    lines = "".join(
        f"echo '[{tag}] pe={pe} e2e_us={2 * kernel:.6g} kernel_us={kernel:.6g} algo_bandwidth_GBps={bus / 2:.6g} e2e_bus_bandwidth_GBps={bus / 2:.6g} "
        f"kernel_bus_bandwidth_GBps={bus:.6g} payload_bytes={PAYLOAD} bus_factor=1 {peak} {api}'\n"
        for pe in (0, 1)
    )  # fmt: skip
    ours, theirs = op.root / "scripts/perf.sh", op.root / "baseline/scripts/run_baseline.sh"
    for path in (ours, theirs):
        path.unlink(missing_ok=True)
    op.write(str((theirs if tag != "PERF" else ours).relative_to(op.root)), lines)
    op.opdev("run", "6", "--executor", "host", "--count", "524288")


def outputs(op: Operator) -> None:
    """The last sixteenth of PE 1 was never written."""
    golden = np.repeat(np.arange(1, 17, dtype=np.float16), ELEMENTS // 16)
    op.write("data/config.json", json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": ELEMENTS}))
    (op.root / "output").mkdir(exist_ok=True)
    for pe in (0, 1):
        output = golden.copy()
        output[ELEMENTS - ELEMENTS // 16 :] *= 1 - pe
        (op.root / f"data/golden_pe{pe}.bin").write_bytes(golden.tobytes())
        (op.root / f"output/output_pe{pe}.bin").write_bytes(output.tobytes())


def recorded(folder: Path) -> Operator:
    """Runs that passed and failed, measured ours and a baseline; the newest is the matrix."""
    op = make(folder)
    intake = op.root / "docs/phase0_intake.yaml"
    intake.write_text(intake.read_text().replace("performance_required: false", "performance_required: true"))
    op.write("scripts/run_case_matrix.py", MATRIX)
    measured(op, 100.0, "BASELINE_PERF")
    measured(op, 70.0)
    measured(op, 90.0)
    op.opdev("run", "4", "--executor", "host")
    op.write("wrong", "")
    outputs(op)
    op.opdev("run", "4", "--executor", "host")
    assert len(runs(op.root)) == 5, "every run has left its record"
    return op
