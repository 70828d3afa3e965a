"""One case's generation: a program writes the operator, and what it wrote is looked at, not what it says.

The order of the questions is the field's own: stopped, started at all, worth another attempt, out of time, files
missing, ended badly, a stage that failed, stages that are not done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from opdev.bench import artifacts, placing, prompt
from opdev.bench.artifacts import Made, Stages
from opdev.bench.joblog import JobLog
from opdev.bench.model import Case, CaseSpec, Generated, GeneratedStatus, GeneratorSettings, Slot
from opdev.bench.texts import both
from opdev.rules.model import Text
from opdev.runs.execute import Outcome, Stop, execute

LOG = "pypto_run.log"
_WORD = re.compile(r"\{(op|case|folder|repo|device|prompt|agent|model)\}")


@dataclass(frozen=True, slots=True)
class Watch:
    """What is told while a program runs.  ``token`` names its processes, and is to be unique."""

    token: str = "bench-generate"  # noqa: S105 - a name, no secret
    began: Callable[[str, int], None] = lambda _token, _pid: None


def words(settings: GeneratorSettings, case: Case, spec: CaseSpec, folder: str, slot: Slot) -> list[str]:
    """The command of a case: the names in braces filled in, each once (what is filled in is not looked at again)."""
    values = {
        "op": case.op, "case": case.path, "folder": folder, "repo": settings.repo_root or folder,
        "device": str(slot.device), "agent": settings.agent, "model": settings.model,
        "prompt": prompt.text(case, spec, folder, slot),
    }  # fmt: skip
    return [_WORD.sub(lambda match: values[match[1]], word) for word in settings.command]


def generate(
    case: Case, spec: CaseSpec, folder: str, slot: Slot, settings: GeneratorSettings, log_dir: str, stop: Stop,
    watch: Watch | None = None,
) -> Generated:  # fmt: skip
    """Have the operator of a case written into ``folder`` (absolute, there); ``log_dir`` gets a log for each attempt."""
    whole = settings.need_stages
    before = artifacts.made(folder, case.op, whole=whole)
    if settings.skip or not settings.command:
        if before.missing:
            return Generated("artifact_missing", _missing(before, folder), artifacts=before.files)
        return Generated("skipped", both("b-skipped"), artifacts=before.files)
    if not settings.force and not before.missing:
        there = artifacts.stages(folder)
        if there.progress == "complete" or not whole:
            return Generated("skipped", both("b-there"), artifacts=before.files)
        if there.progress == "failed":
            return Generated("blocked", _stage(there), artifacts=before.files)
    return _Attempts(case, spec, folder, slot, settings, log_dir, stop, watch or Watch(), before).go()


class _Attempts:
    def __init__(
        self, case: Case, spec: CaseSpec, folder: str, slot: Slot, settings: GeneratorSettings, log_dir: str,
        stop: Stop, watch: Watch, before: Made,
    ) -> None:  # fmt: skip
        self.case, self.folder, self.slot, self.settings, self.stop = case, folder, slot, settings, stop
        self.log_dir, self.watch, self.before = log_dir, watch, before
        self.argv = words(settings, case, spec, folder, slot)
        self.logs: list[str] = []
        self.seconds = 0.0

    def go(self) -> Generated:
        while True:
            log = JobLog(f"{self.log_dir}/{LOG}" + (f".attempt{len(self.logs) + 1}" if self.logs else ""))
            self.logs.append(log.path)
            token = f"{self.watch.token}-{len(self.logs)}"
            # The model's name and the operator's are there for programs that read no arguments.
            env = {
                "OPDEV_BENCH_OP": self.case.op,
                "OPDEV_BENCH_CASE": self.case.path,
                "OPDEV_BENCH_FOLDER": self.folder,
            }
            job = placing.command(
                self.slot, self.argv, self.settings.repo_root or self.folder, env,
                token=token, timeout=self.settings.timeout or None,
            )  # fmt: skip
            try:
                done = execute(job, log.add, self.stop, began=lambda pid, t=token: self.watch.began(t, pid))  # type: ignore[misc] # a default is no parameter
            finally:
                log.close()
            self.seconds += done.seconds
            if done.stopped:
                return self._ended("subprocess_error", both("b-interrupted"))
            if placing.not_started(self.slot, done.exit, done.failed):
                return self._ended("command_not_found", both("b-not-found", why=done.failed or log.last(1)))
            now = artifacts.made(self.folder, self.case.op, whole=self.settings.need_stages)
            there = artifacts.stages(self.folder)
            again = there.progress == "open" or (there.progress == "none" and self.settings.need_stages)
            if again and len(self.logs) <= self.settings.retry:
                continue
            return self._judged(done, now, there, log)

    def _judged(self, done: Outcome, now: Made, there: Stages, log: JobLog) -> Generated:
        tail = log.last() or "-"
        if log.failed:
            tail = f"{tail} ({log.path}: {log.failed})"
        if done.timed_out:
            return self._ended("timeout", both("b-timeout", seconds=f"{self.settings.timeout:g}", log=tail), now)
        how = f"signal {done.signal}" if done.signal is not None else f"exit {done.exit}"
        if now.missing:
            values = {"files": ", ".join(now.missing), "folder": self.folder, "how": how, "log": tail}
            return self._ended("artifact_missing", both("b-missing-after", **values), now)
        if self.settings.force and self.before.stamps and now.stamps == self.before.stamps:
            return self._ended("artifact_missing", both("b-unwritten", folder=self.folder), now)
        if not done.good:
            return self._ended("subprocess_error", both("b-ended-badly", how=how, log=tail), now)
        if there.progress in ("failed", "damaged") or (self.settings.need_stages and there.progress != "complete"):
            return self._ended("blocked", _stage(there), now)
        return self._ended("success", both("b-generated", left=done.leaked) if done.leaked else {}, now)

    def _ended(self, status: GeneratedStatus, message: Mapping[str, str], now: Made | None = None) -> Generated:
        now = now or artifacts.made(self.folder, self.case.op, whole=self.settings.need_stages)
        return Generated(
            status, message, self.seconds, self.logs[-1], tuple(self.logs), len(self.logs) - 1, now.files
        )  # fmt: skip


def _missing(found: Made, folder: str) -> Text:
    return both("b-missing", files=", ".join(found.missing), folder=folder)


def _stage(found: Stages) -> Text:
    if found.why is not None:
        return found.why
    if found.progress == "none":
        return both("b-no-state")
    return both("b-stage", stage=found.stage, status=found.status)
