"""Rounds as runs make them: measured by phase 6, retested by phase 6.5, decided by a person."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from trees import described, write
from tuned import made, of

from opdev.phases.evidence import Evidence
from opdev.phases.rounds_ledger import checks, standing
from opdev.phases.status import judged
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rounds import ledger as ledgers
from opdev.rounds import work
from opdev.rounds.errors import Refused
from opdev.rounds.measured import BUS
from opdev.rounds.overview import overview
from opdev.rounds.store import Store
from opdev.runs import store as runs
from opdev.runs.commands import commands
from opdev.runs.execute import Stop
from opdev.runs.executors.host import Host
from opdev.runs.optimising import Optimising
from opdev.runs.plan import Plan
from opdev.runs.process import carrying
from opdev.runs.runner import Runner
from opdev.runs.starting import start


@pytest.fixture
def op(tmp_path):
    return made(tmp_path)


def last(op):
    return overview(str(op.root))[-1]


def started(op, idea="double buffer"):
    op.go("6")
    work.start(Store(str(op.root)), idea, work.Limit())


def test_from_round_0_to_a_kept_round(op):
    _, found = op.go("6")
    (told,) = of(found, "round")
    assert (told["round"], told["what"], told["figures"][BUS]) == (0, "measured", 100.5)
    work.start(Store(str(op.root)), "double buffer", work.Limit())

    status, found = op.go("6.5")
    assert (status.state, of(found, "round")) == ("blocked", [])
    assert "no code was changed" in status.message
    op.source("BUS=120\n")
    status, found = op.go("6.5")

    assert status.state == "blocked"
    assert [e["task"].partition("-")[2] for e in of(found, "step-ended")] == ["build", "matrix", "perf", "perf", "perf"]
    (told,) = of(found, "round")
    assert (told["round"], told["at"], told["what"], told["correctness"], told["proposal"], told["code"]) == (1, "1.1", "retested", "pass", "keep", "gain")  # fmt: skip
    assert told["changed"] == ["src/main.cpp"]
    row = last(op)
    assert [s[BUS] for s in row.measured.samples] == [121.5, 120.5, 121.5]
    assert round(row.vs_first, 3) == round(121.5 / 100.5 - 1, 3)
    assert work.keep(Store(str(op.root)))[0].state == "kept"


def test_red_is_proposed_back_and_never_kept(op):
    started(op)
    before = described(op.root / "src")
    for source, route in (("BUS=900\n# wrong\n", "3"), ("BUS=900\n# broken\n", "3")):
        op.source(source)
        write(op.root, {"src/extra.h": "added\n"})
        status, found = op.go("6.5")

        assert status.state == "failed"
        (told,) = of(found, "round")
        assert (told["correctness"], told["proposal"], told["code"]) == ("fail", "revert", "red")
        assert of(found, "phase-ended")[-1]["route"] == route
        assert not of(found, "perf")
        with pytest.raises(Refused, match="keep-red"):
            work.keep(Store(str(op.root)))
    work.revert(Store(str(op.root)))
    assert described(op.root / "src") == before
    assert last(op).round.state == "reverted"


def test_another_payload_is_told_and_other_parameters_are_not_even_measured(op):
    started(op)
    op.source("BUS=200\nPAYLOAD=64\n")
    _, found = op.go("6.5")
    assert of(found, "round")[0]["code"] == "payload"
    with pytest.raises(Refused, match="keep-payload"):
        work.keep(Store(str(op.root)))
    for more, word in (
        ({"pes": 4, "counts": (4,)}, "--pes 2"),
        ({"count": 8192}, "--count 4096"),
        ({"dtype": "int8"}, "--dtype"),
    ):
        status, found = op.go("6.5", **more)
        assert (status.state, of(found, "step-started")) == ("blocked", [])
        assert word in status.message
    op.source("BUS=200\n")
    _, found = op.go("6.5", count=0)
    assert of(found, "round")[0]["code"] == "gain"
    assert {e["measures"]["count"] for e in of(found, "step-started") if "measures" in e} == {4096}


def test_a_failed_measurement_is_no_verdict(op):
    started(op)
    op.source("BUS=0\n")

    status, found = op.go("6.5")

    assert status.state == "failed"
    assert of(found, "round")[0]["code"] == "unmeasured"


def test_code_changed_during_its_retest_says_nothing(op):
    started(op)
    op.source("BUS=120\n")
    matrix = (op.root / "scripts/run_case_matrix.py").read_text()
    write(
        op.root, {"scripts/run_case_matrix.py": "import pathlib\npathlib.Path('src/late.h').write_text('x')\n" + matrix}
    )

    status, found = op.go("6.5")

    assert (status.state, of(found, "round")) == ("blocked", [])
    assert ledgers.read(str(op.root)).open.retests == ()


def test_the_run_opens_rounds_up_to_five(op):
    op.go("6")
    for number in range(1, 6):
        _, found = op.go("6.5")
        assert [(e["round"], e["what"]) for e in of(found, "round")] == [(number, "started")]
        work.revert(Store(str(op.root)))
    status, _ = op.go("6.5")
    assert (status.state, "--max-rounds 6" in status.message) == ("blocked", True)
    _, found = op.go("6.5", max_rounds=6)
    assert of(found, "round")[0]["round"] == 6


def test_a_phase_that_is_not_wanted_says_why_and_how_to_do_a_round_all_the_same(op):
    intake = op.root / "docs" / "phase0_intake.yaml"
    intake.write_text(intake.read_text("utf-8").replace("auto_optim: true", "auto_optim: false"), "utf-8")

    status, found = op.go("6.5")

    assert status.state == "passed"
    assert [e["state"] for e in of(found, "gate")] == ["skipped"]
    why, how = (e["text"]["en"] for e in of(found, "note"))
    assert why.startswith("performance_auto_optim is false")
    assert "opdev rounds start" in how
    assert ledgers.read(str(op.root)).rounds == ()


def test_a_run_of_all_phases_opens_no_round_by_itself(op):
    plan = Plan("all", str(op.root), grace=1.0, count=4096)
    runner = Runner(runs.create(str(op.root), plan.data()), Stop())

    done = Optimising(runner.events, runner._stepper(), Host(runner.run.id), plan).run("6.5")

    assert (done.outcome, "opdev rounds start" in done.why["en"]) == ("blocked", True)
    assert ledgers.read(str(op.root)).rounds == ()


def test_a_program_changes_the_code_and_names_its_idea(op):
    op.go("6")
    program = op.root / "tune.py"
    program.write_text(
        "import json, os, pathlib\n"
        "value = json.load(open(os.environ['OPDEV_CONTEXT']))['round']\n"
        "pathlib.Path('src/main.cpp').write_text('BUS=130\\n')\n"
        "pathlib.Path(value['idea_file']).write_text('signal per block')\n"
    )
    external = {"6.5": (sys.executable, str(program))}

    _, found = op.go("6.5", external=external)

    assert [(e["what"], e.get("code")) for e in of(found, "round")] == [("started", None), ("retested", "gain")]
    assert last(op).round.idea == "signal per block"
    _, found = op.go("6.5", external=external)
    assert not [e for e in of(found, "step-ended") if "external" in e["task"]]
    assert work.keep(Store(str(op.root)))[0].idea == "signal per block"


def test_simulated_figures_are_no_reference_of_measured_ones(op):
    started(op)
    root = str(op.root)
    found = ledgers.read(root)
    (test,) = found.base.retests
    simulated = replace(test, backend="sim", measured=replace(test.measured, backend="sim"))
    ledgers.write(root, found.with_round(replace(found.base, retests=(simulated,))))
    op.source("BUS=120\n")

    _, events = op.go("6.5")

    assert of(events, "round")[0]["code"] == "no-reference"


def test_a_run_that_dies_leaves_the_round_open_and_status_says_so(op):
    started(op)
    op.source("BUS=120\n")
    write(op.root, {"scripts/perf.sh": "touch data/here; sleep 30\n"})
    began = start(Plan("6.5", str(op.root), grace=1.0, count=4096), lifeline=False)
    deadline = time.monotonic() + 60
    while not (op.root / "data/here").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(began.run.status.runner.pid, signal.SIGKILL)
    began.process.wait(20)
    while carrying(began.run.id) and time.monotonic() < deadline:
        time.sleep(0.02)

    evidence = Evidence(Operator(str(op.root), Places()))

    assert "round 1 (double buffer) is open and not retested" in judged(evidence).round["en"]
    assert not carrying(began.run.id)
    work.revert(Store(str(op.root)))
    assert (op.root / "src/main.cpp").read_text() == "BUS=100\n"
    assert standing(str(op.root)) is None


def test_an_interrupted_restore_shows_and_the_next_run_finishes_it(op):
    from test_snapshots import killed_at

    from opdev.rounds.ledger import interrupted

    started(op)
    op.source("BUS=120\n")
    moment = 1
    while killed_at(moment, lambda: work.revert(Store(str(op.root)))) and not interrupted(str(op.root)):
        moment += 1
    assert "opdev rounds" in standing(str(op.root))["en"]

    op.go("6")

    assert (op.root / "src/main.cpp").read_text() == "BUS=100\n"
    assert ledgers.read(str(op.root)).rounds[-1].state == "reverted"
    assert standing(str(op.root)) is None


def test_the_gate_holds_the_report_to_what_was_decided(op):
    def said():
        return [(c.state, c.detail["en"]) for c in checks(Evidence(Operator(str(op.root), Places())))]

    assert said() == []
    store = Store(str(op.root))
    work.start(store, "x", work.Limit())
    assert said() == [("failed", "round 1 is still open")]
    work.revert(store)
    report = "# 性能报告：tuned\n\n## 4. 优化记录\n\n### Round 1: x\n\n- 决策：{}\n"
    write(op.root, {"docs/performance_report.md": report.format("keep")})
    assert said() == [("failed", "the report says keep of round 1, and it was reverted")]
    write(op.root, {"docs/performance_report.md": report.format("revert")})
    assert said() == [("ok", "1 rounds agree")]


def test_baseline_and_shmem_are_programs_of_their_own_with_a_pause_between(op):
    line = (
        "for pe in 0 1; do echo [{tag}] pe=$pe e2e_us={time} kernel_us={time} algo_bandwidth_GBps={bus} e2e_bus_bandwidth_GBps={bus}"
        " kernel_bus_bandwidth_GBps={bus} payload_bytes=4096 bus_factor=1 {more} pid=$$; done\n"
    )
    write(op.root, {
        "baseline/scripts/run_baseline.sh": "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $n -gt 0 ] || exit 3\n" + line.format(tag="BASELINE_PERF", bus=50, time=4.096 / 50, more="api=HcclAllGather"),
        "scripts/perf.sh": line.format(tag="PERF", bus=60, time=4.096 / 60, more="bandwidth_utilization_pct=214.29 peak_bandwidth_GBps=28"),
    })  # fmt: skip
    baseline, perf = (s for s in commands("6").steps if s.id in ("baseline", "perf"))
    assert perf.pause_after == ("baseline", 30)
    assert (baseline.retry[0], 15 <= baseline.retry[1] <= 30) == (1, True)
    plan = Plan("6", str(op.root), grace=1.0, count=4096)
    run = runs.create(str(op.root), plan.data())
    runner = Runner(run, Stop())
    phases = Optimising(runner.events, runner._stepper(), Host(run.id), plan)
    spec = replace(
        commands("6"), steps=(replace(baseline, retry=(1, 0.3)), replace(perf, pause_after=("baseline", 0.7)))
    )

    phases._run(spec)

    found = phases._told()
    kinds = [e["task"].partition("-")[2] or e["task"] for e in found if e["type"] in ("step-started", "pause")]
    assert kinds == ["baseline", "baseline", "baseline", "perf", "perf"]  # tried, pause, alone again, pause, measured
    pauses = [round(e["seconds"], 1) for e in of(found, "pause")]
    assert (pauses[0], 0.5 <= pauses[1] <= 0.7) == (0.3, True)
    ended = [e["time"] for e in of(found, "step-ended")]
    assert of(found, "step-started")[2]["time"] - ended[1] >= 0.69
    pids = {e["texts"]["pid"] for e in of(found, "perf")}
    assert len(pids) == 2
    row = last(op)
    assert (row.round.number, round(row.vs_baseline, 3)) == (0, 0.2)
    assert json.loads((op.root / ".opdev/rounds/rounds.json").read_text())["baselines"][0]["payload_bytes"] == 4096


def test_a_baseline_of_another_run_is_waited_for_as_well(op):
    """Measured 29 s ago, whoever ran it: of the 30 s there is one left."""
    run = runs.create(str(op.root), {})
    record = {
        "type": "step-ended",
        "task": "01-baseline",
        "step": "baseline",
        "result": "pass",
        "time": time.time() - 29,
        "seconds": 1.0,
    }
    Path(run.events).write_text(json.dumps(record) + "\n", encoding="utf-8")

    _, found = op.go("6")

    (waited,) = of(found, "pause")
    assert 0 < waited["seconds"] <= 1
    begun = next(e for e in of(found, "step-started") if e["task"].endswith("-perf"))
    assert begun["time"] - record["time"] >= 29.9
    _, again = op.go("6")
    assert of(again, "pause") == []
