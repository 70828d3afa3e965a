"""An operator whose speed and correctness are written in its source: its scripts are real programs of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jsonschema
from ready import ANSWERED, of
from trees import write

from opdev.runs import events, store
from opdev.runs.execute import Stop
from opdev.runs.plan import Plan
from opdev.runs.reader import replay
from opdev.runs.runner import Runner

__all__ = ["INTAKE", "VALIDATOR", "Tuned", "made", "of"]
VALIDATOR = jsonschema.Draft202012Validator(events.schema())
INTAKE = (
    ANSWERED.format(name="tuned")
    .replace("performance_required: false", "performance_required: true")
    .replace("auto_optim: false", "auto_optim: true")
)
BUILD = """\
here=$(cd "$(dirname "$0")/../$1" && pwd)
grep -q broken "$here/src/main.cpp" && { echo 'src/main.cpp:1:1: error: broken'; exit 1; }
mkdir -p "$here/build/bin"; cp "$here/src/main.cpp" "$here/build/bin/$1"
"""
MATRIX = """\
import pathlib, sys
root = pathlib.Path(__file__).parents[1]
wrong = "wrong" in (root / "src/main.cpp").read_text()
(root / "docs/case_matrix_report.md").write_text("# cases\\n")
result = "FAIL" if wrong else "PASS"
print(f"[CASE] id=a category=functional scale=S n_pes=2 result={result}")
print(f"[MATRIX] total=1 passed={int(not wrong)} failed={int(wrong)} blocked=0")
sys.exit(int(wrong))
"""
PERF = """\
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/src/main.cpp"
n=$(cat "$here/data/n" 2>/dev/null || echo 0); mkdir -p "$here/data"; echo $((n + 1)) > "$here/data/n"
for pe in 0 1; do
  awk -v base="$BUS" -v bus=$((BUS + pe + n % 2)) -v pe=$pe -v payload="${PAYLOAD:-$2}" 'BEGIN {
    if (base == 0) exit 1
    time = payload / bus / 1000
    printf "[PERF] pe=%d e2e_us=%.9g kernel_us=%.9g algo_bandwidth_GBps=%.9g e2e_bus_bandwidth_GBps=%.9g", pe, time, time, bus, bus
    printf " kernel_bus_bandwidth_GBps=%.9g bandwidth_utilization_pct=%.9g payload_bytes=%d bus_factor=1 peak_bandwidth_GBps=28\\n", bus, bus / 28 * 100, payload
  }' || exit 1
done
echo "args $*"
"""


@dataclass
class Tuned:
    """``BUS`` in ``src/main.cpp`` is its bandwidth in GB/s; ``wrong`` and ``broken`` in it are what they say."""

    root: Path

    def source(self, text: str) -> None:
        write(self.root, {"src/main.cpp": text})

    def go(self, request: str, **more):
        """Run a phase to its end; its status and its events, each held against the schema."""
        plan = Plan(request, str(self.root), **{"grace": 1.0, "count": 4096, **more})
        run = store.create(str(self.root), plan.data())
        Runner(run, Stop()).go()
        found = replay(run)
        for event in found:
            VALIDATOR.validate(event)
        return run.status, found


def made(folder: Path) -> Tuned:
    root = folder / "repo" / "custom-ops" / "tuned"
    write(root, {
        "docs/phase0_intake.yaml": INTAKE, "CMakeLists.txt": "project(tuned)\n", "src/main.cpp": "BUS=100\n", "scripts/run_case_matrix.py": MATRIX,
        "scripts/perf.sh": PERF, "../scripts/build.sh": BUILD, "../../include/x.h": "", "../../src/x.cpp": "",
    })  # fmt: skip
    return Tuned(root)
