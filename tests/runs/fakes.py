"""Fake operators whose build and run scripts are small programs, run as real children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jsonschema
from ready import ANSWERED, Ready, of, until

from opdev.runs import events
from opdev.runs.plan import Plan
from opdev.runs.reader import follow, replay
from opdev.runs.starting import start
from opdev.runs.store import Run

__all__ = ["ANSWERED", "BUILDING", "PASSING", "VALIDATOR", "Fake", "checked", "of", "record_lines", "until"]
PASSING = """\
mkdir -p output
for pe in 0 1; do timeout 20 sh -c "echo 'PE $pe: PASS (8 elements)'" & done
wait
echo 'PASS: all 2 PE outputs match'
"""
BUILDING = """\
here=$(cd "$(dirname "$0")/../$1" && pwd)
mkdir -p "$here/build/bin"
echo '[ 50%] Building CXX object a.o'
echo '[100%] Built target x'
touch "$here/build/bin/$1"
"""
VALIDATOR = jsonschema.Draft202012Validator(events.schema())


def checked(run: Run) -> list[dict]:
    """A run's events, each held against the schema, without a gap."""
    found = replay(run)
    for event in found:
        VALIDATOR.validate(event)
    assert [e["seq"] for e in found] == list(range(len(found)))
    return found


@dataclass
class Fake(Ready):
    """An operator in ``custom-ops`` of a folder of its own."""

    def plan(self, request: str = "3", **more) -> Plan:
        return Plan(request, str(self.root), **{"grace": 1.0, **more})

    def start(self, request: str = "3", *, lifeline: bool = False, **more):
        return start(self.plan(request, **more), lifeline=lifeline)

    def go(self, request: str = "3", **more) -> tuple[Run, list[dict]]:
        """Run to the end; the run and its events."""
        started = self.start(request, **more)
        for _ in follow(started.run, until=lambda: started.process.poll() is not None):
            pass
        started.process.wait(20)
        return started.run, checked(started.run)

    def cli(self, *argv: str, seconds: float = 60, **more) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "opdev.cli", *argv], cwd=self.root, capture_output=True, text=True, check=False, timeout=seconds,
            env={**os.environ, "OPDEV_LANG": "en", **more},
        )  # fmt: skip


def record_lines(run: Run) -> list[dict]:
    """The lines that gates read, as they stand in the file."""
    lines = Path(run.events).read_bytes().split(b"\n")
    return [e for line in lines if line.endswith(b"}") and "step" in (e := json.loads(line))]
