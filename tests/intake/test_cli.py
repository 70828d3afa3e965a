"""``opdev intake`` without a terminal: all five or nothing, never a silent change, exit status, JSON."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
import yaml

from opdev.intake.model import FIVE as ALL
from opdev.lint.session import Options, Session
from opdev.source import Source


def recorded(machine):
    return yaml.safe_load(machine.record.read_text(encoding="utf-8"))["phase0_intake"]


def test_all_five_are_recorded(machine, run, five):
    status, out, _ = run(**five)

    assert status == 0
    found = recorded(machine)
    assert (found["op_name"], found["build_mode"]) == ("ring", "independent_project")
    assert (found["torch_required"], found["performance_required"], found["performance_auto_optim"]) == (
        False,
        True,
        False,
    )
    assert found["shmem_repo"] == str(machine.repo)
    assert "recorded: docs/phase0_intake.yaml" in out
    assert "Phase 1 stays closed" in out


@pytest.mark.parametrize("lacking", ALL)
def test_four_are_not_enough_and_the_missing_one_is_named(machine, run, five, lacking):
    del five[lacking]
    status, out, err = run(**five)

    assert (status, out) == (1, "")
    assert f"Missing answers: {lacking}\n" in err
    assert f"\n{lacking}:\n" in err
    assert not machine.record.exists()


def test_a_half_answered_file_is_refused_with_lines(machine, run):
    path = machine.file("answers.yaml", "cann: default\ntorch: vielleicht\nprof: yes\n")
    status, _, err = run("--answers", path)

    assert status == 1
    assert "line 2: vielleicht is no answer to torch: yes | no" in err
    assert "line 3: there is no question prof" in err
    assert "Missing answers: build_mode, perf, perf_auto_optim" in err
    assert not machine.record.exists()


def test_answers_from_a_file_from_standard_input_and_options_over_them(machine, run, five, monkeypatch):
    path = machine.file("回答.yaml", yaml.safe_dump(five))
    assert run("--answers", path, torch="yes")[0] == 0
    assert recorded(machine)["torch_required"] is True

    machine.record.unlink()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(five).encode())))
    assert run("--answers", "-")[0] == 0
    assert recorded(machine)["torch_required"] is False


def test_a_confirmed_answer_is_not_changed_without_being_told_to(machine, run, five):
    run(**five)
    before = machine.record.read_bytes()

    assert run(**five)[0] == 0
    status, _, err = run(**{**five, "torch": "yes"})
    assert status == 1
    assert "  torch_required: false -> true\n" in err
    assert machine.record.read_bytes() == before
    status, out, _ = run("--reconfirm", **{**five, "torch": "yes"})
    assert status == 0
    assert "  torch_required: false -> true\n" in out
    assert recorded(machine)["torch_required"] is True


def test_the_same_again_does_not_touch_the_file(machine, run, five):
    run(**five)
    os.utime(machine.record, (1, 1))
    status, out, _ = run(**five)

    assert status == 0
    assert "nothing changed" in out
    assert machine.record.stat().st_mtime == 1


def test_what_was_pending_is_filled_in_and_the_rest_stays(machine, run, five):
    run(**five)
    text = machine.record.read_text(encoding="utf-8")
    machine.record.write_text("# 我的备注\n" + text.replace("op_name: ring", "op_name: ring  # 环"), encoding="utf-8")
    script = machine.file("cann/set_env.sh")

    assert run(**{**five, "cann": str(script)})[0] == 0
    found = recorded(machine)
    assert (found["cann_set_env"], found["cann_set_env_pending"], found["askquestion_completed"]) == (
        str(script),
        False,
        [1, 2, 3, 4, 5],
    )
    lines = machine.record.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# 我的备注"
    assert "  op_name: ring  # 环" in lines


def test_a_record_elsewhere_is_the_one_that_is_changed(machine, run, five):
    old = machine.op / "phase0_intake.yaml"
    old.write_text("op_name: ring\nteam: 通信\n", encoding="utf-8")

    assert run(**five)[0] == 0
    assert not machine.record.exists()
    found = yaml.safe_load(old.read_text(encoding="utf-8"))
    assert (found["team"], found["performance_required"]) == ("通信", True)


def test_a_damaged_record_is_left_alone_unless_recorded_anew(machine, run, five):
    machine.record.parent.mkdir()
    machine.record.write_bytes(b"phase0_intake:\n  op_name: 'ring\n")
    status, _, err = run(**five)

    assert status == 2
    assert "docs/phase0_intake.yaml:2: the record there cannot be read as YAML" in err
    assert machine.record.read_bytes() == b"phase0_intake:\n  op_name: 'ring\n"
    status, out, _ = run("--reconfirm", **five)
    assert status == 0
    assert "docs/phase0_intake.yaml.old1" in out
    assert recorded(machine)["op_name"] == "ring"


def test_a_new_operator_gets_its_folder_from_the_answers(machine, run, five):
    machine.go(machine.repo)
    assert run("--name", "all_gather", **{**five, "build_mode": "in_tree"})[0] == 0
    assert (machine.repo / "examples" / "all_gather" / "docs" / "phase0_intake.yaml").is_file()

    machine.go(machine.repo / "custom-ops")
    assert run("--name", "put", **five)[0] == 0
    assert (machine.repo / "custom-ops" / "put" / "docs" / "phase0_intake.yaml").is_file()
    status, _, err = run("--name", "put", **{**five, "torch": "yes"})
    assert status == 1
    assert "was not overwritten" in err
    assert run("--name", "Put-It", **five)[0] == 1
    assert not (machine.repo / "custom-ops" / "Put-It").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--op", "none"], "no such folder"), (["--op", ".", "--name", "x"], "not both"), (["--answers", "none.yaml"], "cannot be read"),
        (["--answers", "."], "cannot be read"), (["--torch"], "expected one argument"), (["--ops", "x"], "unrecognized"),
    ],
)  # fmt: skip
def test_usage(machine, run, arguments, said):
    status, _, err = run(*arguments)

    assert status == 2
    assert said in err


def test_no_operator_here(machine, run, five):
    machine.go(machine.root / "bin")
    status, _, err = run(**five)

    assert status == 2
    assert "--name" in err


def test_an_unwritable_folder_is_said(machine, run, five):
    (machine.op / "docs").write_text("a file", encoding="utf-8")
    status, _, err = run(**five)

    assert status == 2
    assert "not written" in err


def test_json_is_one_object_whatever_happens(machine, run, five):
    status, out, _ = run("--format", "json")
    found = json.loads(out)
    assert (status, found["state"], found["missing"]) == (1, "needs-answers", list(ALL))
    assert [q["id"] for q in found["questions"][:5]] == list(ALL)

    status, out, _ = run("--format", "json", **{**five, "perf": "no", "perf_auto_optim": "yes"})
    found = json.loads(out)
    assert (status, found["state"], found["path"]) == (0, "recorded", str(machine.record))
    assert found["record"] == recorded(machine)
    assert "forced-auto-optim" in [note["code"] for note in found["notes"]]

    assert json.loads(run("--format", "json", **five)[1])["state"] == "needs-reconfirm"
    assert json.loads(run("--format", "json", **{**five, "torch": "?"})[1])["state"] == "refused"


def test_the_template_is_printed(machine, run):
    status, out, _ = run("--print-answers")

    assert status == 0
    assert list(yaml.safe_load(out)) == list(ALL)
    assert not machine.record.exists()


def test_the_gate_opens_and_no_rule_complains(machine, run, five):
    machine.tool("npu-smi")
    script = machine.file("cann/set_env.sh")
    run(**{**five, "cann": str(script), "semantics": "每个 PE 把自己的块发给右邻", "conda": "npu"})

    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "gate", "0", "--lang", "en"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    source = Source.from_disk(str(machine.record), machine.record.read_bytes())
    found, _ = Session(Options(isolated=True, cwd=str(machine.op))).findings(source)
    assert [f.rule.name for f in found] == []


def test_nothing_heavy_is_imported():
    code = (
        "import sys; sys.argv = ['opdev', 'intake', '--print-answers']; from opdev.cli import main; main(sys.argv[1:]);"
        "bad = {'torch', 'pygls', 'lsprotocol', 'pydantic', 'watchdog'} & set(sys.modules);"
        "sys.exit(f'imported {sorted(bad)}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_gate_of_an_operator_on_the_stand_in_needs_no_cann(machine, run, five):
    run(**{**five, "cann": "/nowhere/set_env.sh", "semantics": "put", "conda": "none"})
    gate = [sys.executable, "-m", "opdev.cli", "gate", "0", "--lang", "en"]
    closed = subprocess.run(gate, capture_output=True, text=True, check=False)
    (machine.op / "opdev.toml").write_text('[run]\nexecutor = "sim"\n', encoding="utf-8")
    opened = subprocess.run(gate, capture_output=True, text=True, check=False)

    assert (closed.returncode, opened.returncode) == (1, 0)
    assert 'executor = "sim"' in closed.stdout
