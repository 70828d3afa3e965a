"""What the CPU stand-in showed: it passes a build and a case and says so, and is no evidence of performance."""

from __future__ import annotations

import json

import pytest
from build import CORRECTNESS, PERF, SMOKE, copied, correctness_report, finished, performance_report

from opdev.phases import perf
from opdev.phases.cli import main
from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.project.operators import Operator
from opdev.project.places import Places

LINE = "[PERF] pe=0 e2e_us=10 kernel_us=8 kernel_bus_bandwidth_GBps=20\n"


def evidence(op):
    return Evidence(Operator(str(op.root), Places()))


def record(op, *steps, backend="sim", n_pes=2, run="r1"):
    """A run's records, for exactly the sources that are there."""
    found = evidence(op)
    sources = {relative: found.digest(relative) for relative in found.sources}
    lines = [
        json.dumps({"step": s, "result": "pass", "time": 1_700_000_000 + SMOKE + n, "backend": backend, "n_pes": n_pes, "sources": sources})
        for n, s in enumerate(steps)
    ]  # fmt: skip
    op.write(f".opdev/runs/{run}/events.jsonl", "\n".join(lines) + "\n", SMOKE)


def test_a_log_of_the_stand_in_is_none_of_phase_6(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("data/perf/shmem_8_float16.log", f"[SIM] backend=sim text=x\n{LINE}", PERF)

    assert not perf.begun(evidence(op))
    said = gate(evidence(op), "6").closed_by[0].detail["en"]
    assert "simulated figures only (data/perf/shmem_8_float16.log)" in said

    op.write("data/perf/shmem_8_float16.log", LINE, PERF)

    assert perf.begun(evidence(op))


@pytest.mark.parametrize("backend", ["sim", "npu"])
def test_gate_3_opens_by_the_stand_in_and_says_so(tmp_path, backend):
    op = copied(tmp_path, "allgather")
    record(op, "build", "smoke", backend=backend)

    found = gate(evidence(op), "3")

    assert (found.state, found.simulated) == ("open", backend == "sim")
    told = {c.id: c for c in found.checks if c.simulated}
    assert set(told) == ({"code-build", "code-smoke"} if backend == "sim" else set())
    assert all("(simulated)" in c.detail["en"] and "（模拟）" in c.detail["zh"] for c in told.values())


@pytest.mark.parametrize("backend", ["sim", "npu"])
def test_gate_4_opens_by_the_stand_in_and_says_so(tmp_path, backend):
    op = finished(tmp_path, "allgather")
    record(op, "build", "smoke", "matrix", backend=backend)

    found = gate(evidence(op), "4")

    assert (found.state, found.simulated) == ("open", backend == "sim")


@pytest.mark.parametrize("backend", ["sim", "npu"])
def test_what_ran_on_the_stand_in_alone_is_not_delivered(tmp_path, backend):
    op = finished(tmp_path, "allgather")
    record(op, "build", "smoke", "matrix", backend=backend)

    check = next(c for c in gate(evidence(op), "7").checks if c.id == "hardware-evidence")

    assert check.state == ("failed" if backend == "sim" else "ok")
    if backend == "sim":
        assert check.detail["en"] == "code and build · correctness passed on the CPU stand-in only"
        assert "opdev run 3; opdev run 4" in check.opens["en"]


def test_hardware_after_the_stand_in_is_hardware(tmp_path):
    op = copied(tmp_path, "allgather")
    record(op, "build", "smoke")
    record(op, "build", "smoke", backend="npu", run="r2")

    assert not gate(evidence(op), "3").simulated


def test_a_program_of_the_stand_in_is_told_by_what_it_is_linked_with(tmp_path):
    op = copied(tmp_path, "allgather")
    op.write("docs/x.log", "", CORRECTNESS)
    op.write("build/bin/allgather", b"\x7fELF .. libopdev_sim.so ..", SMOKE)
    op.write("data/smoke.log", "[SIM] backend=sim\nPASS: all 2 PE outputs match\n", SMOKE)

    found = gate(evidence(op), "3")

    assert (found.state, {c.id for c in found.checks if c.simulated}) == ("open", {"code-build", "code-smoke"})


def test_no_record_of_the_stand_in_is_a_measurement(tmp_path):
    op = copied(tmp_path, "allgather")
    record(op, "perf", "baseline")

    assert evidence(op).records == []
    assert gate(evidence(op), "6").state == "closed"
    assert not gate(evidence(op), "6").simulated


@pytest.mark.parametrize(("mark", "met"), [("PASS", True), ("**FAIL**", False), ("", True)])
def test_what_section_3_5_says_wins_over_its_numbers(tmp_path, mark, met):
    op = copied(tmp_path, "allgather")
    text = performance_report(op)
    assert text.count("| PASS |") == 1
    op.write(perf.REPORT, text.replace("| PASS |", f"| {mark} |"), PERF)

    assert perf.decision(evidence(op)).met is met


def test_too_noisy_to_tell_is_no_pass_of_gate_6(tmp_path):
    op = finished(tmp_path, "allgather")
    assert perf.decision(evidence(op)).met is True
    report = (op.root / perf.REPORT).read_text(encoding="utf-8")
    section, rest = report.split("### 3.5", 1)
    row, _, behind = rest.partition("PASS")
    assert behind
    op.write(perf.REPORT, f"{section}### 3.5{row}无法判断（波动太大）{behind}", PERF)

    assert perf.decision(evidence(op)).met is None
    assert "perf-decision" in [c.id for c in gate(evidence(op), "6").closed_by]


@pytest.mark.parametrize(("lang", "head", "line"), [("zh", "门禁已开（模拟）", "已开（模拟）"), ("en", "gate open (simulated)", "open (simulated)")])  # fmt: skip
def test_gate_and_status_show_it(tmp_path, capsys, lang, head, line):
    op = copied(tmp_path, "allgather")
    record(op, "build", "smoke")

    assert main("gate", ["3", "--op", str(op.root), "--lang", lang]) == 0
    assert head in capsys.readouterr().out
    main("status", [str(op.root), "--lang", lang])
    assert line in capsys.readouterr().out
    main("gate", ["3", "--op", str(op.root), "--format", "json"])
    value = json.loads(capsys.readouterr().out)
    assert value["simulated"] is True
    assert {c["id"] for c in value["checks"] if c["simulated"]} == {"code-build", "code-smoke"}


def test_reports_of_a_simulated_matrix_stay_simulated_without_the_build(tmp_path):
    op = copied(tmp_path, "allgather")
    record(op, "matrix")
    op.write("docs/correctness_report.md", correctness_report(op), CORRECTNESS)

    smoke = next(c for c in gate(evidence(op), "3").checks if c.id == "code-smoke")
    assert smoke.state != "ok" or smoke.simulated
