"""The phases of an operator and the ways between them, as data.

Which phases are passed over, and what follows the optimisation, hangs on four flags; ``route`` says
it for one set of them, ``next_after`` walks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opdev.phases.model import Phase, both
from opdev.rules.model import Text

PHASES: tuple[Phase, ...] = (
    Phase(
        "0", both("启动确认", "intake"), "—", (), ("docs/phase0_intake.yaml",),
        both("把没有答完的问题再问一遍", "ask again what was not answered"),
    ),
    Phase(
        "1", both("设计", "design"), "shmem-ops-design", ("0",), ("docs/design.md",),
        both("修改设计，再过一次门禁", "revise the design, then pass the gate again"),
    ),
    Phase(
        "2", both("测试脚本", "test scripts"), "shmem-ops-testcase-gen", ("1",),
        ("scripts/gen_data.py", "scripts/check_result.py", "scripts/run.sh", "scripts/run_case_matrix.py"),
        both("修改脚本", "mend the scripts"),
    ),
    Phase(
        "3", both("代码与编译", "code and build"), "shmem-ops-code-gen, shmem-ops-compile-debug", ("2",),
        ("src/main.cpp", "src/<op>_kernel.cpp", "CMakeLists.txt", "README.md", "build/bin/<op>"),
        both(
            "编译、链接、启动、正确性问题回到 code-gen；运行时与环境问题由 compile-debug 就地解决",
            "compile, link, launch and correctness faults go to code-gen; runtime and environment faults are mended in place",
        ),
    ),
    Phase(
        "4", both("正确性", "correctness"), "shmem-ops-correctness-eval", ("3",),
        ("docs/correctness_report.md", "docs/case_matrix_report.md"),
        both(
            "代码有误回 Phase 3 局部修改，测试有误回 Phase 2，契约做不到回 Phase 1；改完整体重跑",
            "code faults go to Phase 3, test faults to Phase 2, a contract that cannot be met to Phase 1; then run it all again",
        ),
    ),
    Phase(
        "5", both("代码走读（中期）", "code review (interim)"), "shmem-ops-code-review", ("4",), ("docs/review-report.md",),
        both("FAIL 项回到 code-gen 或 design", "what is FAIL goes back to code-gen or design"),
    ),
    Phase(
        "5.5", both("Torch 绑定", "Torch binding"), "shmem-ops-torch-bind", ("5",),
        ("../torch_binding/src/torch_bind_<op>.cpp", "scripts/torch_test_<op>.py"),
        both("修改绑定，重新编译", "mend the binding and build it again"),
    ),
    Phase(
        "6", both("性能评估", "performance"), "shmem-ops-performance-eval", ("4", "5", "5.5"),
        ("scripts/perf.sh", "baseline/", "data/perf/*.log", "docs/performance_report.md"),
        both(
            "HCCL 失败时等 15–30 秒单独重跑；仍采不到就在表里写未采到",
            "when HCCL fails, wait 15-30 s and run it alone; a row that stays empty says so",
        ),
    ),
    Phase(
        "6.5", both("性能优化", "optimisation"), "shmem-ops-performance-optim", ("6",), ("docs/performance_report.md",),
        both("撤回本轮改动；编译失败回 code-gen", "take the round back; a failing build goes to code-gen"),
    ),
    Phase(
        "regression", both("Torch 回归", "Torch regression"), "shmem-ops-torch-bind", ("6.5",),
        ("scripts/torch_test_<op>.py",),
        both("由 code-gen 修改绑定", "code-gen mends the binding"),
    ),
    Phase(
        "7", both("交付", "delivery"), "shmem-ops-code-review", ("5",), ("docs/review-report.md",),
        both("改完再走读一次", "mend it and review again"),
    ),
)  # fmt: skip
BY_ID: Mapping[str, Phase] = {phase.id: phase for phase in PHASES}
ORDER: tuple[str, ...] = tuple(phase.id for phase in PHASES)
NAMES = {
    "intake": "0", "design": "1", "tests": "2", "code": "3", "correctness": "4", "review": "5", "torch": "5.5",
    "perf": "6", "performance": "6", "optim": "6.5", "optimise": "6.5", "optimize": "6.5", "delivery": "7",
}  # fmt: skip
"""What people call the phases, for command lines."""


def phase_id(text: str) -> str | None:
    """The id of a phase by its id, or by its name; None for neither."""
    word = text.strip().lower()
    return word if word in ORDER else NAMES.get(word)


@dataclass(frozen=True, slots=True)
class Flags:
    """What decides the way; None where nothing on disk says it.

    ``met`` is Phase 6's decision: whether Round 0 reaches the line.  ``rounds`` says that an
    optimisation was begun, whatever ``met`` says now.
    """

    torch_required: bool | None = None
    performance_required: bool | None = None
    performance_auto_optim: bool | None = None
    met: bool | None = None
    rounds: bool = False


def skipped(flags: Flags) -> dict[str, Text]:
    """The phases that are passed over, each with its reason, in the order of the phases."""
    out: dict[str, Text] = {}
    if flags.torch_required is False:
        out["5.5"] = both(
            "torch_required 为 false：不做 Torch 绑定", "torch_required is false: no Torch binding is wanted"
        )
    if flags.performance_required is False:
        out["6"] = both(
            "performance_required 为 false：未做性能验证", "performance_required is false: performance is not verified"
        )
    optimise = _why_not_optimised(flags)
    if optimise is not None:
        out["6.5"] = optimise
        out["regression"] = both(
            "没有进入 Phase 6.5，内核在 Torch 测试之后没有变",
            "Phase 6.5 was not entered, so nothing changed after the Torch tests",
        )
    elif flags.torch_required is False:
        out["regression"] = out["5.5"]
    return out


def _why_not_optimised(flags: Flags) -> Text | None:
    if flags.rounds:
        return None
    if flags.performance_required is False:
        return both(
            "performance_required 为 false：没有可优化的基准",
            "performance_required is false: there is nothing to improve on",
        )
    if flags.performance_auto_optim is False:
        return both(
            "performance_auto_optim 为 false：只列差距表，不改内核",
            "performance_auto_optim is false: the gap is reported, the kernel stays as it is",
        )
    if flags.met:
        return both("Phase 6 已达标", "Phase 6 reached its line")
    return None


def route(flags: Flags) -> tuple[str, ...]:
    """The ids of the phases this operator goes through, in order."""
    left_out = skipped(flags)
    return tuple(name for name in ORDER if name not in left_out)


def next_after(name: str, flags: Flags) -> str | None:
    """The phase that follows; None after the last."""
    left_out = skipped(flags)
    later = (n for n in ORDER[ORDER.index(name) + 1 :] if n not in left_out)
    return next(later, None)
