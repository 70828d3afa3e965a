"""What all tests share: a cache of their own, English unless asked, an operator to lint."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from needed import programs

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job that a shell put in the background ignores Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

RUN_BAD = 'IPPORT="tcp://127.0.0.1:27010"\necho "$IPPORT"\n'


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    cache = tmp_path_factory.mktemp("cache")
    # What the stand-in compiles goes by content: the workers of one session share it.
    base = tmp_path_factory.getbasetemp()
    compiled = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "compiled"
    compiled.mkdir(exist_ok=True)
    (cache / "sim").symlink_to(compiled)
    patch.setenv("OPDEV_CACHE_DIR", str(cache))
    for name in ("LC_ALL", "LC_MESSAGES", "OPDEV_LANG", "FORCE_COLOR"):
        patch.delenv(name, raising=False)
    patch.setenv("LANG", "C.UTF-8")
    yield
    patch.undo()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture: the programs that a test starts (``needed.needs``)."""
    for mark in item.iter_markers("needs"):
        programs(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if reason := os.environ.get("OPDEV_NO_CONTAINERS"):
        terminalreporter.write_line(
            f"CONTAINERS WERE NOT TESTED (OPDEV_NO_CONTAINERS): {reason}", yellow=True, bold=True
        )


@pytest.fixture
def operator(tmp_path, monkeypatch) -> Path:
    """A working directory with one operator whose run.sh has one offence."""
    folder = tmp_path / "work" / "custom-ops" / "demo" / "scripts"
    folder.mkdir(parents=True)
    (folder / "run.sh").write_text(RUN_BAD, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")
    return folder.parent
