"""The commands as a user types them: what they print, how they end, what they refuse."""

from __future__ import annotations

import json
import os
import time

import jsonschema
import pytest
from fakes import VALIDATOR, until

from opdev.runs import events

SLEEPING = "echo $$ > pid\nsleep 100 &\nwait\n"


def test_run_shows_what_happens_and_ends_with_its_status(make):
    done = make().cli("run", "code")

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("demo: run 3, 2 PEs, host  ")
    assert "✓ 01-build pass" in done.stdout
    assert "  | PASS: all 2 PE outputs match" in lines
    assert "gate closed" in done.stdout
    assert lines[-1].startswith("blocked after ")
    assert done.stderr == ""


def test_everything_is_said_in_chinese_too(make):
    op = make(run="echo 'address in use for bind listen on 1' >&2; exit 1\n")

    done = op.cli("run", "3", "--lang", "zh")

    assert "✗ 02-smoke 失败" in done.stdout
    assert "  原因: 端口被占用：上一次运行或某个 torch 测试还在" in done.stdout
    assert "  类别: 运行时 · 就地解决" in done.stdout
    assert "✗ 02-smoke fail" in op.cli("show", "last", "--lang", "en").stdout


def test_events_as_lines(make):
    done = make().cli("run", "3", "--format", "jsonl")

    found = [json.loads(line) for line in done.stdout.splitlines()]
    for event in found:
        VALIDATOR.validate(event)
    assert found[-1]["type"] == "run-ended"


def test_runs_and_show(make):
    op = make()
    assert op.cli("runs").stdout == "there are no runs yet\n"
    op.cli("run", "3")

    rows = json.loads(op.cli("runs", "--format", "json").stdout)
    text = op.cli("runs").stdout
    shown = op.cli("show", rows[0]["id"][-6:])

    assert [(r["operator"], r["state"], r["request"], r["backend"]) for r in rows] == [("demo", "blocked", "3", "npu")]
    assert rows[0]["id"] in text
    assert "✓ 02-smoke pass" in shown.stdout
    assert "| PASS" not in shown.stdout
    assert f"{rows[0]['folder']}/logs" in shown.stdout


def test_a_detached_run_is_followed_and_stopped(make, nobody):
    op = make(run=SLEEPING)

    assert op.cli("run", "3", "--detach").stdout.startswith("started 2")
    until((op.root / "pid").is_file)
    (run,) = op.runs()
    assert run.status.now == "running"
    stopped = op.cli("stop", "last")
    tailed = op.cli("tail")

    assert (stopped.returncode, stopped.stdout) == (0, f"{run.id} is stopped\n")
    assert tailed.returncode == 130
    assert tailed.stdout.splitlines()[-1].startswith("stopped after")
    nobody(run)


def test_stop_without_a_name_is_for_the_one_that_runs(make, nobody):
    op = make(run=SLEEPING)
    assert op.cli("stop").returncode == 2
    started = op.start()
    until((op.root / "pid").is_file)

    begun = time.monotonic()
    assert op.cli("stop", "--now").returncode == 0
    assert time.monotonic() - begun < 15
    assert op.cli("stop", started.run.id).stdout == f"{started.run.id} is not running (stopped)\n"
    nobody(started.run)


def test_stop_mends_a_lost_run(make, nobody):
    op = make(run=SLEEPING)
    started = op.start()
    until((op.root / "pid").is_file)
    started.process.kill()
    started.process.wait()

    done = op.cli("stop", started.run.id)

    assert done.stdout == f"{started.run.id} is not running (lost)\n"
    assert "the run's process is gone" in op.cli("show", "last").stdout
    assert op.cli("tail").returncode == 3
    nobody(started.run)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run"], "PHASE"),
        (["run", "9"], "no phase 9"),
        (["run", "3", "--pes", "0"], "from 1 to 1024"),
        (["run", "3", "--pes", "two"], "from 1 to 1024"),
        (["run", "3", "--executor", "cloud"], "invalid choice"),
        (["run", "3", "--op", "/nowhere"], "/nowhere: no such folder"),
        (["show", "20990101"], "there is no run 20990101"),
        (["stop", "nothing"], "there is no run nothing"),
    ],
)
def test_usage(make, argv, words):
    done = make().cli(*argv)

    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_no_operator_and_too_many(make):
    one = make("one")
    make("two")

    assert "there are 2 operators below (one, two)" in one.cli("run", "3", "--op", str(one.repo)).stderr
    assert "no operator found" in one.cli("run", "3", "--op", "/usr/lib").stderr
    assert one.cli("runs", "--op", str(one.repo)).returncode == 0


def test_a_configuration_that_cannot_be_used_is_said(make):
    op = make()
    op.write("opdev.toml", "[run]\ngrace = 'soon'\n")

    done = op.cli("run", "3")

    assert done.returncode == 2
    assert "opdev.toml" in done.stderr
    assert "grace" in done.stderr


def test_a_folder_nobody_may_write_is_said(make):
    op = make()
    op.write(".opdev", "a file where a folder belongs")

    done = op.cli("run", "3")

    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def test_the_schema_is_printed(make):
    printed = json.loads(make().cli("show", "last", "--print-schema").stdout)

    jsonschema.Draft202012Validator.check_schema(printed)
    assert printed == events.schema()


def test_doctor_asks_children_and_imports_nothing(make, tmp_path):
    op = make()
    record = op.root / "docs/phase0_intake.yaml"
    record.write_text(record.read_text().replace("torch_required: false", "torch_required: true"))
    fake = tmp_path / "bin"
    fake.mkdir()
    # A Torch that hangs up, a driver tool that fails: rows of the answer.
    (fake / "npu-smi").write_text("#!/bin/sh\necho 'driver is broken' >&2\nexit 3\n")
    (fake / "python3").write_text(
        '#!/bin/sh\ncase "$*" in *torch*) kill -SEGV $$;; *numpy*) echo 1.2.3;; *) echo Python 3.x;; esac\n'
    )
    for name in ("npu-smi", "python3"):
        (fake / name).chmod(0o755)

    done = op.cli("doctor", "--format", "json", PATH=f"{fake}:{os.environ['PATH']}")

    value = json.loads(done.stdout)
    probes = {p["probe"]: p for p in value["probes"]}
    assert done.returncode == 1
    assert (value["operator"], value["executor"]) == ("demo", "host")
    assert (probes["npu"]["state"], probes["npu"]["detail"]) == ("failed", "driver is broken")
    assert probes["torch"]["state"] == "failed"
    assert (probes["numpy"]["state"], probes["numpy"]["detail"]) == ("ok", "1.2.3")
    assert probes["shmem-repo"]["state"] == "missing"
    for probe in value["probes"]:
        if probe["state"] in ("missing", "failed"):
            assert probe["next"]["zh"]
            assert probe["next"]["en"]


def test_doctor_without_an_operator_looks_at_the_machine(make, tmp_path):
    op = make()
    done = op.cli("doctor", "--executor", "host")
    assert "shmem-install" in done.stdout

    os.makedirs(tmp_path / "empty")
    import subprocess
    import sys

    bare = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "doctor"],
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
        check=False,
    )

    assert "python" in bare.stdout
    assert "shmem-install" not in bare.stdout
