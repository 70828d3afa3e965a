"""One phase: probe, begin what is missing, run its steps, ask its gate; hand over or wait where it stays closed.

What is creative is never pretended.  Files that are missing are begun from templates with their holes marked, a
program does the work only where the user named one, and it is always the gate that says whether it was done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from opdev.config import ConfigError
from opdev.phases import gates, intake
from opdev.phases.graph import BY_ID
from opdev.phases.model import NOTHING, Gate, both
from opdev.phases.routing import HERE, way
from opdev.rules.model import Lang, Text
from opdev.runs.commands import Commands, Step, alone, commands, holds
from opdev.runs.counting import counted
from opdev.runs.doctor import needed, probe
from opdev.runs.events import Events
from opdev.runs.executors.host import Host
from opdev.runs.handing import Given, asked, give
from opdev.runs.judging import judged
from opdev.runs.plan import Plan
from opdev.runs.preparing import prepare
from opdev.runs.sizing import sized, summary
from opdev.runs.stepping import Stepped, Stepper
from opdev.runs.target import look
from opdev.scaffold.texts import ScaffoldError


@dataclass(frozen=True, slots=True)
class Phased:
    """How a phase ended; of a failure its class, where it leads and what to do.

    ``skipped``: it says nothing on the stand-in, and was not run.
    """

    outcome: str
    route: str | None = None
    why: Text = field(default_factory=lambda: NOTHING)
    cls: str = ""
    way: Text = field(default_factory=lambda: NOTHING)
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class _Tried:
    done: Phased
    gate: Gate | None = None
    failed: Stepped | None = None


class Phases:
    """Runs phases as a plan has it."""

    def __init__(self, events: Events, stepper: Stepper, host: Host, plan: Plan) -> None:
        self.events, self.stepper, self.host, self.plan = events, stepper, host, plan
        self.lang: Lang = "zh" if plan.lang == "zh" else "en"
        self._prepared: list[str] = []

    def run(self, phase: str) -> Phased:
        """Run one phase and tell of it."""
        spec = commands(phase)
        self.events.add("phase-started", phase=phase, title=dict(BY_ID[phase].title))
        self._prepared = []
        done = self._run(spec)
        figures = summary(self.stepper) if phase == "6" else None
        if figures is not None:
            self.events.add("perf-summary", phase=phase, document=figures)
        precision = judged(self.stepper.folder, self.stepper.target.root, self.stepper.stop) if phase == "4" else None
        if precision is not None:
            self.events.add("precision-summary", phase=phase, **precision)
        more = {
            key: value
            for key, value in (("class", done.cls), ("why", dict(done.why)), ("way", dict(done.way)))
            if value
        }
        self.events.add("phase-ended", phase=phase, outcome=done.outcome, route=done.route, **more)
        return done

    @property
    def sim(self) -> bool:
        return self.stepper.executor.backend == "sim"

    def _run(self, spec: Commands) -> Phased:
        if spec.phase != "0":
            lacking = intake.lacking(look(self.stepper.target.root, simulated=self.sim))
            if lacking:
                return self._refuse(lacking[0].detail, lacking[0].opens)
        absent = self._probe(spec)
        if spec.hardware is not None and self.sim:
            return self._without_hardware(spec, spec.hardware)
        self._prepare(spec)
        tried = self._try(spec)
        if self._may_hand_over(spec, tried):
            stopped = self._hand_over(spec, tried)
            if stopped is not None:
                return stopped
            tried = self._try(spec)
        own = tried.failed is not None and spec.work == "person" and tried.done.route == spec.phase
        if tried.done.outcome != "passed" and (tried.failed is None or own) and not self.stepper.stop.asked:
            self._wait(spec, tried.gate)
        if absent is not None and tried.done.outcome == "passed":
            return replace(tried.done, outcome="blocked", why=absent, route=HERE, cls="environment", way=way(spec.phase, HERE, "environment"))  # fmt: skip
        return tried.done

    def _refuse(self, why: Text, opens: Text) -> Phased:
        """Nothing is run before the five questions are answered."""
        what = both(f"{opens['zh']}：opdev intake{self.plan.where}", f"{opens['en']}: `opdev intake{self.plan.where}`")
        self.events.add("manual", phase="0", what=what, context=None)
        text = both(
            f"启动确认没有完成，不往下做：{why['zh']}", f"the intake is not complete, nothing was run: {why['en']}"
        )
        return Phased("blocked", "0", text)

    def _probe(self, spec: Commands) -> Text | None:
        """Look at the environment; what is needed and not there."""
        if not spec.probes:
            return None
        absent: list[str] = []
        target = self.stepper.target
        python = self.stepper.values["python"]
        for found in probe(self.stepper.executor, target, self.stepper.cann, self.stepper.shmem, python):
            self.events.add("probe", probe=found.id, state=found.state, detail=found.detail, next=dict(found.next))
            if needed(found, target):
                absent.append(found.id)
        names = ", ".join(absent)
        return both(f"环境里缺 {names}", f"the environment lacks {names}") if absent else None

    def _without_hardware(self, spec: Commands, why: Text) -> Phased:
        """A phase that the stand-in cannot speak for: begun and handed over where a program is named, else skipped."""
        self._prepare(spec)
        if spec.phase in self.plan.external:
            stopped = self._hand_over(spec, _Tried(Phased("blocked"), self._gate(spec.phase)))
            if stopped is not None:
                return stopped
            gate = self._gate(spec.phase)
            if gate is not None and gate.state != "closed":
                return Phased("passed")
        self.events.add("phase-skipped", phase=spec.phase, why=dict(why))
        then = both(
            f"有 NPU 时再 opdev run {spec.phase}，或用 --handover 交给你配置的命令",
            f"`opdev run {spec.phase}` where there is an NPU, or hand it over to a command of yours (--handover)",
        )
        return Phased("blocked", None, why, way=then, skipped=True)

    def _prepare(self, spec: Commands) -> None:
        """Begin what is missing; a template that cannot be used is told, and nothing else stops for it."""
        if self.stepper.stop.asked:
            return
        try:
            made = prepare(look(self.stepper.target.root), spec.phase)
        except ScaffoldError as error:
            self.events.add(
                "note", text=both(f"没有补出文件：{error.text('zh')}", f"nothing was begun: {error.text('en')}")
            )
            return
        if made.paths:
            self._prepared = list(made.paths)
            self.events.add("prepared", phase=spec.phase, paths=list(made.paths), text=dict(made.text))

    def _try(self, spec: Commands) -> _Tried:
        """Run the steps, ask the gate."""
        if holds(spec.ready, self.stepper.values, self.stepper.executor.exists) is not None:
            return self._judged(spec, self._gate(spec.phase))
        failed = self._steps(spec)
        if failed is not None:
            if failed.result == "stopped":
                return _Tried(Phased("stopped"), None, failed)
            route = spec.route(failed.cls)
            outcome = "failed" if failed.result == "fail" else "blocked"
            done = Phased(
                outcome, route, both(failed.message, failed.message), failed.cls, way(spec.phase, route, failed.cls)
            )
            return _Tried(done, None, failed)
        if self.plan.cases:
            # Some cases say nothing of a gate.
            return _Tried(Phased("stopped" if self.stepper.stop.asked else "passed"), None)
        return self._judged(spec, self._gate(spec.phase))

    def _judged(self, spec: Commands, gate: Gate | None) -> _Tried:
        if self.stepper.stop.asked:
            return _Tried(Phased("stopped"), gate)
        if gate is not None and gate.state != "closed":
            return _Tried(Phased("passed"), gate)
        why = gate.closed_by[0].detail if gate is not None and gate.closed_by else asked(spec, self.stepper.values)
        return _Tried(Phased("blocked", None, why), gate)

    def _steps(self, spec: Commands) -> Stepped | None:
        """Run the steps; the one that did not pass."""
        ended: dict[str, float] = {}
        for step in spec.steps:
            why = self.stepper.skips(step)
            if why is not None:
                if self._worth_telling(spec, step):
                    self.events.add("step-skipped", phase=spec.phase, task=step.id, why=dict(why))
                continue
            if self.plan.cases:
                step = alone(step)
            after, seconds = step.pause_after
            left = seconds - (time.monotonic() - ended[after]) if after in ended else self._left(after, seconds)
            if left > 0:
                self.stepper.pause(step.id, left, both("HCCL 与 SHMEM 不能紧接着跑", "HCCL and SHMEM must not follow each other at once"))  # fmt: skip
            every = sized(step, self.plan, self.stepper) if step.needs == "perf" else counted(step, self.plan.counts, self.stepper, self.events)  # fmt: skip
            for pes, one in every:
                done = self._step(spec, one, pes)
                if done.result != "pass":
                    return done
                ended[step.id] = done.ended
        return None

    def _left(self, after: str, seconds: float) -> float:
        """What is left of a pause behind a step that another run ended; 0 where none did lately."""
        record = look(self.stepper.target.root).record(after) if after else None
        return min(seconds, seconds - (time.time() - record.time)) if record is not None else 0.0

    def _worth_telling(self, spec: Commands, step: Step) -> bool:
        """Whether somebody would miss a step that is skipped: not one that another of the same name replaces."""
        if self.stepper.target.mode not in step.modes or any(c.kind == "missing" for c in step.when):
            return False
        return not any(s is not step and s.id == step.id and self.stepper.skips(s) is None for s in spec.steps)

    def _step(self, spec: Commands, step: Step, pes: int) -> Stepped:
        times, pause = step.retry
        done = Stepped("stopped")
        for attempt in range(1, times + 2):
            if self.stepper.stop.asked:
                return Stepped("stopped")
            if attempt > 1:
                self.stepper.pause(step.id, pause, both("失败后单独重跑", "run again by itself after a failure"))
            done = self.stepper.run(spec, step, attempt, pes)
            if done.result != "fail":
                break
        return done

    def _gate(self, phase: str) -> Gate | None:
        """The gate as it is now, told; None where it cannot be computed."""
        if self.stepper.stop.asked:
            return None
        try:
            gate = gates.gate(look(self.stepper.target.root, simulated=self.sim or None), phase)
        except ConfigError as error:
            self.events.add("note", text=both(f"配置不可用，门禁没有判断：{error}", f"the configuration cannot be used, the gate was not judged: {error}"))  # fmt: skip
            return None
        self.events.add("gate", phase=phase, state=gate.state, checks=[
            {
                "id": check.id, "title": dict(check.title), "state": check.state, "detail": dict(check.detail), "opens": dict(check.opens),
                "path": check.place.path if check.place else None, "line": check.place.line if check.place else None,
            }
            for check in gate.closed_by
        ])  # fmt: skip
        if gate.state == "skipped":
            self.events.add("note", text=dict(gate.why))
        return gate

    def _wait(self, spec: Commands, gate: Gate | None) -> None:
        given = self._give(spec, gate)
        self.events.add("manual", phase=spec.phase, what=asked(spec, self.stepper.values), context=given.context, brief=given.brief)  # fmt: skip
        path = self.plan.offered.get(spec.phase)
        if path is not None:
            self.events.add("note", text=both(
                f"{path} 为这一阶段配置了外部命令，没有运行：工作区里的命令要你同意。用 --handover 运行，或写进你自己的 opdev.toml（见 opdev run --help）",
                f"{path} names a command for this phase, which was not run: what a workspace names needs your word. Say --handover, or name it in your own opdev.toml (see `opdev run --help`)",
            ))  # fmt: skip

    def _give(self, spec: Commands, gate: Gate | None) -> Given:
        stepper = self.stepper
        return give(
            stepper.folder, spec, gate, stepper.target, stepper.values, self.lang, self.plan.again(spec.phase),
            self._prepared,
        )  # fmt: skip

    def _may_hand_over(self, spec: Commands, tried: _Tried) -> bool:
        """Whether what is left is this phase's own work, and a program is named for it."""
        if spec.phase not in self.plan.external or self.stepper.stop.asked:
            return False
        if tried.failed is not None:
            return tried.done.outcome == "failed" and tried.done.route == spec.phase
        return tried.done.outcome == "blocked" and tried.gate is not None

    def _hand_over(self, spec: Commands, tried: _Tried) -> Phased | None:
        """Let the named program work; what came of it, only where it was stopped: else the gate is asked."""
        gate = tried.gate if tried.gate is not None else self._gate(spec.phase)
        given = self._give(spec, gate)
        values = {
            **self.stepper.values, "op": self.stepper.target.root, "repo": self.stepper.target.repo,
            "context": given.context, "brief": given.brief, "phase": spec.phase,
        }  # fmt: skip
        step = Step(
            id="external", title=both("交给外部命令", "handed over to a command"), argv=tuple(self.plan.external[spec.phase]),
            timeout=self.plan.external_timeout, plain=True,
            env={"OPDEV_CONTEXT": "{context}", "OPDEV_BRIEF": "{brief}", "OPDEV_PHASE": "{phase}"},
        )  # fmt: skip
        outside = replace(self.stepper, executor=self.host, values=values, scale=1.0)
        done = outside.run(spec, step)
        self.stepper.count = outside.count
        if done.result == "stopped":
            return Phased("stopped")
        if done.result != "pass":
            self.events.add("note", text=both(
                f"外部命令没有正常结束（{done.message}）；做没做成仍由门禁判断",
                f"the command did not end well ({done.message}); whether the work is done is still the gate's to say",
            ))  # fmt: skip
        return None
