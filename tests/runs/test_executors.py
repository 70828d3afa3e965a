"""Where steps run: what is started, with quoting that cannot break, and what is said when nothing can be."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import replace

import pytest
from fakes import of

from opdev.runs import process
from opdev.runs.execute import Stop, execute
from opdev.runs.executors import Job
from opdev.runs.executors.docker import Docker
from opdev.runs.executors.host import Host
from opdev.runs.executors.sim import MODULE, Sim
from opdev.runs.plan import Plan
from opdev.runs.runner import executor_of
from opdev.runs.settings import Asked, plan_of
from opdev.runs.target import Target

NASTY = [
    "plain",
    "with space",
    "中文 路径",
    "'single'",
    '"double"',
    "$HOME `id` $(id)",
    "a;b&&c|d>e",
    "back\\slash",
    "",
    "-n",
    "*",
    "line\nbreak",
]
SAY = [
    sys.executable,
    "-c",
    "import json,os,sys; print(json.dumps([sys.argv[1:], os.getcwd(), os.environ.get('SOME'), os.environ.get('SOURCED')]))",
]


def ran(command):
    said = {"stdout": b"", "stderr": b""}

    def output(stream, data):
        said[stream] += data

    outcome = execute(command, output, Stop())
    return outcome, said["stdout"].decode(), said["stderr"].decode()


@pytest.fixture
def place(tmp_path):
    """A folder with a name that asks for trouble, and a script to source in it."""
    folder = tmp_path / '它\'s a "folder" $HOME'
    folder.mkdir()
    (folder / "set env.sh").write_text('export SOURCED="$#:${1:-none}"\n')
    return folder


def test_words_arrive_as_they_are_on_this_machine(place):
    job = Job([*SAY, *NASTY], str(place), env={"SOME": NASTY[5]}, source=[str(place / "set env.sh")])

    outcome, out, _ = ran(Host("x").command(job))

    assert outcome.good
    # The script sees no arguments of ours.
    assert json.loads(out) == [NASTY, str(place), NASTY[5], "0:none"]


def test_a_script_that_cannot_be_sourced_is_said(place):
    outcome, _, err = ran(Host("x").command(Job(SAY, str(place), source=["/nowhere.sh"])))

    assert outcome.exit == 90
    assert "[opdev] cannot be sourced: /nowhere.sh" in err


def test_a_program_that_is_not_there_is_no_exit_status(place):
    outcome, _, _ = ran(Host("x").command(Job(["/nowhere/program"], str(place))))

    assert (outcome.exit, outcome.failed) == (None, "/nowhere/program: No such file or directory")
    assert ran(Host("x").command(Job(SAY, "/nowhere")))[0].failed == "/nowhere: no such folder"


def test_every_process_carries_the_runs_id(place):
    _, out, _ = ran(Host("20260101").command(Job(["env"], str(place))))

    assert f"{process.TOKEN}=20260101" in out.splitlines()


ENGINE = """\
#!{python}
# A container engine that has one container, `box`, whose inside is this machine.
import json, os, sys
open({log!r}, "a").write(json.dumps(sys.argv[1:]) + "\\n")
word, rest = sys.argv[1], sys.argv[2:]
if word == "inspect":
    state = {{"box": "true", "asleep": "false"}}.get(rest[-1])
    if state is None:
        sys.exit("Error: No such object: " + rest[-1])
    print(state)
elif word == "exec":
    rest = rest[1:] if rest[0] == "-i" else rest
    assert rest[0] == "box", rest
    os.execvp(rest[1], rest[1:])
else:
    sys.exit("what?")
"""


@pytest.fixture
def engine(tmp_path):
    """An engine's program; ``engine.calls()`` says how it was called."""
    log = tmp_path / "calls"
    path = tmp_path / "my engine"
    path.write_text(ENGINE.format(python=sys.executable, log=str(log)))
    path.chmod(0o755)
    return types.SimpleNamespace(
        argv=(str(path),), calls=lambda: [json.loads(line) for line in log.read_text().splitlines()]
    )


def test_the_argv_of_a_step_in_a_container():
    docker = Docker("RUN", "box", ("podman", "--runtime", "runc"))

    command = docker.command(
        Job(["make", "a b"], "/c/op", env={"A": "1"}, source=["/c/env.sh"], conda="torch", grace=3)
    )

    head, script, tail = command.argv[:8], command.argv[8], command.argv[9:]
    assert head == ["podman", "--runtime", "runc", "exec", "-i", "box", "bash", "-lc"]
    assert tail == ["opdev", "3", "/c/op", "2", "A=1", f"{process.TOKEN}=RUN", "1", "/c/env.sh", "torch", "make", "a b"]
    # The script is ours, always the same, and holds nothing of the user's.
    assert script == docker.command(Job(["x"], "/")).argv[8]
    assert command.hold
    # Nothing but the engine itself is run outside.
    assert docker.shown(Job(["make"], "/c")) == ["podman", "--runtime", "runc", "exec", "box", "make"]


def test_words_arrive_as_they_are_in_a_container(engine, place):
    docker = Docker("RUN", "box", engine.argv)
    job = Job([*SAY, *NASTY], str(place), env={"SOME": NASTY[5]}, source=[str(place / "set env.sh")])

    outcome, out, err = ran(docker.command(job))

    assert (outcome.good, err) == (True, "")
    assert json.loads(out) == [NASTY, str(place), NASTY[5], "0:none"]


def test_the_exit_status_comes_through_and_what_is_left_is_ended(engine, place):
    docker = Docker("left-over", "box", engine.argv)

    outcome, _, _ = ran(docker.command(Job(["sh", "-c", "sleep 100 & exit 7"], str(place))))

    assert outcome.exit == 7
    assert not process.carrying("left-over")


def test_a_container_that_asks_for_input_gets_its_end(engine, place):
    outcome, out, _ = ran(Docker("RUN", "box", engine.argv).command(Job(["cat"], str(place), timeout=20)))

    assert (outcome.good, out) == (True, "")


@pytest.mark.parametrize(
    ("container", "argv", "words"),
    [
        ("gone", None, "there is no container gone"),
        ("asleep", None, "asleep is not running"),
        ("", None, "no container is named"),
        ("box", ("/nowhere/docker",), "there is no container engine /nowhere/docker"),
        (
            "box",
            ("sh", "-c", "echo Cannot connect to the daemon >&2; exit 1"),
            "cannot be used: Cannot connect to the daemon",
        ),
    ],
)
def test_what_is_missing_is_said_before_anything_runs(engine, container, argv, words):
    problem = Docker("RUN", container, argv or engine.argv).problem()

    assert words in problem["en"]
    assert any("一" <= ch <= "鿿" for ch in problem["zh"])


def test_a_container_that_runs_is_no_problem(engine):
    assert Docker("RUN", "box", engine.argv).problem() is None


def test_nothing_is_started_for_a_missing_container(make, engine):
    op = make()
    op.write("../../opdev.toml", f"[run]\nengine = [{json.dumps(engine.argv[0])}]\n")

    done = op.cli("run", "3", "--container", "gone", "--handover")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("opdev run: there is no container gone")
    assert op.runs() == []


def test_paths_are_moved_into_a_container_and_back():
    docker = Docker("RUN", "box", mounts=(("/home/me/shmem", "/w"), ("/home/me/shmem/custom-ops", "/ops/")))

    assert docker.inward("/home/me/shmem/custom-ops/a") == "/ops/a"
    assert docker.inward("/home/me/shmem") == "/w"
    assert docker.inward("/home/me/shmem2") == "/home/me/shmem2"
    assert docker.outward("/ops/a/src/k.cpp") == "/home/me/shmem/custom-ops/a/src/k.cpp"
    assert docker.outward("/w/include/x.h") == "/home/me/shmem/include/x.h"


def test_a_whole_phase_goes_through_the_engine(make, engine):
    op = make(run="mkdir -p output; echo \"在容器里 $IPPORT\"; echo 'PASS: all 2 PE outputs match'\n")

    _, found = op.go("3", executor="docker", container="box", engine=engine.argv)

    assert [e["result"] for e in of(found, "step-ended")] == ["pass", "pass"]
    assert {e["executor"] for e in found} == {"docker"}
    assert {call[0] for call in engine.calls()} == {"inspect", "exec"}
    assert sum("bash" in call for call in engine.calls()) == 2


def test_stopping_reaches_into_the_container(make, engine, nobody):
    op = make(run="trap 'echo term > ended; exit 3' TERM; echo $$ > pid; timeout 100 sleep 100 & wait\n")
    started = op.start("3", executor="docker", container="box", engine=engine.argv)
    from fakes import until

    until((op.root / "pid").is_file)
    started.process.terminate()
    started.process.wait(20)

    assert (op.root / "ended").read_text() == "term\n"
    assert started.run.status.now == "stopped"
    nobody(started.run)


def test_a_killed_runner_leaves_nothing_in_the_container(make, engine, nobody):
    op = make(run="echo $$ > pid; setsid sleep 100 & sleep 100 & wait\n")
    started = op.start("3", executor="docker", container="box", engine=engine.argv)
    from fakes import until

    until((op.root / "pid").is_file)
    started.process.kill()
    started.process.wait(20)

    nobody(started.run)


# The stand-in


def stand_in(monkeypatch, **more):
    module = types.ModuleType(MODULE)
    module.environment = lambda root, run, n_pes: {"SIM": f"{root}|{run}|{n_pes}"}
    module.build = lambda root: ["sim-build", root]
    for name, value in more.items():
        setattr(module, name, value)
    monkeypatch.setitem(sys.modules, MODULE, module)


def test_the_stand_in_builds_and_is_in_place_of_cann(monkeypatch):
    stand_in(monkeypatch)
    sim = Sim(Host("RUN"), "/op", "RUN", 4)

    build = sim.command(Job(["bash", "build.sh"], "/op", env={"A": "1"}, source=["/cann.sh"], sim="build"))
    run = sim.command(Job(["bash", "run.sh"], "/op", source=["/cann.sh"]))

    assert (build.argv, run.argv) == (["sim-build", "/op"], ["bash", "run.sh"])
    assert (run.env["SIM"], build.env["A"]) == ("/op|RUN|4", "1")
    assert (sim.backend, sim.problem()) == ("sim", None)


def test_an_installation_without_the_stand_in_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, MODULE, None)

    assert "no CPU stand-in" in Sim(Host("x"), "/", "x", 2).problem()["en"]


def test_a_stand_in_that_cannot_work_here_says_why(monkeypatch):
    def environment(*_):
        raise RuntimeError("g++ is missing")

    stand_in(monkeypatch, environment=environment)

    assert Sim(Host("x"), "/", "x", 2).problem()["en"].endswith("g++ is missing")


# From what was asked to a plan

TARGET = Target("/r/custom-ops/x", "x", "independent_project", "/r", "", "", "", "from-design", "/w", ("float16",))


@pytest.mark.parametrize(
    ("asked", "settings", "executor", "container"),
    [
        (Asked("3"), {}, "docker", "from-design"),
        (Asked("3", executor="host"), {}, "host", ""),
        (Asked("3", executor="sim"), {}, "sim", ""),
        (Asked("3", container="mine"), {}, "docker", "mine"),
        (Asked("3"), {"container": "configured"}, "docker", "configured"),
        (Asked("3"), {"executor": "host"}, "host", ""),
        (Asked("3", executor="sim", container="mine"), {}, "sim", "mine"),
    ],
)
def test_the_command_line_wins_over_the_configuration_and_that_over_the_design(asked, settings, executor, container):
    plan = plan_of(asked, TARGET, settings, {})

    assert (plan.executor, plan.container) == (executor, container)
    assert Plan.read(json.loads(json.dumps(plan.data()))) == plan
    assert executor_of(plan, "x").backend == ("sim" if executor == "sim" else "npu")


def test_settings_of_the_engine():
    inside = Asked("3", container="c")
    own = {"engine": "podman --runtime runc"}
    assert plan_of(inside, TARGET, {"engine": "docker"}, {}, own).engine == ("podman", "--runtime", "runc")
    assert plan_of(inside, TARGET, {"engine": "podman"}, {}).engine == ("podman",)
    assert plan_of(replace(inside, handover=True), TARGET, {"engine": ["a b"]}, {}).engine == ("a b",)
    assert plan_of(Asked("3"), TARGET, {}, {}).mounts == (("/r", "/w"),)
    assert plan_of(Asked("3"), TARGET, {"mounts": {"/a": "/b"}}, {}).mounts == (("/a", "/b"),)
    assert plan_of(Asked("3", handover=True), TARGET, {"external": {"design": ["x"]}}, {}).external == {"1": ("x",)}
