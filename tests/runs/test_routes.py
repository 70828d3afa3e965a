"""Where each class of failure leads: said by the run, kept in its record, and the same by `opdev status`."""

from __future__ import annotations

import json

import pytest
from fakes import BUILDING, of
from test_begun import whole

from opdev.design.frame import skeleton
from opdev.phases.status import judged
from opdev.runs.target import look

FAILED_BUILD = "echo '{line}' >&2; exit 2\n"
FAILED_RUN = "mkdir -p output; echo '{line}' >&2; exit 1\n"
MISMATCH = "PE 1: first mismatch idx=3 got=1 expected=2"
# (class, script that fails, its line, phase that is run, where it leads, the result)
CLASSES = [
    ("compile", "build", "src/main.cpp:3:7: error: no such thing", "3", "3", "fail"),
    ("link", "build", "main.cpp:(.text+0x1f): undefined reference to `foo()", "3", "3", "fail"),
    ("runtime", "run", "address in use for bind listen on 127.0.0.1:8899", "3", "here", "fail"),
    ("correctness", "run", MISMATCH, "3", "3", "fail"),
    ("environment", "run", "Cannot find ASCEND_HOME_PATH, please run set_env.sh.", "3", "here", "blocked"),
    ("code", "run", "local size diffs, pe0=1, pe1=2", "3", "3", "fail"),
    ("test", "run", '  File "/w/scripts/check_result.py", line 12, in main', "3", "2", "fail"),
    ("compile", "build", "src/main.cpp:3:7: error: no such thing", "4", "3", "fail"),
    ("correctness", "matrix", MISMATCH, "4", "3", "fail"),
]


def broken(make, where, line):
    """An operator of the template whose build, smoke run or matrix ends with a line."""
    quoted = line.replace("'", "")
    op = make(build=FAILED_BUILD.format(line=quoted) if where == "build" else BUILDING)
    whole(op)
    if where == "run":
        op.write("scripts/run.sh", FAILED_RUN.format(line=quoted))
    if where == "matrix":
        op.write("scripts/run_case_matrix.py", f"import sys\nprint({line!r}, file=sys.stderr)\nsys.exit(1)\n")
    return op


@pytest.mark.parametrize(
    ("cls", "where", "line", "phase", "route", "result"), CLASSES, ids=[f"{c[0]}-{c[3]}" for c in CLASSES]
)
def test_a_class_of_failure_leads_to_its_phase_and_status_agrees(make, cls, where, line, phase, route, result):
    op = broken(make, where, line)

    _, found = op.go(phase)

    ended, last = of(found, "phase-ended")[0], of(found, "step-ended")[-1]
    assert last["result"] == result
    assert (ended["class"], ended["route"]) == (cls, route) == (last["class"], last["route"])
    goal = phase if route == "here" else route
    assert ended["way"]["zh"]
    assert f"opdev run {phase}" in ended["way"]["en"]
    at = judged(look(str(op.root))).at
    assert (at.phase.id, at.row in (5, 6), at.back) == ("4", True, goal)
    assert at.next == ended["way"]
    assert last["message"] in at.why["en"]


def test_a_wrong_result_of_an_unfinished_design_leads_to_the_design(make):
    op = broken(make, "run", MISMATCH)
    op.write("docs/design.md", skeleton({"op_name": "demo"}))

    _, found = op.go("3")

    ended = of(found, "phase-ended")[0]
    assert (ended["class"], ended["route"]) == ("design", "1")
    assert of(found, "diagnosis")[0]["signature"] == "design-unfinished"
    assert MISMATCH in of(found, "diagnosis")[0]["evidence"]
    assert judged(look(str(op.root))).at.phase.id == "1"


def test_a_wrong_result_without_all_scripts_leads_to_the_tests(make):
    op = broken(make, "run", MISMATCH)
    (op.root / "scripts/check_result.py").unlink()

    _, found = op.go("3")

    assert (of(found, "phase-ended")[0]["class"], of(found, "phase-ended")[0]["route"]) == ("test", "2")
    assert judged(look(str(op.root))).at.phase.id == "2"


def test_a_compile_error_stays_one_whatever_the_design(make):
    op = broken(make, "build", "src/main.cpp:3:7: error: no such thing")
    op.write("docs/design.md", skeleton({"op_name": "demo"}))

    _, found = op.go("3")

    assert of(found, "phase-ended")[0]["route"] == "3"


def test_changed_code_is_not_led_back_by_an_old_failure(make):
    op = broken(make, "run", MISMATCH)
    op.go("3")
    main = op.root / "src/main.cpp"
    main.write_text(main.read_text() + "// mended\n")

    status = json.loads(op.cli("status", "--format", "json").stdout)["operators"][0]

    assert status["back"] is None


def test_the_text_says_where_to_go_and_why(make):
    op = broken(make, "run", '  File "/w/scripts/check_result.py", line 12, in main')

    done = op.cli("run", "3", "--lang", "zh")
    status = op.cli("status", "--lang", "zh").stdout

    assert "回到 Phase 2（测试脚本）：改数据、golden 或检查脚本" in done.stdout
    assert "回到 Phase 2（测试脚本）" in status
    assert "smoke：" in status
