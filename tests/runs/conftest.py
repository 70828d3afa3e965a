"""Puts ``fakes`` within reach of the tests here, and gives them operators."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fakes import BUILDING, PASSING, Fake, until

from opdev.runs.process import alive, carrying


@pytest.fixture
def make(tmp_path):
    """``make(name, run.sh, build.sh)``: an operator with what a run needs; all else is missing."""
    made: list[Fake] = []

    def make(name="demo", run=PASSING, build=BUILDING, folder="repo"):
        op = Fake(tmp_path / folder / "custom-ops" / name)
        op.answered(run, build)
        made.append(op)
        return op

    yield make
    for op in made:
        for run in op.runs():
            found = run.status
            if (
                found is not None
                and found.runner is not None
                and found.runner.pid != os.getpid()
                and alive(found.runner)
            ):
                os.kill(found.runner.pid, signal.SIGKILL)
            until(lambda run=run: not carrying(run.id), what="the end of what the run started")


@pytest.fixture
def nobody():
    """``nobody(run)``: nothing of a run is left running."""

    def nobody(run, seconds=15.0):
        until(lambda: not carrying(run.id), seconds, "the end of the run's processes")

    return nobody
