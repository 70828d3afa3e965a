"""A run from its start to its end, however that comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import checked, of, until

from opdev.keeping.keeper import stat_of
from opdev.phases.records import read as records
from opdev.runs import store
from opdev.runs.process import alive, carrying, identity
from opdev.runs.reader import follow, replay

LONG = """\
trap 'echo term >> ended; exit 9' TERM
echo $$ > pid
timeout 100 sh -c 'echo $$ > deep; sleep 100' &
setsid sh -c 'echo $$ > escaped; exec sleep 100' &
sleep 100 &
wait
"""
DEAF = "trap '' TERM\necho $$ > pid\nwhile :; do sleep 1; done\n"


def running(op, *names):
    """The process ids that a script wrote."""
    until(lambda: all((op.root / n).is_file() and (op.root / n).read_text().strip() for n in names), what=f"{names}")
    return [int((op.root / n).read_text()) for n in names]


def is_there(pid):
    return alive(identity(pid)) is True


def test_a_run_that_passes_leaves_evidence_for_the_gates(make):
    op = make()

    run, found = op.go()

    assert [(e["task"], e["result"]) for e in of(found, "step-ended")] == [
        ("01-build", "pass"), ("02-smoke", "pass"), ("03-clangd", "pass")
    ]  # fmt: skip
    assert [(r.step, r.result, r.n_pes) for r in records(str(op.root))] == [
        ("build", "pass", None),
        ("smoke", "pass", 2),
    ]
    assert records(str(op.root))[0].sources.keys() == {"CMakeLists.txt"}
    # The code is not there: the gate waits for a person.
    assert run.status.now == "blocked"
    assert found[-1]["outcome"] == "blocked"
    assert of(found, "manual")[0]["context"].endswith("context-3.json")
    assert {e["backend"] for e in found} == {"npu"}


def test_a_failing_build_is_told_with_its_first_error_and_where_it_leads(make):
    op = make(
        build="echo '[ 10%] Building'\ncd demo 2>/dev/null || cd custom-ops/demo\necho 'src/k.cpp:3:7: error: no such thing [-Wx]' >&2\necho 'src/k.cpp:9:1: error: more' >&2\nexit 2\n"
    )
    op.write("src/k.cpp", "int x;\n")

    run, found = op.go()

    ended = of(found, "step-ended")
    assert [e["result"] for e in ended] == ["fail"]
    assert ended[0]["message"] == f"{op.root}/src/k.cpp:3:7: error: no such thing"
    assert of(found, "diagnosis")[0]["class"] == "compile"
    assert of(found, "phase-ended")[0]["route"] == "3"
    assert (run.status.now, run.status.phase, run.status.step) == ("failed", "3", "build")


def test_exit_0_is_no_pass_without_a_verdict(make):
    _, found = make(run="mkdir -p output; echo '[SUCCESS] demo run success in pe 0'\n").go()

    assert of(found, "step-ended")[-1]["result"] == "fail"
    assert of(found, "diagnosis")[0]["signature"] == "no-verdict"
    assert of(found, "phase-ended")[0]["route"] == "2"


def test_exit_0_is_no_pass_with_a_failed_pe(make):
    _, found = make(run="mkdir -p output; echo 'PE 0: PASS (8 elements)'; echo 'PE 1: FAIL (8 elements)'\n").go()

    assert of(found, "step-ended")[-1]["result"] == "fail"
    assert of(found, "diagnosis")[0]["class"] == "correctness"


def test_a_missing_artifact_is_no_pass(make):
    _, found = make(run="echo 'PASS: all 2 PE outputs match'\n").go()

    assert of(found, "diagnosis")[0]["signature"] == "no-artifact"


def test_an_environment_that_is_not_there_blocks(make):
    _, found = make(
        run="echo 'CMake Error at x:1 (message):' >&2; echo 'Cannot find ASCEND_HOME_PATH, please run set_env.sh.' >&2; exit 1\n"
    ).go()

    assert of(found, "step-ended")[-1]["result"] == "blocked"
    assert of(found, "diagnosis")[0]["signature"] == "cann-not-sourced"
    assert of(found, "diagnosis")[0]["route"] == "here"


def test_a_step_that_takes_too_long_is_ended_with_all_it_started(make, nobody):
    op = make(run=LONG)

    run, found = op.go(timeout_scale=0.002)  # 600 s become 1.2

    last = of(found, "step-ended")[-1]
    assert (last["result"], last["timed_out"]) == ("fail", True)
    assert of(found, "diagnosis")[0]["signature"] == "timeout"
    assert (op.root / "ended").read_text() == "term\n"
    nobody(run)


def test_stopping_asks_first_and_kills_what_does_not_listen(make, nobody):
    op = make(run=DEAF)
    started = op.start()
    (pid,) = running(op, "pid")
    assert (started.run.status.phase, started.run.status.step) == ("3", "smoke")

    begun = time.monotonic()
    os.kill(started.process.pid, signal.SIGTERM)
    started.process.wait(20)

    assert 0.9 < time.monotonic() - begun < 8
    assert not is_there(pid)
    assert started.run.status.now == "stopped"
    assert checked(started.run)[-1]["outcome"] == "stopped"
    assert started.process.returncode == 130
    nobody(started.run)


def test_stopping_twice_does_not_wait(make, nobody):
    op = make(run=DEAF)
    started = op.start(grace=60.0)
    running(op, "pid")

    os.kill(started.process.pid, signal.SIGTERM)
    time.sleep(0.2)
    os.kill(started.process.pid, signal.SIGTERM)

    started.process.wait(10)
    nobody(started.run)


def test_only_its_own_processes_are_ended(make, nobody):
    op = make(run=LONG)
    bystander = subprocess.Popen(["sleep", "100"], cwd=op.root)
    started = op.start()
    pids = running(op, "pid", "deep", "escaped")

    os.kill(started.process.pid, signal.SIGTERM)
    started.process.wait(20)

    assert bystander.poll() is None
    assert not any(is_there(pid) for pid in pids)
    bystander.kill()
    bystander.wait()


def test_what_a_step_leaves_running_is_ended_and_told(make, nobody):
    op = make(
        run="mkdir -p output\nnohup setsid sleep 100 >/dev/null 2>&1 &\nsleep 90 &\necho 'PASS: all 2 PE outputs match'\n"
    )

    run, found = op.go()

    smoke = next(e for e in of(found, "step-ended") if e["task"] == "02-smoke")
    assert (smoke["leaked"], smoke["result"]) == (2, "pass")
    assert not carrying(run.id)


def keeper_of(run):
    """The keeper of a run's step: the session its script is in."""
    return next(pid for pid in carrying(run.id) if b"keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes())


def test_a_killed_runner_leaves_nothing_running_and_a_lost_run(make, nobody):
    op = make(run=LONG)
    started = op.start()
    pids = running(op, "pid", "deep", "escaped")

    started.process.kill()
    started.process.wait(10)

    nobody(started.run)
    assert not any(is_there(pid) for pid in pids)
    assert started.run.status.now == "lost"
    assert started.run.status.state == "running"
    assert store.mend(started.run)
    assert started.run.status.state == "lost"
    assert not store.mend(started.run)


def test_a_killed_keeper_leaves_nothing_running_and_a_failed_step(make, nobody):
    op = make(run=LONG)
    started = op.start()
    pids = running(op, "pid", "deep", "escaped")

    os.kill(keeper_of(started.run), signal.SIGKILL)
    started.process.wait(20)

    assert not any(is_there(pid) for pid in pids)
    assert of(checked(started.run), "step-ended")[-1]["signal"] == signal.SIGKILL
    assert started.run.status.now == "failed"


def test_runner_and_all_that_guards_killed_together_are_swept_by_whoever_looks_next(make, nobody):
    op = make(run=LONG)
    started = op.start()
    pids = running(op, "pid", "deep", "escaped")
    keeper = keeper_of(started.run)
    guard = stat_of(keeper)[0]

    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (guard, keeper, started.process.pid):
            os.kill(pid, number)
    started.process.wait(10)
    assert op.cli("runs").returncode == 0

    assert not any(is_there(pid) for pid in pids)
    assert started.run.status.state == "lost"


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.08, 0.15, 0.25, 0.35, 0.5, 0.7, 0.9, 1.2])
def test_killed_at_any_moment_nothing_is_left_and_the_next_run_works(make, nobody, moment):
    op = make(
        run="mkdir -p output; sleep 0.3 & sleep 0.2; wait; echo 'PASS: all 2 PE outputs match'\n", build="sleep 0.2\n"
    )
    op.write("build/bin/demo", "")
    started = op.start("4" if moment > 0.6 else "3")
    time.sleep(moment)
    started.process.kill()
    started.process.wait(10)

    nobody(started.run)
    assert started.run.status.now in ("lost", "blocked", "failed")
    found = replay(started.run)
    assert [e["seq"] for e in found] == list(range(len(found)))
    assert list(follow(started.run)) == found
    _, after = op.go()
    assert of(after, "step-ended")[-1]["result"] == "pass"


def test_the_run_ends_with_whoever_holds_its_lifeline(make, nobody):
    op = make(run=LONG)
    started = op.start(lifeline=True)
    running(op, "pid")

    os.close(started.lifeline)
    started.process.wait(20)

    assert started.run.status.now == "stopped"
    nobody(started.run)


def test_a_killed_command_line_ends_its_run(make, nobody):
    op = make(run=LONG)
    front = subprocess.Popen([sys.executable, "-m", "opdev.cli", "run", "3"], cwd=op.root, stdout=subprocess.DEVNULL)
    pids = running(op, "pid", "deep", "escaped")

    front.kill()
    front.wait()

    (run,) = op.runs()
    until(lambda: run.status.now == "stopped")
    assert not any(is_there(pid) for pid in pids)


def test_an_interrupted_command_line_stops_its_run_and_says_so(make, nobody):
    op = make(run=LONG)
    front = subprocess.Popen(
        [sys.executable, "-m", "opdev.cli", "run", "3", "--lang", "en"], cwd=op.root, stdout=subprocess.PIPE, text=True
    )
    running(op, "pid")

    front.send_signal(signal.SIGINT)
    out, _ = front.communicate(timeout=20)

    assert front.returncode == 130
    assert out.rstrip().rpartition("\n")[2].startswith("stopped after")
    nobody(op.runs()[0])


def test_two_operators_at_once_do_not_meet(make):
    script = (
        "mkdir -p output; echo $IPPORT $SHMEM_UID_SESSION_ID >> ports; sleep 0.4; echo 'PASS: all 2 PE outputs match'\n"
    )
    first, second = make("one", run=script), make("two", run=script)

    a, b = first.start(), second.start()
    for started in (a, b):
        started.process.wait(20)
        assert of(checked(started.run), "step-ended")[-1]["result"] == "pass"

    words = (first.root / "ports").read_text().split() + (second.root / "ports").read_text().split()
    assert len(set(words)) == 4


def test_one_operator_twice_goes_one_after_the_other(make):
    op = make(
        run="mkdir -p output; test ! -e busy || exit 1; touch busy; until test -e go; do sleep 0.02; done; rm busy; echo 'PASS: all 2 PE outputs match'\n"
    )

    runs = [op.start() for _ in range(2)]
    until(lambda: any(of(replay(started.run), "waiting") for started in runs), what="one to wait for the other")
    op.write("go", "")
    for started in runs:
        started.process.wait(30)

    found = [checked(started.run) for started in runs]
    assert [of(f, "step-ended")[-1]["result"] for f in found] == ["pass", "pass"]
    waited = [of(f, "waiting") for f in found]
    assert sum(len(w) for w in waited) == 1
    assert next(w for w in waited if w)[0]["for"] in {s.run.id for s in runs}


def test_all_goes_on_where_it_was_interrupted(make, nobody):
    op = make()

    first, found = op.go("all")
    assert [e["phase"] for e in of(found, "phase-started")] == ["0"]
    assert first.status.now == "blocked"
    second, found = op.go("all", resume=True, resume_of=first.id)

    # Row 1 of the recovery matrix: there is no design.
    assert [e["phase"] for e in of(found, "phase-started")] == ["1"]
    assert found[0]["resume_of"] == first.id
    assert second.status.resume_of == first.id


def test_a_configured_program_does_what_waits_for_a_person(make):
    op = make()
    program = op.write(
        "write.py",
        "import json,os,sys\nc=json.load(open(sys.argv[1]))\nassert c['phase']==os.environ['OPDEV_PHASE']=='1'\nopen('seen','w').write(c['ask']['zh'])\n",
    )

    run, found = op.go("1", external={"1": (sys.executable, str(program), "{context}")})

    assert "design.md" in (op.root / "seen").read_text()
    assert of(found, "step-ended")[0]["result"] == "pass"
    # It wrote no design: the gate says so, and nothing pretends.
    assert of(found, "gate")[-1]["state"] == "closed"
    assert run.status.now == "blocked"


def test_a_folder_that_cannot_be_a_place_is_said(make):
    op = make()
    (op.root.parent / "scripts" / "build.sh").unlink()
    op.write("CMakeLists.txt", "project(demo)\n")

    _, found = op.go(python="/nowhere/python")

    assert of(found, "step-started")[0]["task"] == "01-configure"


def test_modules_of_the_operator_stand_in_for_none_of_ours(make):
    op = make()
    for name in ("json.py", "yaml.py", "opdev.py"):
        (op.root / name).write_text("raise SystemExit('not this one')\n")

    _, found = op.go()

    assert {e["result"] for e in of(found, "step-ended")} == {"pass"}
    assert "clangd" in of(found, "step-ended")[-1]["task"]
