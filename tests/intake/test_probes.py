"""What the machine shows: asked of children that may hang, crash or be missing; in the order that was agreed."""

from __future__ import annotations

import os
import sys
import time

import pytest

from opdev.intake import probe
from opdev.intake.probes import CANDIDATES, ask, in_container, with_torch


def test_an_empty_machine(machine):
    found = probe(str(machine.root))

    assert found.asked
    assert not found.hardware
    assert [path for path, _ in found.candidates][:2] == list(CANDIDATES[:2])
    assert found.candidates[2] == (f"{machine.root}/Ascend/cann/set_env.sh", False)
    assert (found.shmem_repo, found.skills_root, found.conda, found.ascend_home) == ("", "", "", "")


def test_tools_and_candidates_are_seen_and_not_run(machine):
    bisheng = machine.tool("bisheng", f"touch {machine.root}/ran")
    machine.tool("npu-smi", f"touch {machine.root}/ran")
    script = machine.file("Ascend/cann/set_env.sh", f"touch {machine.root}/ran\n")
    machine.env("ASCEND_HOME_PATH", machine.file("cann/latest/x").parent)
    session = machine.file("cann/set_env.sh", f"touch {machine.root}/ran\n")
    found = probe(str(machine.op))

    assert (found.bisheng, found.hardware) == (str(bisheng), True)
    assert found.default_cann == str(script)
    assert found.session_script == str(session)
    assert not (machine.root / "ran").exists()


def test_the_repository_is_found_in_the_agreed_order(machine):
    def repository(path, *, installed=False):
        machine.file(f"{path}/include/x")
        machine.file(f"{path}/src/x")
        if installed:
            machine.file(f"{path}/install/set_env.sh")
        return str(machine.root / path)

    work = machine.root / "work"
    work.mkdir()
    recorded, environment = repository("recorded"), repository("environment", installed=True)
    machine.env("SHMEM_REPO", environment)
    below = repository("work/shmem")
    root = str(machine.op)

    def origin(**more):
        found = probe(str(work), root=root, **more)
        return found.repo_from, found.shmem_repo, found.installed

    assert origin(recorded={"shmem_repo": recorded}) == ("record", recorded, False)
    assert origin(recorded={"shmem_repo": "pending"}) == ("below", below, False)
    repository("work")
    assert origin() == ("folder", str(work), False)
    for name in ("work/include/x", "work/shmem/src/x"):
        (machine.root / name).unlink()
        (machine.root / name).parent.rmdir()
    assert origin() == ("environment", environment, True)
    machine.env("SHMEM_REPO", machine.root / "nowhere")
    assert origin() == ("operator", str(machine.repo), False)
    machine.env("SHMEM_REPO", machine.file("only-installed/install/set_env.sh").parents[1])
    assert origin()[0] == "environment"


def test_the_skills_are_found_in_the_agreed_order(machine):
    recorded, named = (machine.file(f"{n}/shmem-ops-dev/SKILL.md").parents[1] for n in ("recorded", "named"))
    inside = machine.file("shmem 仓/.agents/skills/shmem-ops-dev/SKILL.md").parents[1]
    root = str(machine.op)

    assert probe(str(machine.root), root=root).skills_root == str(inside)
    machine.env("SKILLS_ROOT", named)
    assert probe(str(machine.root), root=root).skills_root == str(named)
    assert probe(str(machine.root), root=root, recorded={"skills_root": str(recorded)}).skills_root == str(recorded)


def test_a_machine_that_does_not_answer_is_unknown_not_empty(machine, monkeypatch):
    monkeypatch.setattr("opdev.intake.probes._LOOK", "import time; time.sleep(60)")
    began = time.monotonic()
    found = probe(str(machine.op), patience=0.3)

    assert not found.asked
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("script", "state", "said"),
    [
        ("echo 2.6.0 2.6.0.post1", "ok", "2.6.0 2.6.0.post1"),
        ("echo \"ModuleNotFoundError: No module named 'torch_npu'\" >&2; exit 1", "missing", "ModuleNotFoundError"),
        ("echo 'ImportError: libhccl.so: 没有那个文件' >&2; exit 1", "failed", "libhccl.so"),
        ("kill -SEGV $$", "failed", ""),
        ("sleep 60 & wait", "timeout", "> 1"),
    ],
)
def test_torch_may_be_anything(machine, script, state, said):
    machine.env("PYTHON_CMD", machine.tool("py", script))
    machine.env("PATH", f"{machine.root}/bin:/usr/bin:/bin")
    found = with_torch(probe(str(machine.op)), patience=1.0 if state == "timeout" else 20.0)

    assert found.torch == state
    assert said in found.torch_detail


def test_no_python_is_no_torch(machine):
    machine.env("PYTHON_CMD", machine.root / "none")
    assert with_torch(probe(str(machine.op))).torch == "missing"


def test_torch_is_never_imported_here_and_a_torch_of_the_operators_folder_is_none(machine):
    (machine.op / "torch.py").write_text(f"open({str(machine.root / 'ran')!r}, 'w')\n", encoding="utf-8")
    with_torch(probe(str(machine.op)))

    assert "torch" not in sys.modules
    assert not (machine.root / "ran").exists()


def test_a_child_that_takes_too_long_is_ended_with_its_children(tmp_path):
    mark = tmp_path / "pid"
    status, _, _ = ask(["sh", "-c", f"sleep 300 & echo $! > '{mark}'; wait"], os.environ, 1.0)

    assert status is None
    pid = int(mark.read_text())
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
                if stream.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.02)
    pytest.fail("the child's child still runs")


def test_paths_of_a_container_are_asked_of_the_container(machine):
    log = machine.root / "argv"
    engine = machine.tool(
        "engine",
        f'printf "%s\\n" "$@" > "{log}"; [ "$2" = dead ] && exit 1; [ "$8" = "/有 空格" ] && echo yes || echo no',
    )

    assert in_container([str(engine)], "dev", "-f", "/有 空格") is True
    assert log.read_text(encoding="utf-8").splitlines()[:2] == ["exec", "dev"]
    assert in_container([str(engine)], "dev", "-f", "/x") is False
    assert in_container([str(engine)], "dead", "-f", "/x") is None
    assert in_container([str(machine.root / "none")], "dev", "-f", "/x") is None
