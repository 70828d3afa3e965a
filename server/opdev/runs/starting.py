"""Starting a run's process: its own session, its own output, with a lifeline or without.

With a lifeline the run ends when whoever holds it does (the command line); without, it goes on (the language server,
which finds it again by its files).
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass

from opdev import ourselves
from opdev.runs import process, status, store
from opdev.runs.plan import Plan
from opdev.runs.status import Status
from opdev.runs.store import Run

RUNNER_LOG = "runner.log"


@dataclass(frozen=True, slots=True)
class Started:
    """A run whose process was started.  ``lifeline`` is to be closed when it shall end; -1 without one."""

    run: Run
    process: subprocess.Popen[bytes]
    lifeline: int


def start(plan: Plan, *, lifeline: bool) -> Started:
    """Write the plan, start the run's process, return when it has taken over.

    OSError where the operator's folder cannot be written.
    """
    for old in store.runs(plan.root)[-20:]:
        store.mend(old)
    run = store.create(plan.root, plan.data())
    argv = ourselves.argv("opdev.runs.runner", [run.folder])
    first = Status(
        id=run.id, state="starting", operator=os.path.basename(plan.root), root=plan.root, request=plan.request, executor=plan.executor,
        backend="sim" if plan.executor == "sim" else "npu", started=time.time(), runner=process.identity(), n_pes=plan.pes,
    )  # fmt: skip
    status.write(run.folder, first)
    inner, outer = os.pipe() if lifeline else (-1, -1)
    with open(f"{run.folder}/{RUNNER_LOG}", "wb") as log:
        child = subprocess.Popen(
            [*argv, str(inner)] if lifeline else argv,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=plan.root,
            pass_fds=(inner,) if lifeline else (),
        )  # fmt: skip
    if lifeline:
        os.close(inner)
    _taken_over(run, child, first)
    return Started(run, child, outer)


def _taken_over(run: Run, child: subprocess.Popen[bytes], first: Status) -> None:
    """Wait until the child's own status is there; where it died before, the run is lost."""
    while (found := run.status) is None or found.state == "starting":
        if child.poll() is not None:
            found = run.status
            if found is None or found.state == "starting":
                status.write(
                    run.folder, first.changed(state="lost", ended=time.time(), message="its process did not start")
                )
            return
        time.sleep(0.01)
