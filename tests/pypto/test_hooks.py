"""The hooks and the gate of the existing linter's callers, as processes: shapes, exit statuses, and what must not slip by."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from building import pro4, write
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.workflow.hooks import MODES, Asked, answered, parsed

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "pypto" / "custom" / "ScaleAdd"


@pytest.fixture
def op(tmp_path):
    root = tmp_path / "custom" / "ScaleAdd"
    shutil.copytree(CORPUS, root)
    return root


def hook(mode, data, cwd, **environ):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "hook", mode, "--lang", "en"],
        input=raw, capture_output=True, cwd=cwd, timeout=60, env={**os.environ, **environ}, check=False,
    )  # fmt: skip
    body = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout.strip() else None
    return done.returncode, body, done.stderr.decode()


def edited(path, **more):
    return {"tool_name": "Edit", "tool_input": {"file_path": str(path)}, **more}


def lint(*words):
    code = "import sys; from opdev.entry import lint; sys.exit(lint())"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )


def broken(op):
    path = op / "scale_add_impl.py"
    path.write_text(path.read_text(encoding="utf-8").replace("@pypto.frontend.jit", "# no kernel"), encoding="utf-8")
    return path


def test_a_file_of_no_operator_is_nobodys_business(tmp_path, op):
    assert hook("post-edit", edited(write(tmp_path, {"notes.py": "x = 1\n"}) / "notes.py"), tmp_path) == (0, None, "")
    assert hook("post-edit", edited(op / "README.md"), tmp_path) == (0, None, "")


def test_a_clean_implementation_is_not_blocked(op, tmp_path):
    status, body, _ = hook("post-edit", edited(op / "scale_add_impl.py"), tmp_path)

    assert status == 0
    assert body is None or body["decision"] == "allow"


@pytest.mark.parametrize("with_state", [True, False])
def test_an_implementation_without_a_kernel_is_blocked_with_what_to_do(op, tmp_path, with_state):
    path = broken(op)
    if not with_state:
        (op / ".orchestrator_state.json").unlink()

    status, body, _ = hook("post-edit", edited(path), tmp_path)

    assert status == 0
    assert body["hookEventName"] == "PostToolUse"
    assert body["decision"] == "block"
    assert "OL01" in body["reason"]
    assert "blocking_rules:" in body["reason"]
    assert "fix_hints:" in body["reason"]
    assert "scale_add_impl.py:" in body["additionalContext"]


def test_blocking_can_be_switched_off_and_is_still_told(op, tmp_path):
    _, body, _ = hook("post-edit", edited(broken(op)), tmp_path, PYPTO_OP_LINT_POST_EDIT_BLOCK="0")

    assert body["decision"] == "allow"
    assert "OL01" in body["additionalContext"]


def test_what_cannot_be_parsed_does_not_pass(op, tmp_path):
    (op / "scale_add_impl.py").write_text("import pypto\ndef f(:\n", encoding="utf-8")

    _, body, _ = hook("post-edit", edited(op / "scale_add_impl.py"), tmp_path)

    assert body["decision"] == "block"
    assert "scale_add_impl.py:2" in body["reason"]


def test_a_file_that_waits_to_be_written_is_let_be(op, tmp_path):
    (op / "scale_add_impl.py").write_text("# PYPTO_PENDING_STUB\n", encoding="utf-8")

    assert hook("post-edit", edited(op / "scale_add_impl.py"), tmp_path)[:2] == (0, None)


def test_the_spec_is_frozen_after_stage_1(op, tmp_path):
    _, body, _ = hook("post-edit", edited(op / "docs" / "SPEC.md"), tmp_path)

    assert body["decision"] == "block"
    assert "rollback 1" in body["reason"]


@pytest.mark.parametrize(("key", "relative"), [("filePath", False), ("path", True), ("target_file", True)])
def test_paths_come_by_several_names_and_below_the_working_directory(op, key, relative):
    path = broken(op)
    given = path.name if relative else str(path)

    _, body, _ = hook("post-edit", {"cwd": str(op), "tool_input": {key: given}}, "/")

    assert body["decision"] == "block"


UNUSABLE = [
    b"{}", b"", b"[1, 2]", b"{", b"\xff\xfe\x00", b'{"tool_input": 3}', b'{"tool_input": {"file_path": 7}, "cwd": []}',
    b'{"tool_input": {"file_path": "a\\u0000b"}}', b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_nothing_understood_blocks_nothing(tmp_path, mode):
    for raw in UNUSABLE:
        data, _ = parsed(raw)
        answer = answered(Asked(mode, data, str(tmp_path)))
        assert (answer.body, answer.status) == (None, 0), raw


@pytest.mark.parametrize(("mode", "raw"), [("post-edit", b"{"), ("stop", b"[1]")])
def test_what_is_wrong_with_the_input_is_said(tmp_path, mode, raw):
    status, body, err = hook(mode, raw, tmp_path)

    assert (status, body) == (0, None)
    assert "the input cannot be used" in err
    assert "Traceback" not in err


TOOL = st.dictionaries(
    st.sampled_from(["file_path", "path", "command", "filePath"]), st.none() | st.integers() | st.text(max_size=30), max_size=3
)  # fmt: skip
INPUT = st.dictionaries(
    st.sampled_from(["tool_input", "tool_result", "cwd", "x"]), TOOL | st.none() | st.text(max_size=20) | st.lists(st.integers(), max_size=2), max_size=4
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["post-edit", "pre-edit", "post-bash"]), INPUT)
def test_any_input_is_answered(mode, data):
    answer = answered(Asked(mode, data, "/nonexistent"))

    assert answer.status == 0
    assert answer.body is None or answer.body["hookSpecificOutput"]["hookEventName"] in ("PostToolUse", "PreToolUse")


def test_input_without_end_is_not_read_for_ever(tmp_path):
    status, body, err = hook("post-edit", b'{"x": "' + b"a" * 33_000_000, tmp_path)

    assert (status, body) == (0, None)
    assert "bytes" in err


def test_an_input_nobody_closes_does_not_hold_the_hook(op):
    read, keep = os.pipe()
    try:
        os.write(keep, json.dumps(edited(broken(op))).encode())
        done = subprocess.run([sys.executable, "-m", "opdev.cli", "hook", "post-edit"], stdin=read, capture_output=True, timeout=60, check=False)  # fmt: skip
    finally:
        os.close(keep)
        os.close(read)
    assert b'"block"' in done.stdout


def test_the_environment_speaks_where_standard_input_does_not(op, tmp_path):
    _, body, _ = hook("post-edit", b"", tmp_path, PYPTO_OP_LINT_HOOK_INPUT=json.dumps(edited(broken(op))))

    assert body["decision"] == "block"


def test_the_state_file_is_not_edited_by_hand(op, tmp_path):
    status, body, _ = hook("pre-edit-backup", edited(op / ".orchestrator_state.json"), tmp_path)

    assert status == 0
    assert body["decision"] == "block"
    assert body["hookEventName"] == "PreToolUse"
    assert hook("pre-edit", edited(op / "README.md"), tmp_path)[:2] == (0, None)


@pytest.mark.parametrize(
    ("command", "result", "verdict"),
    [
        ("ls -la", {"stdout": "[PRECISION_PASS]", "exit_code": 0}, None),
        ("python3 test_demo.py", {"stdout": "[PRECISION_PASS]", "exit_code": 0}, "precision_pass"),
        (
            "python test_demo.py",
            {"stdout": "[PRECISION_PASS]", "stderr": "[PRECISION_FAIL]", "exit_code": 0},
            "precision_fail",
        ),
        ("cd x && python test_demo.py", {"stdout": "", "exit_code": 1}, "runtime_error"),
        ("python test_demo.py", {"stdout": "ok", "exit_code": 0}, "no_marker"),
        ("python test_demo.py", "odd", "no_marker"),
    ],
)
def test_a_test_that_was_run_has_a_verdict(tmp_path, command, result, verdict):
    status, body, _ = hook("post-bash", {"tool_input": {"command": command}, "tool_result": result}, tmp_path)

    assert status == 0
    assert (body is None) == (verdict is None)
    if verdict:
        assert f"verdict: {verdict}" in body["additionalContext"]


def test_nobody_stops_while_a_deliverable_is_missing(op):
    assert hook("stop", {"cwd": str(op)}, op)[:2] == (0, None)
    (op / "scale_add_impl.py").unlink()

    status, body, err = hook("stop", {"cwd": str(op / "docs")}, "/")

    assert status == 2
    assert body["hookEventName"] == "Stop"
    assert body["decision"] == "block"
    assert "OL13" in body["reason"]
    assert "scale_add_impl.py" in err


def test_nobody_stops_with_a_damaged_state_or_configuration(op):
    (op / ".orchestrator_state.json").write_text("{", encoding="utf-8")
    assert hook("stop", {}, op)[0] == 2

    shutil.copy(CORPUS / ".orchestrator_state.json", op)
    (op / "opdev.toml").write_text("select = 3\n", encoding="utf-8")
    status, body, _ = hook("stop", {}, op)
    assert status == 2
    assert "CONFIG" in body["reason"]


def test_a_pro_operator_is_judged_by_its_own_stages(tmp_path):
    root = pro4(tmp_path / "custom" / "demo")
    assert hook("stop", {}, root)[0] == 0
    (root / "test_demo.py").write_text("import pypto_pro.language as pl\n", encoding="utf-8")

    status, body, _ = hook("stop", {}, root)

    assert status == 2
    assert "PL02" in body["reason"]


def test_a_commit_with_an_error_is_stopped(op):
    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=op, check=True, capture_output=True
        )

    git("init", "-q")
    git("add", "-A")
    assert hook("pre-commit", {}, op)[0] == 0
    git("commit", "-q", "-m", "x")
    broken(op)
    assert hook("pre-commit", {}, op)[:2] == (0, None)
    git("add", "-A")

    assert hook("pre-commit", {}, op)[0] == 2
    assert hook("pre-commit", {"tool_input": {"command": "git commit -m x"}}, op)[0] == 2
    assert hook("pre-commit", {"tool_input": {"command": "git status"}}, op)[0] == 0


def test_the_gate_has_the_keys_and_statuses_its_callers_read(op):
    done = lint("--check-gate", "--op-dir", op, "--stage", 5)
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert set(found) == {"passed", "findings", "summary"}
    assert set(found["summary"]) == {"pass", "warn", "info", "fail", "skip", "has_error_fail"}
    assert {f["rule_id"] for f in found["findings"]} >= {"OL01", "OL13", "OL60"}

    broken(op)
    done = lint("--op-dir", op, "--stage=5")
    found = json.loads(done.stdout)
    assert done.returncode == 2
    failed = [f for f in found["findings"] if f["status"] == "FAIL"]
    assert ("OL01", "S0", "scale_add_impl.py") in {(f["rule_id"], f["severity"], f["file"]) for f in failed}
    assert found["summary"]["fail"] == len(failed)


@pytest.mark.parametrize(
    "words", [["--stage", "9"], ["--stage", "0"], ["--check-phase-gate"], ["--check-module-gate"], ["--stage", "x"]]
)
def test_what_the_gate_cannot_judge_does_not_pass(op, words):
    assert lint("--op-dir", op, *words).returncode == 2


def test_a_phase_is_judged_by_its_own_files(op):
    modules = op / "modules"
    modules.mkdir()
    good = (op / "scale_add_impl.py").read_text(encoding="utf-8")
    write(
        modules,
        {
            "scale_add_module1_impl.py": good.replace("scale_add_wrapper", "scale_add_module1_wrapper"),
            "scale_add_module12_impl.py": good.replace("@pypto.frontend.jit", "# none"),
        },
    )

    def failed(phase):
        done = lint("--check-phase-gate", "--phase", phase, "--op-dir", op)
        return {
            f["file"] for f in json.loads(done.stdout)["findings"] if f["status"] == "FAIL" and f["rule_id"] == "OL01"
        }

    assert failed("M1") == set()
    assert lint("--check-phase-gate", "--phase", "M3", "--op-dir", op).returncode == 2
    assert failed("M2") == {"modules/scale_add_module12_impl.py"}


def test_without_these_options_it_is_the_linter(op):
    assert "No such" not in lint("--version").stderr
    assert lint("--isolated", "--no-cache", op).returncode in (0, 1)
