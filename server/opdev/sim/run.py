"""Runs a program in a workspace as a child of its own session, and ends what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

_GRACE = 5.0


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run ``command`` in ``folder`` and give its exit status (128 + the signal's number when one ended it).

    SIGINT, SIGTERM and SIGHUP of this process are passed on to the whole session, and followed by
    SIGKILL after a grace period.
    """
    child = subprocess.Popen(list(command), cwd=folder, env={**os.environ, **environment}, start_new_session=True)
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        stopping.append(number)
        for pid in session(child.pid):
            _signal(pid, signal.SIGTERM)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        deadline = 0.0
        while True:
            try:
                status = child.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if stopping and not deadline:
                    deadline = time.monotonic() + _GRACE
                if deadline and time.monotonic() > deadline:
                    for pid in session(child.pid):
                        _signal(pid, signal.SIGKILL)
    finally:
        _sweep(child.pid)
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopping:
        return 128 + stopping[0]
    return status if status >= 0 else 128 - status


def session(leader: int) -> list[int]:
    """Processes of a session: the run's own, whichever process groups they made."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = Path("/proc", name, "stat").read_bytes()
            except OSError:
                continue
            fields = text.rpartition(b")")[2].split()
            # State, parent, group, session.
            if len(fields) > 3 and int(fields[3]) == leader and fields[0] != b"Z":
                found.append(int(name))
    return found


def _sweep(leader: int) -> None:
    """End what still runs after the script itself has ended."""
    for number, patience in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 1.0)):
        left = session(leader)
        if not left:
            return
        for pid in left:
            _signal(pid, number)
        end = time.monotonic() + patience
        while session(leader) and time.monotonic() < end:
            time.sleep(0.02)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def python_with_numpy(environment: Mapping[str, str]) -> str | None:
    """A Python for the operator's scripts: ``python3`` of the path, else the one opdev runs in; None without numpy."""
    asked = os.environ.get("PYTHON_CMD")
    for candidate in (asked, shutil.which("python3", path=environment.get("PATH")), sys.executable):
        if not candidate:
            continue
        done = subprocess.run(
            [candidate, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('numpy') is None)"],
            capture_output=True, check=False,
        )  # fmt: skip
        if not done.returncode:
            return candidate
    return None
