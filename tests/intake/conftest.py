"""A machine for the intake: a repository with one new operator, and tools that are there or not as a test wants."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from opdev.cli import main

FIVE = {"cann": "later", "build_mode": "custom_ops", "torch": "no", "perf": "yes", "perf_auto_optim": "no"}
_OURS = (
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "CONDA_DEFAULT_ENV",
    "CONDA_EXE",
    "SHMEM_REPO",
    "SKILLS_ROOT",
    "OPDEV_LANG",
)


class Machine:
    """``repo`` is the repository, ``op`` the operator in it, the current folder."""

    def __init__(self, root: Path, monkeypatch) -> None:
        self.root, self.repo = root, root / "shmem 仓"
        self.op = self.repo / "custom-ops" / "ring"
        self.record = self.op / "docs" / "phase0_intake.yaml"
        self._monkeypatch = monkeypatch
        for folder in (self.repo / "include", self.repo / "src", self.op, root / "bin"):
            folder.mkdir(parents=True)
        for name in _OURS:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", str(root / "bin"))
        monkeypatch.setenv("HOME", str(root))
        monkeypatch.setenv("PYTHON_CMD", sys.executable)
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        monkeypatch.chdir(self.op)

    def env(self, name: str, value: object) -> None:
        self._monkeypatch.setenv(name, str(value))

    def go(self, folder: Path) -> None:
        self._monkeypatch.chdir(folder)

    def tool(self, name: str, script: str = "exit 0") -> Path:
        """A program on PATH."""
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def file(self, path: str, text: str = "") -> Path:
        """A file below the machine's root."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


@pytest.fixture
def five():
    return dict(FIVE)


@pytest.fixture
def run(capsys):
    """Run ``opdev intake``: (exit status, output, errors)."""

    def call(*arguments: object, **answers: str) -> tuple[int, str, str]:
        flags = [word for key, value in answers.items() for word in (f"--{key.replace('_', '-')}", value)]
        try:
            status = main(["intake", "--lang", "en", *map(str, arguments), *flags])
        except SystemExit as stop:
            status = stop.code
        out, err = capsys.readouterr()
        return status, out, err

    return call


def pytest_collection_modifyitems(items):
    if os.name != "posix":
        for item in items:
            if "tests/intake" in str(item.path).replace("\\", "/"):
                item.add_marker(pytest.mark.skip(reason="probes and terminals of a POSIX system"))
