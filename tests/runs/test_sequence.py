"""A run of all phases: refused without answers, stopped where a person is needed, told how to go on, resumed there."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from fakes import of
from needed import needs
from test_begun import whole

ANSWERS = "cann: later\nbuild_mode: custom_ops\ntorch: no\nperf: no\nperf_auto_optim: no\n"
sim = needs("g++", "cmake")


def unanswered(op):
    (op.root / "docs/phase0_intake.yaml").unlink()


@pytest.mark.parametrize("phase", ["1", "3", "4", "7"])
def test_no_phase_is_run_before_the_five_questions_are_answered(make, phase):
    op = make()
    unanswered(op)

    run, found = op.go(phase)

    assert not of(found, "step-started")
    assert not of(found, "prepared")
    assert run.status.now == "blocked"
    ended = of(found, "phase-ended")[0]
    assert ended["route"] == "0"
    assert "intake" in ended["why"]["en"]
    assert "opdev intake" in of(found, "manual")[0]["what"]["zh"]


def test_neither_keep_going_nor_resume_passes_the_intake(make):
    op = make()
    unanswered(op)

    for more in ({"keep_going": True}, {"resume": True}, {"resume": True, "keep_going": True}):
        run, found = op.go("all", **more)

        assert [e["phase"] for e in of(found, "phase-started")] == ["0"], more
        assert run.status.now == "blocked"
        assert "opdev intake" in of(found, "note")[-1]["text"]["en"]


def test_answers_that_are_incomplete_are_named(make):
    op = make()
    record = op.root / "docs/phase0_intake.yaml"
    record.write_text(record.read_text().replace("[1, 2, 3, 4, 5]", "[1, 2, 3]"))

    _, found = op.go("3")

    assert "4, 5" in of(found, "phase-ended")[0]["why"]["en"]


def test_a_design_of_the_template_is_no_answer(make):
    """``opdev new`` was told nothing of CANN, Torch or performance: its flags are nobody's answers."""
    op = make()
    unanswered(op)
    whole(op)

    _, found = op.go("3")

    assert of(found, "phase-ended")[0]["route"] == "0"


def test_work_resumed_with_a_whole_design_needs_no_record(make):
    op = make()
    unanswered(op)
    whole(op)
    shutil.rmtree(op.root / ".opdev")

    _, found = op.go("1")

    # The design's own gate is asked, the intake does not stand before it.
    assert of(found, "gate")[0]["phase"] == "1"
    assert of(found, "phase-ended")[0]["route"] != "0"


def test_each_stop_says_what_and_how_to_go_on(make):
    op = make()

    done = op.cli("run", "all", "--pes", "2,8")

    assert done.returncode == 1
    text = done.stdout
    assert "Phase 0" in text
    assert "`opdev run all --resume --pes 2,8" in text


def test_keep_going_passes_what_waits_and_tells_it_at_the_end(make):
    op = make()

    run, found = op.go("all", keep_going=True)

    started = [e["phase"] for e in of(found, "phase-started")]
    assert started == ["0", "1", "2", "3", "4", "5", "7"]
    assert run.status.now == "blocked"
    why = of(found, "run-ended")[0]["why"]
    for phase in started:
        assert f"Phase {phase}：" in why["zh"]
        assert f"Phase {phase}: " in why["en"]


def test_resumed_it_goes_on_at_the_earliest_phase_that_is_open(make):
    op = make()
    whole(op)
    (op.root / "scripts/check_result.py").unlink()

    _, found = op.go("all", resume=True)

    assert of(found, "phase-started")[0]["phase"] == "2" == found[0]["phases"][0]


def test_several_pe_counts_run_the_smoke_once_for_each(make):
    op = make(
        run='mkdir -p output; echo "$1" >> counts; for pe in $(seq 0 $(($1 - 1))); do echo "PE $pe: PASS (8 elements)"; done\n'
    )

    _, found = op.go("3", pes=4, counts=(2, 4))

    assert (op.root / "counts").read_text() == "2\n4\n"
    smokes = [e for e in of(found, "step-ended") if e.get("step") == "smoke"]
    assert [(e["task"], e["n_pes"]) for e in smokes] == [("02-smoke", 2), ("03-smoke", 4)]
    assert found[0]["counts"] == [2, 4]


MATRIX = """\
import sys
print("--pes" and "[CASE] a_%s PASS" % "_".join(sys.argv[1:]))
open("ran", "a").write(" ".join(sys.argv[1:]) + "\\n")
open("docs/case_matrix_report.md", "w").write("x")
"""


def test_named_pe_counts_narrow_the_matrix(make):
    op = make()
    op.write("scripts/run_case_matrix.py", MATRIX)

    op.go("4", pes=8, counts=(2, 8))

    assert (op.root / "ran").read_text() == "--pes 2\n--pes 8\n"


def test_a_matrix_script_that_knows_no_counts_runs_whole_and_that_is_said(make):
    op = make()
    op.write("scripts/run_case_matrix.py", MATRIX.replace('"--pes" and ', ""))

    _, found = op.go("4", pes=8, counts=(2, 8))

    assert (op.root / "ran").read_text() == "\n"
    assert any("--pes" in e["text"]["en"] for e in of(found, "note"))


def test_without_counts_the_matrix_is_whole(make):
    op = make()
    op.write("scripts/run_case_matrix.py", MATRIX)

    op.go("4")

    assert (op.root / "ran").read_text() == "\n"


@sim
def test_on_a_laptop_without_cann_the_intake_opens_and_says_that_it_is_simulated(make):
    op = make()
    unanswered(op)
    (op.root / "answers.yaml").write_text(ANSWERS + "semantics: 各 PE 的块按 PE 号拼接\n")
    assert op.cli("intake", "--answers", "answers.yaml", ASCEND_HOME_PATH="").returncode == 0

    done = op.cli("run", "0", "--executor", "sim", "--format", "jsonl")

    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout
    probes = {e["probe"]: e["state"] for e in of(found, "probe")}
    assert {probes[name] for name in ("bisheng", "cann", "npu", "torch", "torch_npu", "shmem-repo")} == {"unneeded"}
    assert {probes[name] for name in ("g++", "cmake", "python", "numpy")} == {"ok"}
    # What the run found holds for whoever asks next.
    assert op.cli("gate", "0").returncode == 0
    assert "simulated" in op.cli("gate", "0", "--format", "json").stdout


@sim
def test_what_the_stand_in_needs_and_lacks_blocks_phase_0(make, tmp_path):
    op = make()
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "cmake").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    (tools / "cmake").chmod(0o755)
    op.write("docs/design.md", "")

    done = op.cli("run", "0", "--executor", "sim", PATH=f"{tools}:{os.environ['PATH']}")

    assert done.returncode != 0
    assert "cmake" in done.stdout + done.stderr


@sim
def test_torch_is_skipped_on_the_stand_in_and_said_to_be(make):
    op = make()
    record = op.root / "docs/phase0_intake.yaml"
    record.write_text(record.read_text().replace("torch_required: false", "torch_required: true"))

    run, found = op.go("5.5", executor="sim")

    assert not of(found, "step-started")
    (skipped,) = of(found, "phase-skipped")
    assert "torch_npu" in skipped["why"]["zh"]
    assert run.status.now == "blocked"
    assert "--handover" in of(found, "phase-ended")[0]["way"]["en"]


@sim
def test_torch_is_handed_over_on_the_stand_in_where_a_program_is_named(make):
    op = make()
    record = op.root / "docs/phase0_intake.yaml"
    record.write_text(record.read_text().replace("torch_required: false", "torch_required: true"))

    run, found = op.go("5.5", executor="sim", external={"5.5": ("sh", "-c", "echo $OPDEV_PHASE > bound")})

    assert (op.root / "bound").read_text() == "5.5\n"
    assert of(found, "gate")[-1]["state"] == "closed"
    assert run.status.now == "blocked"
