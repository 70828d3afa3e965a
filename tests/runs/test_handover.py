"""Handing a phase over: only where the user named the program, with all it needs, judged by the gate alone."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from fakes import of, until
from test_begun import CORRECT

from opdev.programs import named
from opdev.runs.lock import Lock
from opdev.runs.process import TOKEN

REVIEWER = """\
import json, os, sys
context = json.load(open(os.environ["OPDEV_CONTEXT"], encoding="utf-8"))
assert sys.argv[1] == os.environ["OPDEV_CONTEXT"] and open(os.environ["OPDEV_BRIEF"], encoding="utf-8").read()
open("seen.json", "w").write(json.dumps(context))
path = context["root"] + "/docs/review-report.md"
text = open(path, encoding="utf-8").read()
text = text.replace("**总体结论**：[待填]", "**总体结论**：**可进入 Phase 5.5**").replace("| P0 | [待填]", "| P0 | PASS")
open(path, "w", encoding="utf-8").write(text.replace("| P1 | [待填]", "| P1 | PASS").replace("| P2 | [待填]", "| P2 | PASS").replace("[待填]", "PASS"))
sys.exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def reviewed(make):
    """An operator that waits for its review, and a program that does it."""
    op = make()
    op.write("src/main.cpp", "int main() { return 0; }\n")
    op.write("docs/correctness_report.md", CORRECT)
    op.write("reviewer.py", REVIEWER)
    return op


def argv(op, name="reviewer.py"):
    return (sys.executable, str(op.root / name), "{context}")


def workspace(op, name="reviewer.py", key="review"):
    (op.repo / "opdev.toml").write_text(f"[run]\nexternal = {{ {key} = {json.dumps(list(argv(op, name)))} }}\n")


def test_the_gate_opens_for_work_that_was_done_whatever_the_status(reviewed, monkeypatch):
    monkeypatch.setenv("STATUS", "7")

    run, found = reviewed.go("5", external={"5": argv(reviewed)})

    assert of(found, "step-ended")[-1]["exit"] == 7
    assert [e["state"] for e in of(found, "gate")] == ["closed", "open"]
    assert run.status.now == "passed"
    assert any("gate" in e["text"]["en"] for e in of(found, "note"))


def test_the_gate_stays_closed_for_work_that_was_not_done(reviewed):
    idle = reviewed.write("idle.py", "print('PE 0: FAIL all done, everything passed')\n")

    run, found = reviewed.go("5", external={"5": (sys.executable, str(idle))})

    assert of(found, "step-ended")[-1]["result"] == "pass"
    assert of(found, "gate")[-1]["state"] == "closed"
    assert run.status.now == "blocked"
    assert of(found, "manual")
    # What such a program prints says nothing of the operator.
    assert not of(found, "diagnosis")


def test_the_context_says_what_is_missing_where_and_what_failed(reviewed):
    reviewed.write("scripts/run.sh", "echo 'first mismatch idx=3'; exit 1\n")
    reviewed.go("3")

    reviewed.go("5", external={"5": argv(reviewed)})

    context = json.loads((reviewed.root / "seen.json").read_text())
    assert (context["v"], context["phase"], context["operator"]) == (1, "5", "demo")
    assert context["build_mode"] == "independent_project"
    assert {c["id"] for c in context["gate"]} >= {"review-p0", "template-holes"}
    place = next(c for c in context["gate"] if c["id"] == "template-holes")
    assert place["path"] == f"{reviewed.root}/docs/review-report.md"
    assert place["line"] > 1
    failure = context["failures"][0]
    assert (failure["step"], failure["class"], failure["route"]) == ("02-smoke", "correctness", "3")
    assert Path(failure["log"]).is_file()
    assert failure["cause"]["zh"]
    assert f"{reviewed.root}/docs/correctness_report.md" in context["files"]
    assert context["prepared"] == [f"{reviewed.root}/docs/review-report.md"]


def test_what_a_workspace_names_is_told_and_not_run(reviewed, tmp_path):
    workspace(reviewed)

    done = reviewed.cli("run", "5", XDG_CONFIG_HOME=str(tmp_path / "none"))

    assert done.returncode == 1
    assert not (reviewed.root / "seen.json").exists()
    assert f"{reviewed.repo}/opdev.toml names a command for this phase, which was not run" in done.stdout
    assert "--handover" in done.stdout


def test_with_the_users_word_it_is_run(reviewed, tmp_path):
    workspace(reviewed)

    done = reviewed.cli("run", "5", "--handover", XDG_CONFIG_HOME=str(tmp_path / "none"))

    assert done.returncode == 0, done.stdout + done.stderr
    assert "handed over to a command" in done.stdout
    assert (reviewed.root / "seen.json").exists()


def test_the_users_own_configuration_needs_no_further_word(reviewed, tmp_path):
    own = tmp_path / "config" / "opdev"
    own.mkdir(parents=True)
    (own / "opdev.toml").write_text(f"[run]\nexternal = {{ '5' = {json.dumps(list(argv(reviewed)))} }}\n")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}

    assert reviewed.cli("run", "5", "--no-handover", **env).returncode == 1
    assert not (reviewed.root / "seen.json").exists()
    assert reviewed.cli("run", "5", **env).returncode == 0


@pytest.fixture
def trap(reviewed):
    """A program that a fetched workspace names; it must not run."""
    path = reviewed.write("trap", f"#!/bin/sh\ntouch '{reviewed.root}/sprung'\nexec {sys.executable} \"$@\"\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("key", ["engine", "python"])
def test_an_engine_or_a_python_of_the_workspace_needs_the_same_word(reviewed, trap, tmp_path, key):
    (reviewed.repo / "opdev.toml").write_text(f"[run]\n{key} = {json.dumps(str(trap))}\n")
    none = {"XDG_CONFIG_HOME": str(tmp_path / "none")}
    container = ("--container", "box") if key == "engine" else ()
    reviewed.write("scripts/gen_data.py", "import argparse\n\nargparse.ArgumentParser().parse_args()\n")

    refused = reviewed.cli("run", "2", *container, **none)
    assert refused.returncode == 2
    assert f"{reviewed.repo}/opdev.toml:2 names {trap} as [run] {key}, which was not run" in refused.stderr
    assert f"{tmp_path}/none/opdev/opdev.toml" in refused.stderr
    assert reviewed.runs() == []

    doctor = reviewed.cli("doctor", *container, **none)
    assert doctor.stderr.startswith(f"opdev doctor: {reviewed.repo}/opdev.toml:2 names")
    assert "Traceback" not in doctor.stderr
    reviewed.cli("intake", "--container", "box", **none)
    reviewed.cli("clangd", ".", **none)
    if key == "python":
        assert reviewed.cli("run", "2", "--no-handover", **none).returncode != 2
    assert not (reviewed.root / "sprung").exists()

    agreed = reviewed.cli("run", "2", *container, "--handover", **none)
    assert "which was not run" not in agreed.stderr
    assert (reviewed.root / "sprung").exists()


@pytest.mark.parametrize(
    ("key", "value", "agreed", "found"),
    [
        ("python", "python3.11", None, "python3.11"),
        ("python", "./python3", False, None),
        ("engine", "podman", None, "podman"),
        ("engine", ["podman"], False, None),
        ("engine", "podman --hooks-dir .", True, "podman --hooks-dir ."),
    ],
)
def test_words_that_mean_the_same_everywhere_need_no_word(key, value, agreed, found):
    assert named(key, {key: value}, {}, agreed) == found
    assert named(key, {key: value}, {key: "mine"}, agreed) == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[run]\n\nexternal = { revue = ["x"] }\n', "opdev.toml:3: `external` names 'revue', and there is no such phase"),
        ('[run.external]\nreview = ["x"]\ncode = ["y", "{contxt}"]\n', "opdev.toml:3: `external` has {contxt} in the command of code"),
        ('[run]\nexternal = { review = "x y" }\n', "opdev.toml:1: `run` 'external' 'review' is a list of strings"),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_meant_is_said_with_its_line(reviewed, text, said):
    (reviewed.repo / "opdev.toml").write_text(text)

    done = reviewed.cli("run", "5")

    assert done.returncode == 2
    assert said in done.stderr


def test_one_that_hangs_is_ended_with_all_it_started(reviewed, nobody):
    reviewed.write("hang.py", "import subprocess, time\nsubprocess.Popen(['sleep', '300'])\ntime.sleep(300)\n")
    begun = time.monotonic()

    run, found = reviewed.go("5", external={"5": argv(reviewed, "hang.py")}, external_timeout=0.5)

    assert of(found, "step-ended")[-1]["timed_out"]
    assert time.monotonic() - begun < 60
    assert run.status.now == "blocked"
    nobody(run)


def test_one_that_cannot_be_started_is_said_and_the_gate_is_asked(reviewed):
    run, found = reviewed.go("5", external={"5": ("/nowhere/reviewer",)})

    assert "/nowhere/reviewer" in of(found, "step-ended")[-1]["message"]
    assert of(found, "gate")[-1]["state"] == "closed"
    assert run.status.now == "blocked"


def test_it_may_start_runs_of_the_same_operator(reviewed):
    reviewed.write(
        "nested.py",
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'opdev.cli', 'run', '2'], capture_output=True, text=True)\n"
        "open('nested', 'w').write(done.stdout)\n",
    )

    reviewed.go("5", external={"5": argv(reviewed, "nested.py")}, external_timeout=45.0)

    nested = (reviewed.root / "nested").read_text()
    assert "waiting for it" not in nested
    assert "01-run-script-syntax pass" in nested


def test_a_lock_is_not_lent_to_anybody_else(reviewed, monkeypatch):
    (reviewed.root / ".opdev").mkdir(exist_ok=True)
    monkeypatch.delenv(TOKEN, raising=False)
    holder = Lock(str(reviewed.root), "20260101-000000-000000-aaaaaa")
    assert holder.taken()

    stranger = Lock(str(reviewed.root), "20260101-000001-000000-aaaaaa")
    monkeypatch.setenv(TOKEN, "20260101-000000-000000-aaaaaa")
    guest = Lock(str(reviewed.root), "20260101-000002-000000-aaaaaa")

    assert not stranger.taken()
    assert guest.taken()
    assert holder.holder() == "20260101-000000-000000-aaaaaa"
    for lock in (guest, stranger, holder):
        lock.close()


def test_stopping_ends_it(reviewed, nobody):
    reviewed.write("slow.py", "import time\nopen('up', 'w').close()\ntime.sleep(300)\n")
    started = reviewed.start("5", external={"5": argv(reviewed, "slow.py")})
    until((reviewed.root / "up").is_file)

    started.process.terminate()
    started.process.wait(20)

    assert started.run.status.now == "stopped"
    nobody(started.run)
