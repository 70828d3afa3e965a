"""One step of a phase: whether it applies, what exactly is run, how it ended, and what that means."""

from __future__ import annotations

import os
import select
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from opdev.phases.model import both
from opdev.rules.model import Text
from opdev.runs.commands import Commands, Condition, Step, fill, holds
from opdev.runs.diagnose import Diagnosis, Watch
from opdev.runs.endpoints import endpoints
from opdev.runs.events import Events
from opdev.runs.execute import Outcome, Stop, execute
from opdev.runs.executors import Executor, Job
from opdev.runs.parsers import Where, make
from opdev.runs.percase import FOLDER, VARIABLE, PerCase
from opdev.runs.recording import Recording
from opdev.runs.store import LOGS
from opdev.runs.target import Target, look
from opdev.runs.tracing import traced

_ENVIRONMENT = frozenset({"environment"})
_MEASURED = frozenset({"perf", "baseline", "torch"})
"""Records the stand-in never makes: they speak for hardware."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """How a step ended: pass, fail, blocked, stopped or skipped; ``cls`` is the class of its failure."""

    result: str
    cls: str = ""
    message: str = ""
    ended: float = 0.0


@dataclass(slots=True)
class Stepper:
    """Runs steps.  ``values`` fill the words in braces, in the words of the place where steps run."""

    events: Events
    folder: str
    executor: Executor
    target: Target
    values: Mapping[str, str]
    cann: str
    shmem: str
    stop: Stop
    grace: float = 5.0
    scale: float = 1.0
    n_pes: int = 2
    count: int = 0
    case_bytes: int = 0
    """How much of the outputs of cases may wait to be judged and, of those that are wrong, be kept; 0: none is judged."""
    entered: Callable[[str], None] = lambda _: None
    """Told each step that begins."""

    def skips(self, step: Step) -> Text | None:
        """Why a step is not run here; None when it is."""
        if self.target.mode not in step.modes:
            return None if not step.modes else both("不是这种构建方式", "it is for the other build mode")
        if self.executor.name not in step.executors:
            return both("模拟环境里没有这一步", "there is no such step on the stand-in")
        failed = holds(step.when, self.values, self.executor.exists)
        return self._unmet(failed) if failed is not None else None

    def _unmet(self, condition: Condition) -> Text:
        path = fill(condition.path, self.values)
        if condition.kind == "exists":
            return both(f"没有 {path}", f"{path} is not there")
        return both(f"已有 {path}", f"{path} is there already")

    def run(self, phase: Commands, step: Step, attempt: int = 1, pes: int = 0) -> Stepped:
        """Run a step to its end and tell of it; ``pes`` 0 is the run's own PE count."""
        if pes and pes != self.n_pes:
            other = replace(self, n_pes=pes, values={**self.values, "pes": str(pes)})
            done = other.run(phase, step, attempt)
            self.count = other.count
            return done
        self.count += 1
        task = f"{self.count:02d}-{step.id}"
        with ExitStack() as stack:
            env = {name: fill(text, self.values) for name, text in step.env.items()}
            if step.endpoints:
                env.update(stack.enter_context(endpoints()))
            sources = self._sources() if step.record else {}
            cases = self._cases(phase, step, task)
            job = self._job(step, {**env, VARIABLE: self.executor.inward(cases.folder)} if cases is not None else env)
            command = self.executor.command(job)
            where = Where(job.cwd, self._folders(), self.executor.outward)
            parsers = make(step.parse, where)
            told = cases.ended if cases is not None else lambda _: None
            recording = Recording(self.events, f"{self.folder}/{LOGS}", task, parsers, told)

            def tick() -> None:
                recording.tick()
                if cases is not None:
                    cases.tick()

            self.events.add(
                "step-started", phase=phase.phase, task=task, title=self._title(step), argv=self.executor.shown(job), cwd=job.cwd,
                env=env, logs=dict(recording.logs), attempt=attempt, **({"measures": dict(step.measures)} if step.measures else {}),
            )  # fmt: skip
            self.entered(step.id)
            begun = time.time()
            outcome = execute(command, recording.output, self.stop, tick)
            recording.close()
            if cases is not None:
                cases.close()
        return self._end(phase, step, task, outcome, recording, sources, begun)

    def _cases(self, phase: Commands, step: Step, task: str) -> PerCase | None:
        """Who judges the cases of a step that runs a matrix."""
        if step.record != "matrix" or self.case_bytes <= 0:
            return None
        folder = f"{self.folder}/{FOLDER}/{task}"
        os.makedirs(folder, exist_ok=True)
        return PerCase(
            self.events, phase.phase, task, root=self.target.root, folder=folder, backend=self.executor.backend,
            limit=self.case_bytes, run=os.path.basename(self.folder), stop=self.stop,
        )  # fmt: skip

    def _title(self, step: Step) -> Text:
        return {lang: fill(text, self.values) for lang, text in step.title.items()}

    def _job(self, step: Step, env: Mapping[str, str]) -> Job:
        scripts = {"cann": self.cann, "shmem": self.shmem}
        return Job(
            argv=[fill(word, self.values) for word in step.argv],
            cwd=fill(step.cwd, self.values),
            env=env,
            source=[scripts[name] for name in step.source if scripts[name]],
            conda=self.target.conda if step.conda else "",
            timeout=step.timeout * self.scale,
            grace=self.grace,
            sim=step.sim,
        )

    def _folders(self) -> tuple[str, ...]:
        op, repo = self.values["op"], self.values["repo"]
        return (f"{op}/build", op, f"{op}/scripts", f"{repo}/build", repo)

    def _sources(self) -> dict[str, str]:
        """What the step runs, by content: its result is for exactly these bytes."""
        evidence = look(self.target.root)
        return {relative: evidence.digest(relative) for relative in evidence.sources}

    def _end(
        self, phase: Commands, step: Step, task: str, outcome: Outcome, recording: Recording, sources: Mapping[str, str],
        begun: float,
    ) -> Stepped:  # fmt: skip
        told, lacking = self._judge(step, outcome, recording)
        told = traced(told, self.target.root) if step.record else told
        result = "pass"
        if outcome.stopped:
            result, told = "stopped", []
        elif told:
            result = "blocked" if told[0].cls in _ENVIRONMENT else "fail"
        for rank, diagnosis in enumerate(told):
            self.events.add("diagnosis", task=task, rank=rank, **diagnosis.fields(), route=phase.route(diagnosis.cls))
        self._keep(step, recording, begun)
        message = lacking or (self._message(told, recording) if told else "")
        why = {"class": told[0].cls, "route": phase.route(told[0].cls)} if told else {}
        fields: dict[str, object] = {
            **why, "phase": phase.phase, "task": task, "result": result, "message": message, "log": f"{LOGS}/{recording.logs['stdout']}",
            "exit": outcome.exit, "signal": outcome.signal, "seconds": round(outcome.seconds, 3), "timed_out": outcome.timed_out,
            "leaked": outcome.leaked,
        }  # fmt: skip
        if step.record and not (self.executor.backend == "sim" and step.record in _MEASURED):
            pes = step.pes or (self.n_pes if step.record in ("smoke", "perf", "baseline") else None)
            fields |= {"step": step.record, "n_pes": pes, "sources": dict(sources)}
        self.events.add("step-ended", **fields)
        return Stepped(result, told[0].cls if told else "", message, time.monotonic())

    def _judge(self, step: Step, outcome: Outcome, recording: Recording) -> tuple[list[Diagnosis], str]:
        """What went wrong, and what is lacking although the program says that it went well."""
        counts = recording.counts
        if step.plain:
            return [] if outcome.good else Watch().told(outcome), ""
        if not outcome.good:
            told = recording.watch.told(outcome)
            failed = recording.counts["case:FAIL"]
            if told[0].id == "unknown" and failed and not outcome.timed_out:
                return [_made("cases-failed", "correctness", f"{failed} 个用例没有通过", f"{failed} of the cases failed", "每个用例的检查结果在它自己的日志里（[CASE] 行的 log=），哪个 PE、哪个元素见 opdev precision --run last", "what was checked is in each case's own log (log= of its [CASE] line); `opdev precision --run last` has the PE and the element")], ""  # fmt: skip
            return told, ""
        if (
            counts["check:FAIL"]
            or counts["fault"]
            or any(counts[f"case:{word}"] for word in ("FAIL", "TIMEOUT", "BLOCKED"))
        ):
            told = recording.watch.told(outcome)
            if told[0].id != "unknown":
                return told, ""
            return [_made("failed-silently", "correctness", "有用例或 PE 没有通过，退出码却是 0", "a case or a PE failed, and the exit status is 0 all the same", "让脚本在失败时以非 0 退出", "let the script exit with another status when anything fails")], ""  # fmt: skip
        if step.needs and not _seen(step.needs, recording):
            zh, en = _NEEDED[step.needs]
            return [_made("no-verdict", "test", f"退出码是 0，输出里却没有{zh}", f"the exit status is 0, and there is no {en} in the output", "检查脚本是否真的跑了检查", "see whether the script really checks anything")], f"no {en}"  # fmt: skip
        for path in step.artifacts:
            full = fill(path, self.values)
            if not self.executor.exists(full):
                return [_made("no-artifact", "test", f"退出码是 0，却没有产物 {full}", f"the exit status is 0, and {full} was not made", "核对脚本写到哪里", "see where the script writes to")], f"{full} was not made"  # fmt: skip
        return [], ""

    def _message(self, told: Sequence[Diagnosis], recording: Recording) -> str:
        if recording.error and told[0].cls in ("compile", "link", "unknown"):
            return recording.error
        return told[0].evidence or told[0].cause["en"]

    def _keep(self, step: Step, recording: Recording, begun: float) -> None:
        """Leave the output as the log that the next step reads, unless the script wrote it itself."""
        if not step.keep:
            return
        path = self.executor.outward(fill(step.keep, self.values))
        try:
            if os.path.exists(path) and os.path.getmtime(path) >= begun - 1:
                return
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(recording.paths["stdout"], path)
        except OSError as error:
            self.events.add("note", text=both(f"日志没有存到 {path}：{error.strerror}", f"the log could not be kept as {path}: {error.strerror}"))  # fmt: skip

    def pause(self, task: str, seconds: float, why: Text) -> None:
        """Wait, unless somebody asks to stop."""
        if seconds > 0:
            self.events.add("pause", task=task, seconds=round(seconds, 1), why=why)
            select.select([self.stop.fd], [], [], seconds)


_NEEDED = {
    "check": ("检查结果（PE n: PASS 一类的行）", "verdict of a checker (a line like `PE n: PASS`)"),
    "case": ("用例结果（[CASE] 行）", "result of a case (a [CASE] line)"),
    "perf": ("性能数据（[PERF] 行）", "measurement (a [PERF] line)"),
}


def _seen(kind: str, recording: Recording) -> bool:
    return bool(recording.counts["check:PASS" if kind == "check" else kind])


def _made(id_: str, cls: str, zh: str, en: str, next_zh: str, next_en: str) -> Diagnosis:
    return Diagnosis(id_, cls, both(zh, en), both(next_zh, next_en), "", 0, 0)
