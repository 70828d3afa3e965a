"""What the CPU stand-in measured is no evidence of performance; what it does without closes no gate."""

from __future__ import annotations

import json

from build import PERF, copied

from opdev.phases import gates, intake, perf
from opdev.phases.evidence import Evidence
from opdev.project.operators import Operator
from opdev.project.places import Places

LINE = "[PERF] pe=0 e2e_us=10 kernel_us=8 kernel_bus_bandwidth_GBps=20\n"


def test_a_log_of_the_stand_in_is_none_of_phase_6(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("data/perf/shmem_8_float16.log", f"[SIM] backend=sim text=x\n{LINE}", PERF)

    assert not perf.begun(Evidence(Operator(str(op.root), Places())))

    op.write("data/perf/shmem_8_float16.log", LINE, PERF)

    assert perf.begun(Evidence(Operator(str(op.root), Places())))


INTAKE = """\
phase0_intake:
  op_name: allgather
  build_mode: independent_project
  torch_required: false
  performance_required: false
  performance_auto_optim: false
  cann_set_env: pending
  cann_source_mode: user_custom
  cann_set_env_pending: true
  conda_env: none
  shmem_repo: pending
  askquestion_completed: [1, 2, 3, 4, 5]
  docker_container: null
  docker_exec_required: false
"""


def evidence(op, **more):
    return Evidence(Operator(str(op.root), Places()), **more)


def states(gate):
    return {check.id: check.state for check in gate.checks}


def test_a_laptop_without_cann_passes_the_intake_when_it_simulates(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("docs/phase0_intake.yaml", INTAKE, 50)

    real, sim = gates.gate(evidence(op), "0"), gates.gate(evidence(op, simulated=True), "0")

    assert real.state == "closed"
    assert (states(real)["intake-cann"], states(real)["intake-repo"]) == ("failed", "unknown")
    assert sim.state == "open", sim.closed_by
    told = [c.detail["zh"] for c in sim.checks if c.id in ("intake-cann", "intake-repo")]
    assert all("模拟" in text and "backend: sim" in text for text in told)


def test_the_last_run_says_whether_it_is_simulated(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("docs/phase0_intake.yaml", INTAKE, 50)
    for run, backend, state in (("20260101-000000-000000-aaaaaa", "npu", "closed"), ("20260101-000001-000000-aaaaaa", "sim", "open"), ("20260101-000002-000000-aaaaaa", "npu", "closed")):  # fmt: skip
        op.write(f".opdev/runs/{run}/status.json", json.dumps({"backend": backend}), 50)

        assert gates.gate(evidence(op), "0").state == state

    op.write(".opdev/runs/20260101-000003-000000-aaaaaa/status.json", "{broken", 50)
    assert gates.gate(evidence(op), "0").state == "closed"


def test_the_flags_of_a_template_are_nobodys_answers(tmp_path):
    op = copied(tmp_path, "allgather")
    (op.root / "docs/phase0_intake.yaml").unlink(missing_ok=True)
    assert intake.lacking(evidence(op)) == []

    op.write(".opdev/template.json", "{}", 50)

    assert [check.id for check in intake.lacking(evidence(op))] == ["intake-record"]
    assert not intake.complete(evidence(op))
