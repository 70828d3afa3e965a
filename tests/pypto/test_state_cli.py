"""`opdev state` on real files: written whole or not at all, foreign keys kept, SPEC.md frozen, gates asked."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from building import pro4, state, write

from opdev.cli import main

NAME = ".orchestrator_state.json"


def run(capsys, *words):
    code = main(["state", *map(str, words), "--lang", "en"])
    out = capsys.readouterr()
    return code, out.out, out.err


def content(root):
    return json.loads((root / NAME).read_text(encoding="utf-8"))


@pytest.fixture
def demo(tmp_path):
    return pro4(tmp_path / "custom" / "demo")


def test_begun_by_what_the_folder_holds_and_walked_to_the_end(capsys, demo):
    assert run(capsys, "init", "--op", demo)[0] == 0
    assert content(demo)["max_stage"] == 4
    assert content(demo)["operator_name"] == "demo"

    for stage in range(1, 5):
        code, out, err = run(capsys, "complete_stage", stage, "--op", demo, "--format", "json")
        assert code == 0, out + err
        answer = json.loads(out)
        assert answer["ok"]
        assert answer["statePath"].endswith(NAME)
    assert set(content(demo)["stage_status"].values()) == {"completed"}
    assert not [p for p in demo.iterdir() if p.name.startswith(".opdev-")]


def test_a_closed_gate_refuses_and_names_what_closes_it(capsys, demo):
    run(capsys, "init", "--op", demo)
    (demo / "MEMORY.md").unlink()
    before = (demo / NAME).read_bytes()

    code, out, err = run(capsys, "complete-stage", "--op", demo)
    assert (code, out) == (1, "")
    assert "there is no MEMORY.md" in err

    code, out, _ = run(capsys, "complete-stage", "--op", demo, "--format", "json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["code"]) == (1, False, "gate-closed")
    assert [one["id"] for one in answer["blocked_by"]] == ["file:MEMORY.md"]
    assert (demo / NAME).read_bytes() == before


def test_the_spec_is_frozen_by_stage_1(capsys, demo):
    run(capsys, "init", "--op", demo)
    assert run(capsys, "complete-stage", "--op", demo)[0] == 0
    assert len(content(demo)["artifact_hashes"]["spec_md"]) == 64
    (demo / "SPEC.md").write_text("# something else\n", encoding="utf-8")

    code, _, err = run(capsys, "complete-stage", "--op", demo)

    assert code == 1
    assert "SPEC.md was changed" in err
    assert "SPEC.md is not what was frozen" in run(capsys, "show", "--op", demo)[1]


def test_keys_of_others_and_old_files_survive(capsys, tmp_path):
    root = write(tmp_path / "custom" / "old", {"SPEC.md": "# x\n"})
    state(root, operator_name="old", current_stage=2, stage_status={"1": "completed", "2": "blocked", "3": "not_started"}, 备注={"a": [1]})  # fmt: skip

    assert run(capsys, "start-stage", "2", "--op", root)[0] == 0

    found = content(root)
    assert found["备注"] == {"a": [1]}
    assert found["stage_status"]["2"] == "in_progress"
    assert found["stage_status"]["3"] == "not_started"
    assert found["max_stage"] == 7


def test_only_judging_writes_nothing(capsys, demo):
    run(capsys, "init", "--op", demo)
    before = (demo / NAME).read_bytes()

    assert run(capsys, "fail-stage", "--dry-run", "--op", demo)[0] == 0
    assert (demo / NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["show"], 1), (["complete-stage"], 1), (["rollback"], 2), (["start-stage", "x"], 2), (["start-module"], 2),
        (["show", "--op", "nowhere"], 2), (["record-hash", "a", "b", "--file", "c"], 2),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(capsys, tmp_path, monkeypatch, words, status):
    monkeypatch.chdir(tmp_path)

    code, out, err = run(capsys, *words)

    assert (code, out) == (status, "")
    assert err.startswith("opdev state: ")


def test_a_damaged_file_is_named_with_its_line(capsys, demo):
    (demo / NAME).write_text('{\n "current_stage": 1,\n}', encoding="utf-8")

    code, _, err = run(capsys, "complete-stage", "--op", demo)

    assert code == 1
    assert f"{NAME}:3:1" in err


def test_two_writers_do_not_lose_each_others_moves(demo, capsys):
    run(capsys, "init", "--op", demo)
    moves = [
        subprocess.Popen(
            [sys.executable, "-m", "opdev.cli", "state", "record-hash", f"n{n}", "ab", "--op", str(demo)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]  # fmt: skip
    done = [(p.communicate()[1].decode(), p.returncode) for p in moves]

    kept = [f"n{n}" for n, (_, code) in enumerate(done) if code == 0]
    assert kept
    assert set(content(demo)["artifact_hashes"]) == set(kept)
    assert all("another `opdev state`" in err or "另一个" in err for err, code in done if code)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (None, [["init"]]),
        (
            {"max_stage": 7, "current_stage": 3, "stage_status": {"1": "completed", "2": "completed", "3": "in_progress"}},
            [["complete-stage", "3"], ["fail-stage", "3"], ["rollback", "2"], ["rollback", "1"]],
        ),
        (
            {
                "max_stage": 7, "current_stage": 5, "stage_status": {**dict.fromkeys("1234", "completed"), "5": "in_progress"},
                "stage5_phases": {"active_phase": "M2", "phase_status": {"M1": {"status": "verified"}, "M2": {"status": "in_progress"}}},
            },
            [["complete-phase", "M2"], ["submit-phase", "M2"], ["start-phase", "M2"], ["fail-phase", "M2"], ["fail-stage", "5"],
             *(["rollback", n] for n in "4321")],
        ),
        (
            {
                "max_stage": 5, "current_stage": 4, "stage_status": {**dict.fromkeys("123", "completed"), "4": "in_progress"},
                "stage4_path": "L1", "stage4_modules": {"module_count": 2, "module_status": {"1": "verified", "2": "pending"}},
            },
            [["plan-modules", "--single"], ["plan-modules"], ["start-module", "2"], ["fail-module", "2"], ["fail-stage", "4"],
             *(["rollback", n] for n in "321")],
        ),
        (
            {"max_stage": 7, "current_stage": 2, "stage_status": {"1": "completed", "2": "failed"}},
            [["start-stage", "2"], ["rollback", "1"]],
        ),
    ],
)  # fmt: skip
def test_the_moves_that_are_offered_are_those_that_can_be_made(capsys, demo, before, wanted):
    if before is not None:
        state(demo, operator_name="demo", **before)
    _, out, _ = run(capsys, "show", "--op", demo, "--format", "json")
    moves = json.loads(out)["moves"]

    assert [one["words"] for one in moves] == wanted
    answers = {None: [], "reason": ["--reason", "because"], "fusion": ["--fusion", "2"]}
    for one in moves:
        assert set(one["text"]) == {"zh", "en"}
        code, out, _ = run(capsys, *one["words"], *answers[one["asks"]], "--op", demo, "--dry-run", "--format", "json")
        assert code == 0 or json.loads(out)["code"] == "gate-closed", (one, out)
