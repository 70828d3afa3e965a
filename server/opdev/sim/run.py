"""Runs a program in a workspace below a keeper, so that nothing of it is left, whatever is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from opdev.keeping import child

_GRACE = 5.0


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run ``command`` in ``folder`` and give its exit status (128 + the signal's number when one ended it).

    SIGINT, SIGTERM and SIGHUP of this process end the whole run, with SIGKILL after a grace period, at a second one at
    once; the status is then 128 + that signal's number.  127 where the program cannot be started.
    """
    kept = child.start(command, str(folder), {**os.environ, **environment}, grace=_GRACE, source="own")
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        kept.say(b"K" if stopping else b"T")
        stopping.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with os.fdopen(kept.report, "rb") as report:
            told = {key: value for line in report for key, value in json.loads(line).items()}
        kept.let_go()
        kept.process.wait()
    finally:
        kept.let_go()
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopping:
        return 128 + stopping[0]
    if told.get("failed"):
        sys.stderr.write(f"{told['failed']}\n")
        return 127
    status = told.get("exit")
    return status if isinstance(status, int) else 128 + int(told.get("signal") or signal.SIGKILL)


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
