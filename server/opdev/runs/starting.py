"""Starting a run's process: its own session, its own output, with a lifeline or without.

With a lifeline the run ends when whoever holds it does (the command line); without, it goes on (the language server,
which finds it again by its files).
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from opdev.runs import store
from opdev.runs.plan import Plan
from opdev.runs.store import Run

RUNNER_LOG = "runner.log"


@dataclass(frozen=True, slots=True)
class Started:
    """A run whose process was started.  ``lifeline`` is to be closed when it shall end; -1 without one."""

    run: Run
    process: subprocess.Popen[bytes]
    lifeline: int


def start(plan: Plan, *, lifeline: bool) -> Started:
    """Write the plan and start the run's process; OSError where the operator's folder cannot be written."""
    for old in store.runs(plan.root)[-20:]:
        store.mend(old)
    run = store.create(plan.root, plan.data())
    argv = [sys.executable, "-m", "opdev.runs.runner", run.folder]
    inner, outer = os.pipe() if lifeline else (-1, -1)
    with open(f"{run.folder}/{RUNNER_LOG}", "wb") as log:
        process = subprocess.Popen(
            [*argv, str(inner)] if lifeline else argv,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=plan.root,
            pass_fds=(inner,) if lifeline else (),
        )  # fmt: skip
    if lifeline:
        os.close(inner)
    return Started(run, process, outer)
