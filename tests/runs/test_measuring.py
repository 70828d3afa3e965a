"""Phase 6 as it is run: what is measured at which sizes, the tables at its end, and what later commands make of it."""

from __future__ import annotations

import json

import pytest
from fakes import of
from programs import BASELINE, SHMEM


@pytest.fixture
def measured(make):
    """An operator whose perf.sh prints what a good one would."""
    op = make(name="demo_allgather")
    op.write("scripts/perf.sh", SHMEM)
    return op


def summaries(events):
    return [e["document"] for e in of(events, "perf-summary")]


def test_a_small_and_a_large_payload_are_measured_at_each_pe_count(measured):
    run, events = measured.go("6", counts=(2, 8), pes=8)

    asked = [e["measures"] for e in of(events, "step-started") if e["task"].endswith("perf")]
    assert [(m["n_pes"], m["count"]) for m in asked] == [(2, 32768), (2, 67108864), (8, 32768), (8, 33554432)]
    assert [e["argv"][2].count(",") for e in of(events, "step-started") if e["task"].endswith("perf")] == [1, 1, 7, 7]
    [document] = summaries(events)
    found = [(g["tier"], g["n_pes"], g["used"]) for g in document["groups"]]
    assert found == [("S", 2, 3), ("L", 2, 3), ("S", 8, 3), ("L", 8, 3)]
    assert document["backend"] == "hardware"
    assert document["problems"] == []
    source = document["groups"][0]["sources"][0]
    assert source["run"] == run.id
    log = (measured.root / ".opdev" / "runs" / run.id / source["log"]).read_text().split("\n")
    assert all("[PERF]" in log[line - 1] for line in source["lines"])


def test_the_tables_stand_at_the_end_of_the_run_and_in_show(measured):
    done = measured.cli("run", "6", "--pes", "2", "--count", "1024")
    shown = measured.cli("show", "last")

    for out in (done.stdout, shown.stdout):
        assert "Bandwidth" in out
        assert "Latency" in out
        behind = out[out.index("Latency") :].split("\n\n")[1:]
        assert len(behind) == 2
        assert behind[1].startswith("passed after")
    table = [line.strip() for line in done.stdout[done.stdout.index("Bandwidth") :].split("\n")]
    assert table == [
        *[line.strip() for line in shown.stdout[shown.stdout.index("Bandwidth") :].split("\n")][: len(table) - 1],
        "",
    ]


def test_figures_of_a_failed_step_are_judged_by_nobody(measured):
    measured.write("scripts/perf.sh", SHMEM + "echo 'PE 0: FAIL (8 elements)'\nexit 1\n")
    _, events = measured.go("6", count=1024)

    [document] = summaries(events)
    assert [g["used"] for g in document["groups"]] == [0]
    assert document["problems"][0]["key"] == "step-failed"
    assert [c["verdict"] for c in document["comparisons"]] == ["unmeasured"]


def test_the_report_is_written_from_the_newest_records(measured):
    measured.write("scripts/cases.json", json.dumps([{"case_id": "large_fp16", "category": "performance", "scale": "L", "n_pes": 2, "dtype": "float16", "shape": [67108864]}]))  # fmt: skip
    measured.go("6")
    (measured.root / "scripts" / "perf.sh").unlink()
    measured.write("baseline/scripts/run_baseline.sh", BASELINE)
    measured.go("6")
    shown = measured.cli("perf", "show", "--format", "json")

    document = json.loads(shown.stdout)
    verdicts = {c["case"]: c["verdict"] for c in document["comparisons"]}
    assert verdicts == {"S_32768_fp16_2pe": "pass", "large_fp16": "pass"}
    assert measured.cli("perf", "report", "--check").returncode == 1
    assert measured.cli("perf", "report").returncode == 0
    assert measured.cli("perf", "report", "--check").returncode == 0
    report = measured.root / "docs" / "performance_report.md"
    text = report.read_text(encoding="utf-8")
    assert "| large_fp16 |" in text
    assert "PASS" in text
    report.write_text(text + "\n我们自己的一段。\n", encoding="utf-8")

    (measured.root / "baseline" / "scripts" / "run_baseline.sh").unlink()
    measured.write("scripts/perf.sh", SHMEM)
    measured.write("slow", "2")
    measured.write("scripts/perf.sh", SHMEM.replace("cat slow", f"cat {measured.root}/slow"))
    run, _ = measured.go("6")
    assert measured.cli("perf", "report").returncode == 0
    text = report.read_text(encoding="utf-8")
    assert "FAIL" in text
    assert "| PASS |" not in text
    assert run.id in text
    assert "我们自己的一段。" in text
    compared = measured.cli("perf", "compare", run.id, measured.runs()[0].id, "--format", "json")
    assert compared.returncode == 1
    assert {r["verdict"] for r in json.loads(compared.stdout)["rows"]} == {"worse"}


def test_without_measurements_nothing_is_made_up(make):
    op = make()
    out = op.cli("perf", "show")

    assert (out.returncode, out.stdout) == (0, "there are no measurements\n")
    assert op.cli("perf", "show", "last").returncode == 2
    report = op.cli("perf", "report")
    assert "no figures of hardware" in report.stdout
    assert "PASS" not in (op.root / "docs" / "performance_report.md").read_text(encoding="utf-8")
