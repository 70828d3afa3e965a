"""SIGKILL at the moments of a run that matter, for each process of it: nothing runs on, nothing is lost, it goes on.

The run is a real one on the stand-in: two PEs in a session with shared memory, started by the operator's own script.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import ANSWERED, BUILDING, Fake, checked, of, until
from needed import needs
from waiting import CMAKE, MAIN, RUN

from opdev.cli import main
from opdev.keeping.keeper import stat_of
from opdev.runs.process import carrying, sweep
from opdev.runs.reader import replay

pytestmark = needs("g++", "cmake")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """One operator for all tests: what does not change is compiled once."""
    op = Fake(tmp_path_factory.mktemp("kills") / "仓 库" / "custom-ops" / "demo")
    op.write("CMakeLists.txt", CMAKE)
    op.write("scripts/run.sh", RUN)
    op.write("docs/phase0_intake.yaml", ANSWERED.format(name="demo"))
    op.write("../scripts/build.sh", BUILDING)
    op.write("../../include/x.h", "")
    return op


@pytest.fixture
def op(built):
    """The operator as it was before any run; nothing of a failed test goes on."""
    built.write("src/main.cpp", MAIN)
    for path in built.root.glob("in-*"):
        path.unlink()
    (built.root / "go").unlink(missing_ok=True)
    shutil.rmtree(built.root / ".opdev", ignore_errors=True)
    yield built
    (built.root / "go").touch()
    for run in built.runs():
        sweep(run.id)


_edits = itertools.count()


class Watched:
    """A run that goes on, and who is in it."""

    def __init__(self, op, how):
        self.op = op
        if how == "line":
            self.front = subprocess.Popen(
                [sys.executable, "-m", "opdev.cli", "run", "3", "--executor", "sim", "--lang", "en"],
                cwd=op.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        else:
            # As an editor's server starts one: it goes on without whoever started it.
            code = "import sys,json; from opdev.runs.plan import Plan; from opdev.runs.starting import start; start(Plan('3', sys.argv[1], executor='sim', grace=1.0), lifeline=False); print('up', flush=True); input()"
            self.front = subprocess.Popen(
                [sys.executable, "-c", code, str(op.root)],
                cwd=op.root,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
            )
        self.run = until(lambda: op.runs() and op.runs()[-1].status and op.runs()[-1], what="the run")

    def end(self):
        self.front.kill()
        self.front.wait()
        if self.front.stdin:
            self.front.stdin.close()

    def named(self, word):
        """Processes of the run with a word in their command line."""
        return [pid for pid in carrying(self.run.id) if word in cmdline(pid)]

    def pids(self, whom):
        found = {
            "front": lambda: [self.front.pid],
            "runner": lambda: [self.run.status.runner.pid],
            "keeper": lambda: self.named("keeper.py"),
            "guard": lambda: [parent for pid in self.named("keeper.py") if (parent := stat_of(pid)[0]) > 1],
            "script": lambda: sorted(self.named("scripts/run.sh"))[:1],
            "compiler": self.compiling,
            "pe": lambda: [int((self.op.root / "in-1").read_text())],
        }[whom]()
        assert found, whom
        return found

    def started(self):
        return self.run.status.state == "running"

    def compiling(self):
        return [pid for pid in self.named("cc1plus") if "main.cpp" in cmdline(pid)]

    def meeting(self):
        return self.named("build/bin/demo") or self.inside()

    def inside(self):
        return all((self.op.root / f"in-{pe}").is_file() for pe in (0, 1))


def cmdline(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


# Who is killed, when, in a run started by whom, and what the run says of itself afterwards.
MOMENTS = {
    "the runner as it begins": ("runner", "started", "server", {"lost"}),
    "the runner while the compiler runs": ("runner", "compiling", "server", {"lost"}),
    "the compiler": ("compiler", "compiling", "server", {"failed"}),
    "the keeper while the compiler runs": ("keeper", "compiling", "server", {"failed"}),
    "the runner while the PEs meet": ("runner", "meeting", "server", {"lost"}),
    "the runner while the PEs run": ("runner", "inside", "server", {"lost"}),
    "a PE": ("pe", "inside", "server", {"failed"}),
    "the operator's script": ("script", "inside", "server", {"failed"}),
    "the keeper while the PEs run": ("keeper", "inside", "server", {"failed"}),
    "the guard while the PEs run": ("guard", "inside", "server", {"failed"}),
    "the runner and the keeper": ("runner keeper", "inside", "server", {"lost"}),
    "the runner and the guard": ("runner guard", "inside", "server", {"lost"}),
    "the keeper and the guard": ("guard keeper", "inside", "server", {"failed"}),
    "the command line": ("front", "inside", "line", {"stopped"}),
    "the command line, its runner and the keeper": ("front runner keeper", "inside", "line", {"lost"}),
}  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_nothing_runs_on_and_nothing_is_lost(op, nobody, said, moment):
    whom, when, how, states = MOMENTS[moment]
    if when == "compiling":
        op.write("src/main.cpp", f"{MAIN}// not the text of any other test: {moment} {next(_edits)}\n")
    watched = Watched(op, how)
    until(getattr(watched, when), 60, when)
    before = replay(watched.run)
    at_once([pid for one in whom.split() for pid in watched.pids(one)])
    run = watched.run

    # Nobody has asked yet: that nothing is left does not depend on it.
    until(lambda: run.status.now in states, what=f"{states}, not {run.status.now}")
    nobody(run)
    assert not [name for name in os.listdir("/dev/shm") if run.id in name]
    after = checked(run)
    assert after[: len(before)] == before
    assert said("runs")[-1]["state"] in states
    assert said("status")["operators"][0]["phase"] == "1"
    assert proven(said("gate", "3")) != "ok"
    watched.end()

    op.write("src/main.cpp", MAIN)
    (op.root / "go").touch()
    resumed, again = op.go("3", executor="sim", resume=True, resume_of=run.id)
    assert [(e["step"], e["result"]) for e in of(again, "step-ended") if "step" in e] == [
        ("build", "pass"),
        ("smoke", "pass"),
    ]
    assert proven(said("gate", "3")) == "ok"
    assert checked(run) == after
    nobody(resumed)


def proven(found):
    """What the gate says of the smoke run: a killed one proves nothing."""
    return next(check["state"] for check in found["checks"] if check["id"] == "code-smoke")


def at_once(pids):
    """Kill processes as if at one moment: stopped first, none of them sees another's end."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)


@pytest.fixture
def said(op, capsys, monkeypatch):
    """``said(command…)``: what a command of opdev tells of the operator."""

    def said(*command):
        monkeypatch.chdir(op.root)
        capsys.readouterr()
        assert main([*command, "--format", "json"]) in (0, 1)
        return json.loads(capsys.readouterr().out)

    return said


def test_a_run_goes_on_without_the_server_that_started_it(op, nobody):
    watched = Watched(op, "server")
    until(watched.inside, 60)
    watched.end()
    (op.root / "go").touch()

    until(lambda: watched.run.status.now == "blocked", what="the end of the run, whose gate waits for a person")
    assert {e["result"] for e in of(checked(watched.run), "step-ended")} == {"pass"}
    nobody(watched.run)
