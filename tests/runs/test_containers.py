"""Steps in a real container: nothing outside, paths with spaces and Chinese, and nothing left inside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from box import INNER, box
from fakes import ANSWERED, BUILDING, Fake, checked, of, until
from needed import needs, package
from waiting import CMAKE, MAIN, RUN

from opdev.runs.executors.docker import Docker
from opdev.runs.executors.sim import Sim

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    with box(tmp_path_factory.mktemp("box"), os.environ["OPDEV_CACHE_DIR"]) as found:
        yield found


@pytest.fixture(scope="module")
def op(here):
    """An operator in a folder whose name asks for trouble."""
    op = Fake(here.folder / "仓 库's" / "custom-ops" / "demo")
    op.write("CMakeLists.txt", CMAKE)
    op.write("src/main.cpp", MAIN)
    op.write("docs/phase0_intake.yaml", ANSWERED.format(name="demo"))
    op.write("../scripts/build.sh", BUILDING + 'echo "$here/src/k.cpp:3:4: warning: 中文警告" >&2\n')
    op.write("src/k.cpp", "")
    return op


@pytest.fixture
def go(here, op):
    """``go(executor, run.sh)``: phase 3 in the container, started; ended after the test whatever it did."""
    started = []

    def go(executor, script):
        for path in (*op.root.glob("in-*"), op.root / "pid", op.root / "ended"):
            path.unlink(missing_ok=True)
        op.write("scripts/run.sh", script)
        started.append(op.start("3", executor=executor, container=here.name, engine=here.engine, mounts=here.mounts))
        return started[-1]

    yield go
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def results(found):
    """What the steps that leave a record ended with."""
    return {e["step"]: e["result"] for e in of(found, "step-ended") if "step" in e}


def ended(started):
    started.process.wait(180)
    return checked(started.run)


def test_steps_run_inside_and_their_paths_are_this_machines(here, op, go):
    found = ended(go("docker", "mkdir -p output; pwd; ls /mnt; printf '%s|' \"$@\"; echo; for i in 0 1; do timeout 9 echo \"PE $i: PASS (1 elements)\" & done; wait; echo 'PASS: all 2 PE outputs match'\n"))  # fmt: skip

    assert Docker("x", here.name, here.engine).problem() is None
    assert results(found) == {"build": "pass", "smoke": "pass"}
    assert of(found, "diagnostic")[0]["path"] == f"{op.root}/src/k.cpp"
    assert of(found, "step-started")[-1]["cwd"] == f"{INNER}/仓 库's/custom-ops/demo"
    log = Path(op.runs()[-1].folder, "logs", of(found, "step-started")[-1]["logs"]["stdout"]).read_text(
        encoding="utf-8"
    )
    assert log.startswith(f"{INNER}/仓 库's/custom-ops/demo\nrepo\n")


@pytest.mark.parametrize("executor", ["docker", "sim"])
def test_a_container_that_is_not_there_is_said_before_anything_runs(here, op, executor):
    problem = Docker("x", "nobody-of-that-name", here.engine).problem()
    assert "there is no container nobody-of-that-name" in problem["en"]
    op.write("../../opdev.toml", f"[run]\nengine = {json.dumps(list(here.engine))}\n")
    before = op.runs()
    done = op.cli("run", "3", "--executor", executor, "--container", "nobody-of-that-name", "--handover")
    (op.repo / "opdev.toml").unlink()

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("opdev run: there is no container nobody-of-that-name")
    assert op.runs() == before


def test_a_container_without_the_stand_in_is_said(here, op, monkeypatch, tmp_path):
    elsewhere = tmp_path / "python"
    elsewhere.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(elsewhere))
    sim = Sim(Docker("x", here.name, here.engine, here.mounts), str(op.root), "x", 2)
    sim.environment = dict

    assert sim.problem()["en"].startswith(f"{elsewhere} is not there in the container")


def test_an_engine_that_is_not_there_is_said(op):
    op.write("../../opdev.toml", '[run]\nengine = ["/nowhere/podman"]\n')
    done = op.cli("run", "3", "--executor", "sim", "--container", "x", "--handover")
    (op.repo / "opdev.toml").unlink()

    assert done.returncode == 2
    assert "there is no container engine /nowhere/podman" in done.stderr


WAITING = "trap 'echo term > ended; exit 3' TERM; timeout 3141 sleep 3141 & setsid sleep 3142 & echo 1 > pid; wait\n"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_is_stopped_or_killed_ends_inside(here, op, go, nobody, end):
    started = go("docker", WAITING)
    until((op.root / "pid").is_file, 60)
    assert any("3141" in line for line in here.processes())
    started.process.send_signal(end)
    started.process.wait(60)

    until(lambda: not here.processes(), 60, "an empty container")
    nobody(started.run)
    assert (op.root / "ended").read_text() == "term\n"
    assert started.run.status.now == ("stopped" if end == signal.SIGTERM else "lost")


def in_pids(op):
    return all((op.root / f"in-{pe}").is_file() for pe in (0, 1))


@needs("g++", "cmake")
class TestStandIn:
    """The stand-in in the container: built there by its compiler, run there."""

    def test_a_phase_passes_and_killed_pes_end_inside(self, here, op, go, nobody):
        (op.root / "go").unlink(missing_ok=True)
        started = go("sim", RUN)
        until(lambda: in_pids(op), 180, "both PEs")
        # A PE by the number it has inside.
        here.inside("bash", "-c", f"kill -KILL {(op.root / 'in-1').read_text()}")
        found = ended(started)
        assert of(found, "fault")[0]["fault"] == "peer-died"
        assert of(found, "step-ended")[-1]["result"] == "fail"
        until(lambda: not here.processes(), 60, "an empty container")

        started = go("sim", RUN)
        until(lambda: in_pids(op), 180, "both PEs")
        started.process.kill()
        started.process.wait()
        until(lambda: not here.processes(), 60, "an empty container")
        nobody(started.run)

        (op.root / "go").touch()
        found = ended(go("sim", RUN))
        assert results(found) == {"build": "pass", "smoke": "pass"}
        assert {e["backend"] for e in found} == {"sim"}
        assert all(
            e["argv"][: len(here.engine) + 2] == [*here.engine, "exec", here.name] for e in of(found, "step-started")
        )

    def test_the_whole_matrix_of_an_operator_runs_inside(self, here, monkeypatch):
        package("numpy")
        # The operator's scripts run on the Python that is mounted, whichever this machine finds first.
        monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
        repo = here.folder / "a 仓库"
        shutil.copytree(CORPUS / "scripts", repo / "custom-ops" / "scripts")
        shutil.copytree(CORPUS / "put_signal", repo / "custom-ops" / "put_signal")
        cases = repo / "custom-ops" / "put_signal" / "scripts" / "cases.json"
        some = [case for case in json.loads(cases.read_text(encoding="utf-8")) if case["n_pes"] == 2][:2]
        cases.write_text(json.dumps(some), encoding="utf-8")
        op = Fake(repo / "custom-ops" / "put_signal")
        op.write("docs/phase0_intake.yaml", ANSWERED.format(name="put_signal"))
        _, found = op.go("4", executor="sim", container=here.name, engine=here.engine, mounts=here.mounts)

        ended = {e["task"].partition("-")[2]: e["result"] for e in of(found, "step-ended")}
        assert ended["build"] == "pass"
        assert set(ended.values()) == {"pass"}, found
        assert [e["verdict"] for e in of(found, "case")] == ["PASS", "PASS"]
        assert not here.processes()
