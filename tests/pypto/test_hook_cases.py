"""The cases that callers of the existing linter's hooks and gates rely on, one by one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from building import KERNEL, pro4, state, write

from opdev.workflow.hookcli import gate
from opdev.workflow.hooks import Asked, answered, parsed

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "pypto" / "custom" / "ScaleAdd"
REVIEW = "# 记录\n\n## Phase M1 self-review\n\n" + "".join(
    f"- [x] {word}\n" for word in ("signature", "output", "view", "inventory", "for ... in range", "exactly once")
)
STUB = "# PYPTO_PENDING_STUB\n"


@pytest.fixture
def op(tmp_path):
    root = tmp_path / "custom" / "ScaleAdd"
    shutil.copytree(CORPUS, root)
    (root / "modules").mkdir()
    return root


@pytest.fixture
def good(op):
    """A module that nothing is wrong with, and one without a kernel."""
    text = (
        (op / "scale_add_impl.py").read_text(encoding="utf-8").replace("scale_add_wrapper", "scale_add_module1_wrapper")
    )
    return text, text.replace("@pypto.frontend.jit", "# none")


def asked(mode, root, path=None, **more):
    data = {"tool_input": {"file_path": str(root / path)}} if path else {}
    found = answered(Asked(mode, {**data, **more}, root.as_posix(), "en"))
    body = (found.body or {}).get("hookSpecificOutput", {})
    return found.status, body.get("decision"), body.get("reason", "")


def judged(capsys, *words):
    """The exit status of a gate, and its findings."""
    try:
        code = gate([*map(str, words), "--lang", "en"])
    except SystemExit as end:
        code = end.code
    out = capsys.readouterr().out
    return code, json.loads(out)["findings"] if out.strip() else []


@pytest.mark.parametrize("with_state", [True, False])
def test_a_module_is_judged_when_it_is_edited(op, good, with_state):
    if not with_state:
        (op / ".orchestrator_state.json").unlink()
    write(
        op / "modules",
        {"scale_add_module1_impl.py": good[0], "scale_add_module12_impl.py": STUB, "scale_add_module123_impl.py": STUB},
    )
    assert asked("post-edit", op, "modules/scale_add_module1_impl.py")[:2] == (0, None)
    assert asked("post-edit", op, "modules/scale_add_module12_impl.py")[:2] == (0, None)

    write(op / "modules", {"scale_add_module1_impl.py": good[1]})
    status, decision, reason = asked("post-edit", op, "modules/scale_add_module1_impl.py")
    assert (status, decision) == (0, "block")
    assert "modules/scale_add_module1_impl.py" in reason
    assert "module12" not in reason
    assert "OL01" in reason

    write(op / "modules", {"scale_add_module12_impl.py": good[1]})
    assert asked("post-edit", op, "modules/scale_add_module12_impl.py")[1] == "block"


def test_a_phase_gate_looks_at_its_own_module_alone(capsys, op, good):
    write(
        op,
        {
            "MEMORY.md": REVIEW,
            "scale_add_impl.py": "import torch\n" + STUB,
            "modules/scale_add_module1_impl.py": good[0],
        },
    )
    words = ("--check-phase-gate", "--op-dir", op, "--phase")
    assert judged(capsys, *words, "M1")[0] == 0

    write(op, {"modules/test_scale_add_module1.py": STUB, "modules/scale_add_module12_impl.py": good[1]})
    assert judged(capsys, *words, "M1")[0] == 0
    assert judged(capsys, *words, "M2")[0] == 2

    write(op, {"modules/scale_add_module1_impl.py": good[1], "modules/scale_add_module12_impl.py": STUB})
    code, found = judged(capsys, *words, "M1")
    assert code == 2
    assert {f["file"] for f in found if f["rule_id"] == "OL01" and f["status"] == "FAIL"} == {
        "modules/scale_add_module1_impl.py"
    }
    assert judged(capsys, *words, "M2")[0] == 0
    assert judged(capsys, *words[:-1])[0] == 2
    assert judged(capsys, *words, "X")[0] == 2


def test_a_stub_closes_no_gate_of_a_stage(capsys, op):
    write(op, {"modules/scale_add_module12_impl.py": STUB})

    code, found = judged(capsys, "--check-gate", "--op-dir", op, "--stage", 5)

    assert not [f for f in found if "module12" in f["file"] and f["status"] == "FAIL"]
    assert code == 0


def test_nobody_stops_in_a_state_of_more_stages_than_there_are(op):
    (op / "scale_add_impl.py").unlink()
    state(op, operator_name="scale_add", max_stage=8, current_stage=5, stage_status={"5": "in_progress"})

    assert asked("stop", op)[:2] == (2, "block")
    assert asked("stop", op.parents[1])[:2] == (0, None)


@pytest.mark.parametrize("strict", ["1", "0"])
def test_front_matter_is_demanded_unless_it_is_not_strict(capsys, op, monkeypatch, strict):
    monkeypatch.setenv("PYPTO_OP_LINT_STRICT", strict)
    spec = op / "docs" / "SPEC.md"
    spec.write_text("# scale_add\n" + spec.read_text(encoding="utf-8").split("---\n", 2)[2], encoding="utf-8")
    state(op, operator_name="scale_add", max_stage=7, current_stage=1, stage_status={"1": "in_progress"})

    code, found = judged(capsys, "--lint-consistency", "--op-dir", op)
    failed = {f["rule_id"] for f in found if f["status"] == "FAIL"}

    assert (code, "OL39" in failed) == ((2, True) if strict == "1" else (0, False))


@pytest.fixture
def pro(tmp_path):
    root = pro4(tmp_path / "custom" / "demo")
    modules = {
        f"modules/test_demo_module{s}.py": KERNEL.replace("demo_wrapper", f"demo_wrapper_module{s}")
        for s in ("1", "12")
    }
    modules["modules/demo_golden_stage1.py"] = "import torch\n\n\ndef demo_golden_stage1(x):\n    return x\n"
    return write(root, modules)


def test_a_module_gate_wants_a_state_its_stage_and_its_module(capsys, pro):
    words = ("--check-module-gate", "--op-dir", pro, "--module")
    assert judged(capsys, *words, 1)[0] == 2

    state(pro, operator_name="demo", max_stage=5, current_stage=4, stage_status={"4": "in_progress"}, stage4_path="L1",
          stage4_modules={"module_count": 3, "module_status": {"1": "in_progress", "2": "pending", "3": "pending"}})  # fmt: skip
    assert judged(capsys, *words, 1)[0] == 0
    assert judged(capsys, *words, 1, "--stage", 4)[0] == 0
    assert judged(capsys, *words, 1, "--stage", 3)[0] == 2
    assert judged(capsys, *words, 4)[0] == 2
    assert judged(capsys, *words, 0)[0] == 2
    # Its staged file was never written.
    assert judged(capsys, *words, 3)[0] == 2
    assert judged(capsys, "--check-gate", "--op-dir", pro, "--stage", 99)[0] == 2


def test_a_pro_test_with_classic_imports_is_blocked_and_a_clean_one_allowed(pro):
    assert asked("post-edit", pro, "test_demo.py")[1] == "allow"
    write(pro, {"test_demo.py": "from pypto import frontend\n" + KERNEL})
    assert asked("post-edit", pro, "test_demo.py")[1] == "block"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_any_encoding_of_json_is_read(op, encoding):
    raw = json.dumps({"tool_input": {"file_path": str(op / "测试.md")}}, ensure_ascii=False).encode(encoding)

    data, wrong = parsed(raw)

    assert (data["tool_input"]["file_path"], wrong) == (str(op / "测试.md"), "")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_path_that_is_no_utf8_is_the_file_that_is_there(op, good):
    folder = op / os.fsdecode(b"modules")
    (folder / "scale_add_module1_impl.py").write_text(good[1], encoding="utf-8")
    odd = op.parent / os.fsdecode(b"odd\xff")
    op.rename(odd)
    raw = b'{"tool_input": {"file_path": "' + os.fsencode(odd) + b'/modules/scale_add_module1_impl.py"}}'

    data, wrong = parsed(raw)
    found = answered(Asked("post-edit", data, odd.parent.as_posix(), "en"))

    assert wrong == ""
    assert found.body["hookSpecificOutput"]["decision"] == "block"


@pytest.mark.parametrize("mode", ["post-edit", "pre-edit", "stop", "pre-commit"])
def test_a_fault_of_ours_lets_nothing_pass(tmp_path, mode):
    code = (
        "import opdev.workflow.hookcli as cli, sys\n"
        "def broken(asked): raise RuntimeError('boom')\n"
        "cli.answered = broken\n"
        f"sys.exit(cli.hook(['{mode}', '--lang', 'en']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"{}", capture_output=True, cwd=tmp_path, timeout=60, check=False
    )

    assert done.returncode == (2 if mode in ("stop", "pre-commit") else 0)
    assert json.loads(done.stdout)["hookSpecificOutput"]["decision"] == "block"
    assert b"boom" in done.stderr


def test_what_stage_6_changes_is_kept_in_git(op):
    state(
        op,
        operator_name="scale_add",
        max_stage=7,
        current_stage=6,
        stage_status={"6": "in_progress"},
        stage_retry_count={"5": 2},
    )
    path = op / "scale_add_impl.py"
    data = {"tool_input": {"file_path": str(path)}}

    assert answered(Asked("pre-edit", data, op.as_posix())).body is None
    assert not (op.parent / ".git").exists()

    for _ in range(2):
        found = answered(Asked("pre-edit", data, op.as_posix(), keeps=True))
        assert (found.body, found.status, found.note) == (None, 0, "")

    log = subprocess.run(
        ["git", "log", "--format=%s", "--name-only"], cwd=op.parent, capture_output=True, text=True, check=True
    )
    assert log.stdout.split("\n")[:3] == [
        "backup: scale_add_impl.py before stage6 attempt 3",
        "",
        "ScaleAdd/scale_add_impl.py",
    ]
    assert log.stdout.count("backup:") == 1


@pytest.mark.parametrize("end", [b"", b', "content": "' + b"a" * 33_000_000, b", }", b', "x": "\xff\xfe'])
def test_an_edit_is_judged_although_the_rest_of_the_input_is_broken(op, good, end):
    write(op / "modules", {"scale_add_module1_impl.py": good[1]})
    raw = (
        b'{"cwd": '
        + json.dumps(str(op)).encode()
        + b', "tool_input": {"file_path": "modules/scale_add_module1_impl.py"'
        + end
    )

    data, wrong = parsed(raw)
    found = answered(Asked("post-edit", data, "/", "en"))

    assert wrong
    assert found.body["hookSpecificOutput"]["decision"] == "block"
