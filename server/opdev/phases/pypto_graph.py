"""The stages of PyPTO's three workflows, as data: who does them, what they leave, what a closed gate means.

A stage is a ``Phase`` like SHMEM's; only its word differs, because the state file and the people call it so.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.phases.model import Phase, both
from opdev.pypto.states import Workflow
from opdev.rules.model import Text

_AGAIN = both("改好产物再过一次门禁", "mend what it made and pass the gate again")


def _stage(number: int, zh: str, en: str, worker: str, artefacts: tuple[str, ...], retry: Text = _AGAIN) -> Phase:
    needs = (str(number - 1),) if number > 1 else ()
    return Phase(str(number), both(zh, en), worker, needs, artefacts, retry, "Stage")


_CLASSIC = (
    _stage(1, "需求与接口", "requirements and API", "pypto-op-planner", ("SPEC.md", "API_REPORT.md", "MEMORY.md")),
    _stage(2, "参考实现", "golden", "pypto-op-mathematician", ("<op>_golden.py", "GOLDEN_PERF_REPORT.md")),
    _stage(3, "设计", "design", "pypto-op-architect", ("DESIGN.md",)),
    _stage(4, "模块接口", "module interfaces", "pypto-op-designer", ("eval/module_interfaces.yaml",)),
    _stage(5, "实现", "implementation", "pypto-op-coder", ("<op>_impl.py", "test_<op>.py", "README.md")),
    _stage(6, "验证", "verification", "pypto-op-verifier", ("eval/evaluation_report.json",)),
    _stage(7, "优化", "optimisation", "pypto-op-optimizer", ()),
)
_PLAN = ("SPEC.md", "EXPLORE_REPORT.md", "PRO_MATERIAL_INDEX.md", "MEMORY.md")
_PRO = (
    _stage(1, "规划", "plan", "pypto-pro-op-planner", (*_PLAN, "KB_SELECTION.json")),
    _stage(2, "参考实现", "golden", "pypto-pro-op-mathematician", ("<op>_golden.py", "<op>_golden_cpu.py")),
    _stage(3, "设计", "design", "pypto-pro-op-architect", ("DESIGN.md", "module_interfaces.yaml", "DESIGN_BINDINGS.json")),
    _stage(4, "实现", "implementation", "pypto-pro-op-coder", ("test_<op>.py", "KB_USAGE.json")),
    _stage(5, "性能优化", "optimisation", "pypto-pro-op-perf-tune", (
        "PERFORMANCE_CASES.json", "PERFORMANCE_REPORT.md", "performance.json", "performance.log", "perf_report.md")),
)  # fmt: skip
_PRO4 = (
    _stage(1, "规划", "plan", "pypto-pro-op-planner", _PLAN),
    _stage(2, "参考实现", "golden", "pypto-pro-op-mathematician", ("<op>_golden.py", "<op>_golden_cpu.py", "GOLDEN_PERF_REPORT.md")),
    _stage(3, "设计", "design", "pypto-pro-op-architect", ("DESIGN.md",)),
    _stage(4, "实现", "implementation", "pypto-pro-op-coder", ("test_<op>.py",)),
)  # fmt: skip
STAGES: Mapping[Workflow, tuple[Phase, ...]] = {"classic": _CLASSIC, "pro": _PRO, "pro4": _PRO4}
NAMES = {
    "plan": "1", "spec": "1", "golden": "2", "design": "3", "interfaces": "4", "code": "5", "implementation": "5",
    "verify": "6", "verification": "6", "optimise": "7", "optimize": "7", "optim": "7", "perf": "7",
}  # fmt: skip
"""What people call the stages of the classic workflow; PyPTO-Pro's follow by their titles."""
_PRO_NAMES = {"plan": "1", "spec": "1", "golden": "2", "design": "3", "code": "4", "implementation": "4", "optimise": "5",
              "optimize": "5", "optim": "5", "perf": "5"}  # fmt: skip


def stage_id(text: str, kind: Workflow) -> str | None:
    """The id of a stage by its number or its name; None for neither."""
    word = text.strip().lower()
    found = (NAMES if kind == "classic" else _PRO_NAMES).get(word, word)
    return found if any(stage.id == found for stage in STAGES[kind]) else None
