"""One phase: probe, hand over or run its steps, then ask its gate.

What is creative is never pretended: where the gate waits for a person, the phase ends ``blocked`` and says what to do,
unless the user configured a program for it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opdev.config import ConfigError
from opdev.phases import gates
from opdev.phases.graph import BY_ID
from opdev.phases.model import NOTHING, Gate, both
from opdev.rules.model import Text
from opdev.runs.commands import Commands, Step, commands, fill, holds
from opdev.runs.doctor import probe
from opdev.runs.events import Events
from opdev.runs.executors.host import Host
from opdev.runs.stepping import Stepped, Stepper
from opdev.runs.target import look


@dataclass(frozen=True, slots=True)
class Phased:
    """How a phase ended, and where its failure leads."""

    outcome: str
    route: str | None = None
    why: Text = field(default_factory=lambda: NOTHING)


class Phases:
    """Runs phases.  ``external`` names a program (argv) for phases whose work is a person's."""

    def __init__(self, events: Events, stepper: Stepper, host: Host, external: Mapping[str, Sequence[str]]) -> None:
        self.events, self.stepper, self.host, self.external = events, stepper, host, external

    def run(self, phase: str) -> Phased:
        """Run one phase and tell of it."""
        spec = commands(phase)
        self.events.add("phase-started", phase=phase, title=dict(BY_ID[phase].title))
        done = self._run(spec)
        self.events.add("phase-ended", phase=phase, outcome=done.outcome, route=done.route)
        return done

    def _run(self, spec: Commands) -> Phased:
        if spec.probes:
            for found in probe(self.stepper.executor, self.stepper.target, self.stepper.cann, self.stepper.shmem):
                self.events.add("probe", probe=found.id, state=found.state, detail=found.detail, next=dict(found.next))
        if spec.work == "person" and spec.phase in self.external:
            handed = self._hand_over(spec)
            if handed is not None:
                return handed
        if holds(spec.ready, self.stepper.values, self.stepper.executor.exists) is not None:
            return self._wait(spec, self._gate(spec.phase))
        ran, failed = self._steps(spec)
        if failed is not None:
            if failed.result == "stopped":
                return Phased("stopped")
            return Phased(
                "failed" if failed.result == "fail" else "blocked",
                spec.route(failed.cls),
                both(failed.message, failed.message),
            )
        gate = self._gate(spec.phase)
        if gate is not None and gate.state != "closed":
            return Phased("passed")
        if not ran and not spec.steps and gate is None:
            return Phased("passed")
        return self._wait(spec, gate)

    def _steps(self, spec: Commands) -> tuple[int, Stepped | None]:
        """How many steps ran, and the one that did not pass."""
        ended: dict[str, float] = {}
        for step in spec.steps:
            why = self.stepper.skips(step)
            if why is not None:
                if self._worth_telling(spec, step):
                    self.events.add("step-skipped", phase=spec.phase, task=step.id, why=dict(why))
                continue
            after, seconds = step.pause_after
            if after in ended:
                left = seconds - (time.monotonic() - ended[after])
                self.stepper.pause(step.id, left, both("HCCL 与 SHMEM 不能紧接着跑", "HCCL and SHMEM must not follow each other at once"))  # fmt: skip
            done = self._step(spec, step)
            if done.result != "pass":
                return len(ended), done
            ended[step.id] = done.ended
        return len(ended), None

    def _worth_telling(self, spec: Commands, step: Step) -> bool:
        """Whether somebody would miss a step that is skipped: not one that another of the same name replaces."""
        if self.stepper.target.mode not in step.modes or any(c.kind == "missing" for c in step.when):
            return False
        return not any(s is not step and s.id == step.id and self.stepper.skips(s) is None for s in spec.steps)

    def _step(self, spec: Commands, step: Step) -> Stepped:
        times, pause = step.retry
        done = Stepped("stopped")
        for attempt in range(1, times + 2):
            if self.stepper.stop.asked:
                return Stepped("stopped")
            if attempt > 1:
                self.stepper.pause(step.id, pause, both("失败后单独重跑", "run again by itself after a failure"))
            done = self.stepper.run(spec, step, attempt)
            if done.result != "fail":
                break
        return done

    def _gate(self, phase: str) -> Gate | None:
        """The gate as it is now, told; None where it cannot be computed."""
        if self.stepper.stop.asked:
            return None
        try:
            gate = gates.gate(look(self.stepper.target.root), phase)
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
        return gate

    def _wait(self, spec: Commands, gate: Gate | None) -> Phased:
        if self.stepper.stop.asked:
            return Phased("stopped")
        what = self._ask(spec)
        self.events.add("manual", phase=spec.phase, what=what, context=self._context(spec, gate))
        why = gate.closed_by[0].detail if gate is not None and gate.closed_by else what
        return Phased("blocked", None, why)

    def _ask(self, spec: Commands) -> Text:
        return {lang: fill(text, self.stepper.values) for lang, text in spec.ask.items()}

    def _context(self, spec: Commands, gate: Gate | None) -> str:
        """A file with all that whoever does the work has to know."""
        path = f"{self.stepper.folder}/context-{spec.phase}.json"
        root = self.stepper.target.root
        value = {
            "phase": spec.phase, "operator": self.stepper.target.name, "root": root, "ask": self._ask(spec),
            "files": [p for name in spec.context if os.path.exists(p := os.path.normpath(f"{root}/{name}"))],
            "artefacts": [name.replace("<op>", self.stepper.target.name) for name in BY_ID[spec.phase].artefacts],
            "gate": [{"id": c.id, "detail": dict(c.detail), "opens": dict(c.opens), "path": c.place.path if c.place else None} for c in (gate.closed_by if gate else [])],
        }  # fmt: skip
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(value, stream, ensure_ascii=False, indent=1)
        return path

    def _hand_over(self, spec: Commands) -> Phased | None:
        """Let the configured program do what keeps the gate closed; None when the phase may go on."""
        gate = self._gate(spec.phase)
        if gate is None or gate.state != "closed":
            return None
        values = {**self.stepper.values, "op": self.stepper.target.root, "context": self._context(spec, gate)}
        step = Step(
            id="external", title=both("外部命令", "external command"), argv=tuple(self.external[spec.phase]), timeout=7200,
            env={"OPDEV_CONTEXT": "{context}", "OPDEV_PHASE": spec.phase},
        )  # fmt: skip
        outside = replace(self.stepper, executor=self.host, values=values)
        done = outside.run(spec, step)
        self.stepper.count = outside.count
        if done.result == "pass":
            return None
        if done.result == "stopped":
            return Phased("stopped")
        return Phased("failed", spec.route(done.cls), both(done.message, done.message))
