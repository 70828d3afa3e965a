"""Stage 5 of PyPTO-Pro: what its numbers have to show for themselves."""

from __future__ import annotations

import hashlib
import json
import os

import pytest
from building import EVIDENCE, PERF, pro4, state, write

from opdev.phases.pypto_status import stage_gate
from opdev.workflow.compat import evidence_at

CASE = f"{PERF}/case_a_0123abcd"


@pytest.fixture
def demo(tmp_path):
    root = write(pro4(tmp_path / "custom" / "demo"), EVIDENCE)
    return state(root, operator_name="demo", max_stage=5, current_stage=5, stage_status={"5": "in_progress"})


def checks(root):
    gate = stage_gate(evidence_at(root.as_posix()), "5")
    return {check.id: check for check in gate.checks}


def changed(root, name, **more):
    path = root / name
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | more), encoding="utf-8")


def test_everything_there_is_proven(demo):
    found = checks(demo)

    wanted = ("perf-cases", "perf-round", "perf-measurements", "perf-protocol", "perf-timeline", "perf-marks", "perf-age", "perf-target", "perf-limits", "run-evidence")  # fmt: skip
    assert {name: found[name].state for name in wanted} == dict.fromkeys(wanted, "ok")
    assert found["perf-round"].detail["en"] == PERF


@pytest.mark.parametrize(
    ("gone", "fails"),
    [
        (f"{PERF}/collection.json", "perf-round"),
        (f"{CASE}/measurement.json", "perf-measurements"),
        (f"{CASE}/instruction_timeline/timeline_evidence.json", "perf-timeline"),
        ("performance.log", "file:performance.log"),
        ("PERFORMANCE_CASES.json", "file:PERFORMANCE_CASES.json"),
    ],
)
def test_what_is_missing_closes_the_gate(demo, gone, fails):
    (demo / gone).unlink()

    assert checks(demo)[fails].state == "failed"


@pytest.mark.parametrize(
    ("name", "change", "check", "said"),
    [
        ("PERFORMANCE_CASES.json", {"schema_version": 2}, "perf-cases", "schema_version"),
        ("PERFORMANCE_CASES.json", {"cases": [{"id": "a"}, {"id": "a"}]}, "perf-cases", "twice: a"),
        ("PERFORMANCE_CASES.json", {"cases": [{"id": "a", "test_function": "test_gone"}]}, "perf-cases", "test_gone"),
        ("PERFORMANCE_CASES.json", {"optimization_target": {"case_ids": ["z"], "selection_mode": "single_p0"}}, "perf-cases", "z"),
        ("PERFORMANCE_CASES.json", {"optimization_target": {"case_ids": ["a"], "selection_mode": "all"}}, "perf-cases", "selection_mode"),
        ("PERFORMANCE_CASES.json", {"optimization_target": {"case_ids": ["a", "b"], "selection_mode": "single_p0"}}, "perf-measurements", "b"),
        (f"{CASE}/measurement.json", {"warmup": 1}, "perf-protocol", "warm-up is 1"),
        (f"{CASE}/measurement.json", {"run": {"seed": 7}, "seed": None}, "perf-protocol", "seed is 7"),
        (f"{CASE}/measurement.json", {"repeats": 2}, "perf-protocol", "repeats is 2"),
        (f"{CASE}/measurement.json", {"op_name": " "}, "perf-protocol", "Op Name"),
        ("performance.json", {"golden_reference_ratio": {"status": "great"}}, "perf-target", "great"),
        ("performance.json", {"cases": [{"roofline_terminal": {"status": "fast"}, "scalar_evidence": {"dominant": True}}]}, "perf-limits", "fast"),
    ],
)  # fmt: skip
def test_what_contradicts_the_protocol_closes_the_gate(demo, name, change, check, said):
    changed(demo, name, **change)

    found = checks(demo)[check]
    assert found.state == "failed"
    assert said in found.detail["en"]
    assert found.place is not None


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"golden_reference_ratio": {"status": "not_met"}}, "perf-target"),
        ({"golden_reference_ratio": {"status": "unavailable"}}, "perf-target"),
        ({"golden_reference_ratio": None}, "perf-target"),
        ({"cases": []}, "perf-limits"),
    ],
)
def test_what_proves_nothing_is_said_and_closes_nothing(demo, change, check):
    changed(demo, "performance.json", **change)

    assert checks(demo)[check].state == "unknown"


def test_a_case_is_not_another_that_begins_alike(demo):
    (demo / "performance.log").write_text("PYPTO_PERF_SELECTED_CASE=a1\n", encoding="utf-8")

    assert checks(demo)["perf-marks"].state == "failed"


def test_fewer_repeats_than_the_protocol_has(demo):
    (demo / CASE / "repeat_003" / "op_summary.csv").unlink()
    (demo / CASE / "repeat_003").rmdir()

    assert "2 repeats" in checks(demo)["perf-protocol"].detail["en"]


def test_code_that_is_younger_than_its_measurement_counts_by_its_hash(demo):
    test = demo / "test_demo.py"
    time = (demo / CASE / "measurement.json").stat().st_mtime
    os.utime(test, (time + 600, time + 600))
    assert checks(demo)["perf-age"].state == "failed"

    changed(demo, f"{CASE}/measurement.json", executable_sha256=hashlib.sha256(test.read_bytes()).hexdigest())
    os.utime(demo / CASE / "measurement.json", (time, time))
    assert checks(demo)["perf-age"].state == "ok"


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{", '{"cases": 3}', '{"cases": [1], "optimization_target": []}', "[" * 5000]
)
def test_odd_files_are_judged(demo, text):
    for name in ("PERFORMANCE_CASES.json", "performance.json", f"{CASE}/measurement.json"):
        (demo / name).write_text(text, encoding="utf-8")

    found = checks(demo)
    assert any(check.state == "failed" for check in found.values())
