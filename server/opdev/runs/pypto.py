"""Stage 6 of a classic PyPTO operator, verification: its test in simulation, judged by the outputs it compared.

The other stages are a person's work or need hardware.  Steps are SHMEM's in all else: one process below a keeper, raw
logs, events, a diagnosis.  What simulation shows never opens a gate: the evaluation report is for the NPU's results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opdev import ourselves
from opdev.phases.model import NOTHING, both
from opdev.phases.pypto_graph import STAGES, stage_id
from opdev.pypto.finding import name_of, workflow_of
from opdev.pypto.states import Workflow
from opdev.rules.model import Text
from opdev.runs.commands import Commands, parse
from opdev.runs.errors import UsageError
from opdev.runs.events import Events
from opdev.runs.executors import Job
from opdev.runs.executors.host import Host
from opdev.runs.phasing import Phased
from opdev.runs.plan import Plan
from opdev.runs.stepping import Stepped, Stepper
from opdev.runs.target import Target

MODULE = "opdev.pyptosim"
STAGE = "6"
NAMES = ("verify", "verification", "precision")
"""What the stage is called on the command line."""
_SECONDS = 3600
_TITLE = both("验证（模拟）", "verification (simulated)")


class PyptoSim(Host):
    """Steps on this machine whose results are a simulation's."""

    name = "sim"
    backend = "sim"

    def shown(self, job: Job) -> list[str]:
        words = list(job.argv)
        at = words.index(MODULE) if MODULE in words else 0
        return ["python", "-m", *words[at:]] if at else words


def asked(text: str, root: str) -> str:
    """The stage that is meant by a word of ``opdev run``; UsageError says what can be run of this operator."""
    workflow = workflow_of(root)
    if workflow is not None and workflow != "classic":
        raise UsageError("pypto-pro", name=name_of(root))
    found = STAGE if text.strip().lower() in (STAGE, *NAMES) else stage_id(text, "classic")
    if found == STAGE:
        return STAGE
    stage = next((one for one in STAGES["classic"] if one.id == found), None)
    title = f" ({stage.title['en']})" if stage is not None else ""
    raise UsageError("pypto-stage", text=text, title=title)


def target_of(root: str) -> Target:
    """A PyPTO operator as runs know operators."""
    around = root.rpartition("/")[0].rpartition("/")[0] or root
    return Target(root, name_of(root), "independent_project", around, "", "", "", "", "", (), torch=False)


def is_pypto(root: str) -> Workflow | None:
    """The workflow of a PyPTO operator; None for any other folder."""
    return workflow_of(root)


def runnable(workflow: str, phase: str) -> bool:
    """Whether ``opdev run`` can run a phase of an operator with that workflow (see ``phases.situation.Status``)."""
    return workflow == "shmem" or (workflow == "pypto-classic" and phase == STAGE)


def commands(plan: Plan, folder: str) -> Commands:
    """The one step there is; its results lie in the run's folder."""
    words = [
        "--op",
        "{op}",
        "--out",
        f"{folder}/pypto",
        "--lang",
        plan.lang,
        "--timeout",
        str(_SECONDS * plan.timeout_scale),
    ]
    words += ["--python", plan.python] if plan.python not in ("", "python3") else []
    for case in plan.cases:
        words += ["--case", case]
    step: dict[str, Any] = {
        "id": "precision",
        "title": both("在模拟环境里运行测试，判断精度", "run the test in simulation and judge its precision"),
        "argv": ourselves.argv(MODULE, words),
        "cwd": "{op}",
        "parse": ["compiler", "matrix"],
        "needs": "case",
        "timeout": _SECONDS + 120,
    }
    routes = dict.fromkeys(
        ("compile", "link", "launch", "correctness", "kernel", "code", "crash", "timeout", "test", "unknown"), "5"
    )
    value = {
        "phase": STAGE, "work": "commands", "ask": both("运行测试", "run the test"), "steps": [step],
        "routes": {**routes, "runtime": "here", "environment": "here", "design": "3"},
    }  # fmt: skip
    return parse(value, "stage 6")


class Verifying:
    """Runs the stage, in place of ``Sequence``."""

    def __init__(self, plan: Plan, events: Events, stepper: Stepper, folder: str) -> None:
        self.plan, self.events, self.stepper, self.folder = plan, events, stepper, folder

    @property
    def phases(self) -> Sequence[str]:
        return [STAGE]

    def go(self) -> Phased:
        """Run the step; its result is the stage's."""
        spec = commands(self.plan, self.folder)
        self.events.add("phase-started", phase=STAGE, title=dict(_TITLE), word="Stage")
        done = self.stepper.run(spec, spec.steps[0])
        phased = self._phased(spec, done)
        more = {
            key: value
            for key, value in (("class", phased.cls), ("why", dict(phased.why)), ("way", dict(phased.way)))
            if value
        }
        self.events.add("phase-ended", phase=STAGE, outcome=phased.outcome, route=phased.route, **more)
        return phased

    def _phased(self, spec: Commands, done: Stepped) -> Phased:
        if done.result == "stopped" or self.stepper.stop.asked:
            return Phased("stopped")
        if done.result == "pass":
            why = both(
                "模拟环境里精度通过；NPU 上的结果要在 NPU 上得到",
                "precision holds in simulation; what an NPU makes of it only an NPU can show",
            )
            return Phased("passed", None, why)
        outcome = "failed" if done.result == "fail" else "blocked"
        why = both(done.message, done.message) if done.message else NOTHING
        return Phased(outcome, spec.route(done.cls), why, done.cls, _way(done.cls))


def _way(cls: str) -> Text:
    if cls == "environment":
        return both(
            "补上环境里缺的，再 opdev run verify", "put right what the environment lacks, then `opdev run verify`"
        )
    if cls == "test":
        return both(
            "让测试把内核输出与 golden 比较，再 opdev run verify",
            "let the test compare the kernel's outputs with a golden, then `opdev run verify`",
        )
    return both(
        "回到 Stage 5 改实现，再 opdev run verify", "back to stage 5: mend the implementation, then `opdev run verify`"
    )
