"""The process of a run: ``python -m opdev.runs.runner FOLDER [LIFELINE]``.

It leads a session of its own, writes events and status, and runs phases one after the other.  It ends for SIGTERM,
SIGINT and SIGHUP (twice: at once), and when the lifeline (a pipe's end, a file descriptor) closes: whoever started it
with one is gone.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import opdev
from opdev.phases.model import both
from opdev.runs import process, status, store
from opdev.runs.events import Events
from opdev.runs.execute import Stop, inherit
from opdev.runs.executors import Executor
from opdev.runs.executors.docker import Docker
from opdev.runs.executors.host import Host
from opdev.runs.executors.sim import Sim
from opdev.runs.lock import Lock
from opdev.runs.optimising import Optimising
from opdev.runs.phasing import Phased
from opdev.runs.plan import Plan
from opdev.runs.pypto import PyptoSim, Verifying, target_of
from opdev.runs.sequence import Sequence
from opdev.runs.status import State, Status
from opdev.runs.stepping import Stepper
from opdev.runs.store import Run
from opdev.runs.target import Target, cann_script, look, target

_OUTCOMES: dict[str, State] = {"passed": "passed", "failed": "failed", "blocked": "blocked", "stopped": "stopped"}


def executor_of(plan: Plan, run: str) -> Executor:
    """The executor a plan asks for."""
    if plan.workflow:
        return PyptoSim(run)
    place: Executor = Host(run)
    if plan.executor == "docker" or plan.container:
        place = Docker(run, plan.container, plan.engine, plan.mounts)
    return Sim(place, plan.root, run, plan.pes) if plan.executor == "sim" else place


def values_of(plan: Plan, found: Target, executor: Executor) -> dict[str, str]:
    """What the words in braces stand for, in the words of the place where steps run."""
    sim = executor.backend == "sim"
    return {
        "op": executor.inward(found.root),
        "repo": executor.inward(found.repo),
        "name": found.name,
        "pes": str(plan.pes),
        "python": executor.environment().get("PYTHON_CMD", plan.python) if isinstance(executor, Sim) else plan.python,
        "opdev": sys.executable,
        "jobs": str(min(8, os.cpu_count() or 1)),
        "count": str(plan.count or (65536 if sim else 8388608)),
        "dtype": plan.dtype or (found.dtypes[0] if found.dtypes else "float16"),
        "iters": str(plan.iters or (3 if sim else 50)),
        "warm_up": "1" if sim else "10",
        "cases": ",".join(plan.cases),
        "devices": plan.devices or ",".join(str(pe) for pe in range(plan.pes)),
    }


class Runner:
    """One run from its plan to its end."""

    def __init__(self, run: Run, stop: Stop) -> None:
        self.run, self.stop = run, stop
        self.plan = Plan.read(run.plan)
        self.target = target_of(self.plan.root) if self.plan.workflow else target(look(self.plan.root))
        self.executor = executor_of(self.plan, run.id)
        self.status = Status(
            id=run.id, state="running", operator=self.target.name, root=self.plan.root, request=self.plan.request,
            executor=self.plan.executor, backend=self.executor.backend, started=time.time(), runner=process.identity(),
            n_pes=self.plan.pes, resume_of=self.plan.resume_of,
        )  # fmt: skip
        status.write(run.folder, self.status)
        self.events = Events(run.events, run.id, self.plan.executor, self.executor.backend)
        self.sequence = Sequence(self.plan, self.events, stop)

    def go(self) -> State:
        """Run; the result is the run's last state."""
        begun = time.monotonic()
        self.events.add(
            "run-started", operator=self.target.name, root=self.plan.root, request=self.plan.request,
            phases=[self.plan.request] if self.plan.workflow else self.sequence.phases, n_pes=self.plan.pes, counts=list(self.plan.counts), resume_of=self.plan.resume_of, version=opdev.__version__,
            **({"workflow": self.plan.workflow} if self.plan.workflow else {}),
        )  # fmt: skip
        try:
            done = self._locked()
        except Exception as error:  # noqa: BLE001 - a run always has an end
            traceback.print_exc()
            done = Phased("failed", None, both(*[f"opdev: {type(error).__name__}: {error}"] * 2))
        if self.stop.asked:
            done = Phased("stopped", None, both(self.stop.reason, self.stop.reason))
            self.events.add("stopping", reason=self.stop.reason)
        state = _OUTCOMES[done.outcome]
        self.events.add("run-ended", outcome=done.outcome, message=done.why["en"], why=dict(done.why), seconds=round(time.monotonic() - begun, 3))  # fmt: skip
        self._write(state=state, ended=time.time(), message=done.why["en"])
        self.events.close()
        store.prune(self.plan.root, store.Limits(*self.plan.keep))
        return state

    def _write(self, **values: Any) -> None:
        self.status = self.status.changed(**values)
        status.write(self.run.folder, self.status)

    def _locked(self) -> Phased:
        problem = self.executor.problem()
        if problem is not None:
            self.events.add("note", text=dict(problem))
            return Phased("failed", None, problem)
        lock = Lock(self.plan.root, self.run.id)
        try:
            told = False
            while not lock.taken():
                if not told:
                    self.events.add("waiting", **{"for": lock.holder()})
                    told = True
                select.select([self.stop.fd], [], [], 0.1)
                if self.stop.asked:
                    return Phased("stopped")
            return self._phases()
        finally:
            lock.close()

    def _phases(self) -> Phased:
        if self.plan.workflow:
            self._write(phase=self.plan.request)
            return Verifying(self.plan, self.events, self._stepper(), self.run.folder).go()
        runner = Optimising(self.events, self._stepper(), Host(self.run.id), self.plan)
        return self.sequence.go(runner, lambda phase: self._write(phase=phase, step=None))

    def _stepper(self) -> Stepper:
        sim = self.executor.backend == "sim"
        repo = self.executor.inward(self.target.repo)
        script = f"{repo}/install/set_env.sh"
        local = isinstance(self.executor, Host)
        cann = self.target.cann if not local else cann_script(self.target, os.environ)
        return Stepper(
            events=self.events,
            folder=self.run.folder,
            executor=self.executor,
            target=self.target,
            values=values_of(self.plan, self.target, self.executor),
            cann="" if sim else cann,
            shmem="" if sim or not self.executor.exists(script) else script,
            stop=self.stop,
            grace=self.plan.grace,
            scale=self.plan.timeout_scale,
            n_pes=self.plan.pes,
            case_bytes=self.plan.case_bytes,
            entered=lambda step: self._write(step=step),
        )


def main(argv: list[str]) -> int:
    """Run the run in a folder; the exit status is 0 passed, 1 failed or blocked, 130 stopped."""
    folder = argv[0]
    inherit()
    stop = Stop()
    handle: Callable[[int, object], None] = lambda number, _: stop.ask(signal.Signals(number).name)  # noqa: E731 - typed
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, handle)
    if len(argv) > 1:
        threading.Thread(target=_lifeline, args=(int(argv[1]), stop), daemon=True).start()
    state = Runner(Run(os.path.basename(folder), folder), stop).go()
    return {"passed": 0, "stopped": 130}.get(state, 1)


def _lifeline(handle: int, stop: Stop) -> None:
    os.set_inheritable(handle, False)
    while os.read(handle, 64):
        pass
    stop.ask("the program that started the run is gone")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
