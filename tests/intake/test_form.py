"""The form, in a real terminal, in both languages: keys as a user types them, nothing written before a yes."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import yaml

if os.name == "posix":
    _PATH = Path(__file__).parents[1] / "e2e" / "terminal.py"
    _SPEC = importlib.util.spec_from_file_location("opdev_terminal", _PATH)
    terminal = importlib.util.module_from_spec(_SPEC)
    sys.modules[_SPEC.name] = terminal
    _SPEC.loader.exec_module(terminal)

pytestmark = pytest.mark.e2e
TITLES = {"zh": "Phase 0 启动确认（SHMEM 算子开发）", "en": "Phase 0 intake (SHMEM operator development)"}
COLUMNS, LINES = 140, 160


class Typist:
    """Somebody at ``opdev intake``: waits for the prompt, types a line, sees the screen."""

    def __init__(self, machine, lang, *arguments):
        argv = [sys.executable, "-m", "opdev.cli", "intake", "--lang", lang, *arguments]
        self.typed = 0
        self.terminal = terminal.Terminal(argv, dict(os.environ), str(machine.op), COLUMNS, LINES)

    def type(self, *lines):
        for line in lines:
            self.prompted()
            self.terminal.press(line + "\r")
            self.typed += 1

    def prompted(self):
        """Until the prompt behind what was typed last stands there."""
        until = time.monotonic() + terminal.WAIT
        while True:
            lines = [line.rstrip() for line in self.screen.splitlines()]
            if lines and lines[-1] == ">" and sum(line.startswith(">") for line in lines) == self.typed + 1:
                return
            assert time.monotonic() < until, self.screen
            with self.terminal._news:
                self.terminal._news.wait(0.05)

    @property
    def screen(self):
        # A wide character takes two cells, the second of which holds nothing.
        lines = ("".join(run.text for run in line) for line in self.terminal.runs())
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def end(self):
        status = self.terminal.process.wait(terminal.WAIT)
        self.terminal._reader.join(terminal.WAIT)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminal.close()


def recorded(machine):
    return yaml.safe_load(machine.record.read_text(encoding="utf-8"))["phase0_intake"]


@pytest.fixture
def ready(machine):
    """A machine with everything, so that only the five and the semantics are asked."""
    machine.tool("npu-smi")
    machine.tool("bisheng")
    machine.env("CONDA_DEFAULT_ENV", "npu")
    machine.env("PYTHON_CMD", machine.tool("python", "echo 2.6.0 2.6.0"))
    machine.file("shmem 仓/install/set_env.sh")
    return machine


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_whole_session(ready, lang):
    script = ready.file("CANN 8/set_env.sh", f"touch {ready.root}/sourced\n")
    no = "否" if lang == "zh" else "N"
    with Typist(ready, lang) as user:
        # Not there, then there; no single choice takes a text; no question has a default.
        user.type("/nowhere/set_env.sh", str(script), "elsewhere", "", "1", "b", "yes", "2")
        user.type("全收集：每个 PE 收齐所有块")
        user.prompted()
        assert not ready.record.exists()
        user.type("5", no, "maybe", "y")
        status, screen = user.end(), user.screen

    assert status == 0
    assert TITLES[lang] in screen
    assert [f"[{n}/5]" in screen for n in range(1, 6)] == [True] * 5
    assert ("没有 /nowhere/set_env.sh 这个文件" if lang == "zh" else "there is no file /nowhere/set_env.sh") in screen
    assert not (ready.root / "sourced").exists()
    assert recorded(ready) == {
        "op_name": "ring", "build_mode": "independent_project", "torch_required": False, "performance_required": True,
        "performance_auto_optim": False, "cann_set_env": str(script), "cann_source_mode": "user_custom", "conda_env": "npu",
        "shmem_repo": str(ready.repo), "skills_root": "none", "askquestion_completed": [1, 2, 3, 4, 5],
        "cann_set_env_pending": False, "docker_container": None, "docker_workdir": None, "docker_exec_required": False,
        "semantics": "全收集：每个 PE 收齐所有块",
    }  # fmt: skip


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_the_machine_lacks_is_asked_too(machine, lang):
    engine = machine.tool(
        "docker",
        'case "$8" in /w/shmem/include|/w/shmem/src|/w/set_env.sh|/w/shmem/install/set_env.sh) echo yes;; *) echo no;; esac',
    )
    machine.env("PATH", f"{engine.parent}:/usr/bin:/bin")
    machine.env("PYTHON_CMD", machine.tool("python", "echo 'ImportError: libhccl.so' >&2; exit 1"))
    with Typist(machine, lang) as user:
        user.type("/w/set_env.sh", "a", "a", "b", "a")
        user.type("", "shmem_dev", "w", "/w/shmem", "", "", "other_env", "y")
        status, screen = user.end(), user.screen

    assert status == 0
    assert "libhccl.so" in screen
    assert (
        "不采集性能，就没有数据可优化" if lang == "zh" else "without measurements there is nothing to optimise"
    ) in screen
    found = recorded(machine)
    assert (found["docker_container"], found["docker_workdir"], found["docker_exec_required"]) == (
        "shmem_dev",
        "/w/shmem",
        True,
    )
    assert (found["performance_required"], found["performance_auto_optim"]) == (False, False)
    assert (found["conda_env"], found["cann_set_env"]) == ("other_env", "/w/set_env.sh")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_second_run_asks_whether_it_still_holds(ready, run, five, lang):
    run(**{**five, "cann": str(ready.file("cann/set_env.sh"))})
    before = ready.record.read_bytes()
    with Typist(ready, lang) as user:
        user.type("?", "y")
        assert user.end() == 0
    assert ready.record.read_bytes() == before

    with Typist(ready, lang) as user:
        user.type("n", "later", "a", "a", "a", "b", "", "q")
        status, screen = user.end(), user.screen
    assert status == 1
    assert ("上次：false" if lang == "zh" else "last time: false") in screen
    assert ready.record.read_bytes() == before

    with Typist(ready, lang, "--reconfirm") as user:
        user.type("later", "a", "a", "a", "b", "", "y")
        assert user.end() == 0
    assert recorded(ready)["torch_required"] is True


@pytest.mark.parametrize(("interrupt", "expected"), [(False, 1), (True, 130)], ids=["ctrl-d", "ctrl-c"])
def test_leaving_in_the_middle_writes_nothing(ready, interrupt, expected):
    with Typist(ready, "zh") as user:
        user.type("later", "a")
        user.prompted()
        if interrupt:
            user.terminal.process.send_signal(signal.SIGINT)
        else:
            user.terminal.press("\x04")
        assert user.end() == expected

    assert not (ready.op / "docs").exists()


def test_some_of_the_five_as_options_are_not_enough_in_a_terminal_either(ready):
    with Typist(ready, "en", "--torch", "yes") as user:
        status, screen = user.end(), user.screen

    assert status == 1
    assert "Missing answers: cann, build_mode, perf, perf_auto_optim" in screen


def test_preset_extras_are_not_asked(ready):
    with Typist(ready, "en", "--semantics", "put to the next PE") as user:
        user.type("later", "a", "b", "b", "b", "y")
        assert user.end() == 0

    assert recorded(ready)["semantics"] == "put to the next PE"
