"""An operator whose speed and correctness are written in its source: its scripts are real programs of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jsonschema
from trees import write

from opdev.runs import events, store
from opdev.runs.execute import Stop
from opdev.runs.plan import Plan
from opdev.runs.reader import replay
from opdev.runs.runner import Runner

VALIDATOR = jsonschema.Draft202012Validator(events.schema())
INTAKE = """\
phase0_intake:
  op_name: tuned
  build_mode: independent_project
  torch_required: false
  performance_required: true
  performance_auto_optim: true
  cann_set_env: ""
  cann_source_mode: session_preconfigured
  conda_env: none
  shmem_repo: pending
  skills_root: none
  askquestion_completed: [1, 2, 3, 4, 5]
  cann_set_env_pending: false
  docker_container: null
  docker_workdir: null
  docker_exec_required: false
"""
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
  echo "[PERF] pe=$pe e2e_us=$((100000 / BUS)) kernel_us=$((90000 / BUS)) algo_bandwidth_GBps=$BUS kernel_bus_bandwidth_GBps=$((BUS + pe + n % 2)) payload_bytes=${PAYLOAD:-$2} bus_factor=1"
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


def of(found, type_):
    return [e for e in found if e["type"] == type_]
