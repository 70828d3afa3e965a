"""Where interrupted work goes on: the fourteen rows of the recovery matrix, from the top, the first that fits.

How the rows are told apart where the bare table leaves them to overlap
    optimising   Phase 6.5 was entered: the performance report has a round, or Round 0 misses its line and
                 ``performance_auto_optim`` is true.  From then on code is meant to be newer than the reports of
                 Phase 4, because each round retests itself: rows 5 and 6 are for work that is not optimising,
                 a build that fails while optimising is row 12.
    row 2        no DSL, an unreadable one, one without schedule, correctness or performance, or with the
                 template's placeholders left
    row 4        no code, or none to build: no kernel, no host program or no CMakeLists.txt is there
    row 5        nothing proves that the present code builds (see ``proofs``): it fails, is older than a
                 source, or was never built here
    row 6        it builds, and the correctness report is missing, not passed, or older than a source
    row 8        the binding was never finished; while optimising a Torch test that fails is row 14's
    row 9        ``torch_required: false``, and Phase 6 was not begun: 5.5 is passed over, the flag of Phase 6
                 says where to.  Once there is anything of Phase 6, rows 10 to 14 tell more.
    row 10       Phase 6 is wanted, and its data is missing, incomplete, without a decision, or older than a source
    row 14       the Torch test has not passed on 8 PEs since the last change of the code

Ages are file times (see ``evidence``), unless a run record names the contents; the answer says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opdev.phases import code, correctness, design, intake, perf, proofs, review, tests, torch
from opdev.phases.evidence import DESIGN, SLACK, Evidence
from opdev.phases.model import Spot, both
from opdev.rules.model import Text


@dataclass(frozen=True, slots=True)
class Match:
    """The row that fits, the phase that is open by it, why, and what to do next."""

    row: int
    phase: str
    why: Text
    next: Text
    worker: str
    place: Spot | None = None


def recover(evidence: Evidence) -> Match | None:
    """The first row that fits; None where everything before the delivery is done."""
    for row in ROWS:
        found = row(evidence)
        if found is not None:
            return found
    return None


def _row_1(e: Evidence) -> Match | None:
    check = design.absent(e)
    if check is None:
        return None
    why, do = check.detail, check.opens
    if e.code:
        why = both(f"{why['zh']}；代码已经有了（{e.code[0]} 等，共 {len(e.code)} 个文件），设计要补写", f"{why['en']}; there is code already ({e.code[0]}, files: {len(e.code)}), so the design has to be written after it")  # fmt: skip
    if not intake.complete(e):
        do = both(f"先回答启动确认的五个问题（{intake.RECORD}），再{do['zh']}", f"answer the five intake questions first ({intake.RECORD}), then {do['en']}")  # fmt: skip
    return Match(1, "1", why, do, "shmem-ops-design", check.place)


def _row_2(e: Evidence) -> Match | None:
    found = design.unfit(e)
    if found is None:
        return None
    do = both("把设计写完，再过一次门禁：opdev gate 1", "finish the design, then pass the gate again: opdev gate 1")
    return Match(2, "1", found[0], do, "shmem-ops-design", found[1])


def _row_3(e: Evidence) -> Match | None:
    lacking = tests.missing(e)
    if not lacking:
        return None
    names = ", ".join(lacking)
    why = both(f"缺少测试脚本：{names}", f"test scripts are missing: {names}")
    do = both(f"按设计生成 scripts/ 下的 {names}", f"make {names} in scripts/ from the design")
    return Match(3, "2", why, do, "shmem-ops-testcase-gen", e.at(f"scripts/{lacking[0]}"))


def _row_4(e: Evidence) -> Match | None:
    units = [r for r in e.code if not r.endswith((".h", ".hpp", ".hh"))]
    do = both("按设计生成 src/ 和 CMakeLists.txt", "make src/ and CMakeLists.txt from the design")
    if not units:
        why = both("有设计和测试，没有代码", "there are design and tests, and no code")
        return Match(4, "3", why, do, "shmem-ops-code-gen", e.at("src"))
    lacking = code.missing(e)
    if not lacking:
        return None
    names = ", ".join(lacking)
    why = both(f"代码不全，缺 {names}：这样没有可编译的算子", f"the code is incomplete without {names}: there is no operator to build")  # fmt: skip
    do = both(f"按设计生成 {names}", f"make {names} from the design")
    return Match(4, "3", why, do, "shmem-ops-code-gen", e.at(lacking[0]))


def _row_5(e: Evidence) -> Match | None:
    if perf.optimising(e):
        return None
    proof = proofs.build(e)
    if proof.good:
        return None
    command = code.build_command(e)
    do = both(f"编译到通过为止：{command[0]}", f"build until it passes: {command[1]}")
    return Match(5, "4", proof.text, do, "shmem-ops-compile-debug", proof.place)


def _row_6(e: Evidence) -> Match | None:
    proof = correctness.proof(e, current=not perf.optimising(e))
    if proof.good:
        return None
    do = {
        "failed": both("按失败归类改正，再整体重跑用例矩阵", "mend it by its class, then run the whole case matrix again"),
        "stale": both("代码改过：重跑用例矩阵并更新报告", "the code was changed: run the case matrix again and bring the report up to date"),
    }.get(proof.verdict, both("跑用例矩阵并写 docs/correctness_report.md", "run the case matrix into docs/correctness_report.md"))  # fmt: skip
    return Match(6, "4", proof.text, do, "shmem-ops-correctness-eval", proof.place)


def _row_7(e: Evidence) -> Match | None:
    proof = review.interim(e)
    if proof.good:
        return None
    do = both("走读代码，写 docs/review-report.md（interim）", "review the code into docs/review-report.md (interim)")
    if proof.verdict == "failed":
        do = both("改正没有通过的项，再走读一次", "mend what does not pass, then review again")
    return Match(7, "5", proof.text, do, "shmem-ops-code-review", proof.place)


def _row_8(e: Evidence) -> Match | None:
    if e.said("torch_required") is not True or torch.done(e) or (perf.optimising(e) and torch.begun(e)):
        return None
    name = e.name
    if not torch.begun(e):
        why = both("需要 Torch 绑定，还没有开始", "a Torch binding is wanted and not begun")
        place: Spot | None = e.at(f"scripts/torch_test_{name}.py")
    else:
        lacking = [n for n in torch.COUNTS if not torch.passed(e, n, current=False).good]
        counts = "、".join(map(str, lacking)), " and ".join(map(str, lacking))
        why = both(
            f"Torch 绑定没有 {counts[0]} PE 通过的证据", f"nothing shows the Torch test passing on {counts[1]} PEs"
        )
        place = torch.passed(e, lacking[0], current=False).place if lacking else None
    do = both(
        "写绑定和测试，2 PE、8 PE 都跑通并留下日志", "write binding and test, pass on 2 and on 8 PEs, keep the logs"
    )
    return Match(8, "5.5", why, do, "shmem-ops-torch-bind", place)


def _row_9(e: Evidence) -> Match | None:
    if e.said("torch_required") is not False or perf.begun(e):
        return None
    skipped = both("torch_required 为 false：跳过 Phase 5.5", "torch_required is false: Phase 5.5 is passed over")
    if e.said("performance_required") is False:
        if _delivered(e):
            return None
        do = both(
            "直接交付（写明未做性能验证）：做最终走读",
            "deliver, and say that performance was not verified: do the final review",
        )
        return Match(9, "7", skipped, do, "shmem-ops-code-review", e.at(review.NAMES[0]))
    if e.said("performance_required") is None:
        do = both("回到启动确认的第 4 个问题：要不要性能评估", "go back to intake question 4: is performance wanted?")
        return Match(9, "6", skipped, do, "—", e.at(DESIGN))
    do = both(
        "做性能评估：加探针，选基线，跑 A、B、C 三步", "evaluate performance: probes, baseline, stages A, B and C"
    )
    return Match(9, "6", skipped, do, "shmem-ops-performance-eval", e.at(perf.REPORT))


def _delivered(e: Evidence) -> bool:
    return all(check.holds for check in review.final(e))


def _row_10(e: Evidence) -> Match | None:
    if e.said("performance_required") is not True:
        return None
    proof = perf.data(e, current=not perf.optimising(e))
    if proof.good:
        return None
    do = both(
        "做性能评估：加探针，选基线，跑 A、B、C 三步", "evaluate performance: probes, baseline, stages A, B and C"
    )
    if proof.verdict == "stale":
        do = both(
            "代码改过：在新的 shell 里重新测基线和 SHMEM",
            "the code was changed: measure baseline and SHMEM again, each in its own shell",
        )
    elif proof.verdict == "failed":
        do = both("补齐 docs/performance_report.md 的 §1–§3，写明是否达标", "complete sections 1 to 3 of docs/performance_report.md and say whether the line is met")  # fmt: skip
    return Match(10, "6", proof.text, do, "shmem-ops-performance-eval", proof.place)


def _row_11(e: Evidence) -> Match | None:
    if not perf.unfinished(e):
        return None
    revised, newest = e.time(DESIGN), e.newest_source
    if revised is None or newest is None or revised <= newest.time + SLACK:
        return None
    why = proofs.by_time(both(f"优化中改了设计，{newest.path} 等代码还是旧的", f"the design was revised in a round, and no code ({newest.path}) is newer"))  # fmt: skip
    do = both("按新设计重新生成代码，再编译、复测", "generate the code from the new design, then build and retest")
    return Match(11, "6.5", why, do, "shmem-ops-code-gen", e.at(DESIGN))


def _row_12(e: Evidence) -> Match | None:
    if not perf.unfinished(e):
        return None
    proof = proofs.build(e)
    if proof.verdict not in ("failed", "stale"):
        return None
    command = code.build_command(e)
    do = both(f"由 code-gen 改到编译通过：{command[0]}；改不动就撤回本轮", f"code-gen mends it until it builds: {command[1]}; else take the round back")  # fmt: skip
    return Match(12, "6.5", proof.text, do, "shmem-ops-code-gen", proof.place)


def _row_13(e: Evidence) -> Match | None:
    if not perf.unfinished(e):
        return None
    number, why, place = perf.next_round(e)
    do = both(
        f"做 Round {number}：一项机制改动，复测正确性，测性能，决定 keep 或 revert",
        f"do Round {number}: one change of mechanism, retest, measure, decide keep or revert",
    )
    if number > perf.wanted(e):
        do = both("用最终代码重测 L 和 S，填 §6", "measure L and S with the final code and fill section 6")
    return Match(13, "6.5", why, do, "shmem-ops-performance-optim", place)


def _row_14(e: Evidence) -> Match | None:
    if not perf.optimising(e) or e.said("torch_required") is not True:
        return None
    proof = torch.passed(e, torch.COUNTS[-1], current=True)
    if proof.good:
        return None
    do = both("重新编译绑定，8 PE 再跑一次并留下日志", "build the binding again, pass on 8 PEs once more, keep the log")
    return Match(14, "regression", proof.text, do, "shmem-ops-torch-bind", proof.place)


ROWS: tuple[Callable[[Evidence], Match | None], ...] = (
    _row_1, _row_2, _row_3, _row_4, _row_5, _row_6, _row_7, _row_8, _row_9, _row_10, _row_11, _row_12, _row_13, _row_14,
)  # fmt: skip
