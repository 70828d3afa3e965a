"""For each row of the recovery matrix the operators it must be told by: what is missing, spoilt or too old."""

from __future__ import annotations

import re
from pathlib import Path

from build import (
    BINARY,
    CODE,
    DESIGN,
    FINAL,
    LATER,
    PERF,
    REGRESSION,
    REVIEW,
    ROUND_REPORT,
    TORCH,
    Built,
    copied,
    correctness_report,
    finished,
    flags,
    performance_report,
    recipe,
    review_report,
    round_,
    torch_log,
)


@recipe(1, "nothing but an empty folder", "allgather", "put_signal", "reduce_scatter")
def empty(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove(*op.files())
    return op


@recipe(1, "code and scripts, no design", "alltoallv", "matmul_allreduce")
def no_design(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.remove("docs/design.md")
    return op


@recipe(1, "the design lies in the operator's root", "allgather")
def stray_design(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    (op.root / "docs" / "design.md").rename(op.root / "design.md")
    return op


@recipe(2, "a design without a DSL", "allgather", "reduce_scatter")
def prose_only(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.write("docs/design.md", f"# {name} 设计\n\n## 1. 接口\n\n每个 PE 一段，按 PE 号排列。\n", DESIGN)
    return op


@recipe(2, "a DSL that stops in the middle", "alltoallv", "put_signal")
def half_written(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    text = (op.root / "docs" / "design.md").read_text(encoding="utf-8")
    op.write("docs/design.md", text[: text.index("\nschedule:")] + "\n", DESIGN)
    return op


@recipe(2, "the template's placeholders are left", "matmul_allreduce", "allgather")
def placeholders(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.replace("docs/design.md", f"op_name: {name}", "op_name: replace_me")
    return op


@recipe(3, "no scripts at all", "allgather", "alltoallv")
def no_scripts(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove("scripts", "src", "CMakeLists.txt", "README.md")
    return op


@recipe(3, "a script is missing", "put_signal", "reduce_scatter")
def one_script_short(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove("scripts/check_result.py")
    return op


@recipe(3, "a folder where a script should be", "matmul_allreduce")
def folder_for_script(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove("scripts/run.sh")
    (op.root / "scripts" / "run.sh").mkdir()
    return op


@recipe(4, "design and scripts, no code", "allgather", "matmul_allreduce")
def no_code(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove("src", "CMakeLists.txt", "README.md")
    return op


@recipe(4, "headers only", "reduce_scatter", "put_signal")
def headers_only(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove(*[p for p in op.files() if p.endswith(".cpp")])
    return op


@recipe(4, "the kernel of a delivered operator was deleted", "allgather", "alltoallv")
def kernel_deleted(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.remove(f"src/{name}_kernel.cpp")
    return op


@recipe(4, "the host program was never written", "reduce_scatter")
def no_host(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.remove("src/main.cpp")
    return op


@recipe(5, "never built", "allgather", "put_signal")
def never_built(folder: Path, name: str) -> Built:
    return copied(folder, name)


@recipe(5, "the build log has an error", "alltoallv", "reduce_scatter")
def build_fails(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    log = f"[ 50%] Building\nsrc/{name}_kernel.cpp:42:7: error: use of undeclared identifier 'peer'\nmake: *** [all] Error 2\n"
    op.write("build/build.log", log, BINARY)
    return op


@recipe(5, "the code was changed after the build and after its report", "matmul_allreduce", "reduce_scatter")
def changed_since_build(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.age(f"src/{name}_kernel.cpp", LATER)
    return op


@recipe(5, "a record says that the build failed, whatever the file times say", "put_signal")
def recorded_failure(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    line = '{"step": "build", "result": "fail", "time": %f, "message": "undefined symbol: aclshmem_malloc"}\n'
    op.write(".opdev/runs/r1/events.jsonl", line % (1_700_000_000 + LATER), LATER)
    return op


@recipe(6, "every case is blocked, with a reason", "put_signal")
def all_blocked(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    text = re.sub(r"\| PASS \| 0 \| 0 \|  \|", "| 阻塞 | | | 没有机器 |", correctness_report(op))
    op.write("docs/correctness_report.md", re.sub(r"(通过数 \|) \d+", r"\1 0", text), LATER)
    return op


@recipe(6, "totals without a single case", "alltoallv")
def totals_only(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/correctness_report.md", correctness_report(op).split("## 2.")[0] + "全部通过，SUCCESS\n", LATER)
    return op


@recipe(6, "built, no report", "allgather", "alltoallv")
def no_report(folder: Path, name: str) -> Built:
    op = copied(folder, name)
    op.write(f"build/bin/{name}", b"\x7fELF", BINARY)
    return op


@recipe(6, "a case fails", "put_signal", "matmul_allreduce")
def case_fails(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/correctness_report.md", correctness_report(op, failing=op.case("M")), FINAL)
    return op


@recipe(6, "the report is older than the code, which was built again", "reduce_scatter", "allgather")
def stale_report(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.age(f"src/{name}_kernel.cpp", LATER)
    op.age(f"build/bin/{name}", LATER + 50)
    return op


@recipe(6, "a case is blocked without a reason", "allgather")
def blocked_without_reason(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/correctness_report.md", correctness_report(op, blocked=op.case("L")), FINAL)
    return op


@recipe(7, "no review", "allgather", "alltoallv")
def no_review(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.remove("docs/review-report.md")
    return op


@recipe(7, "a P0 row fails", "reduce_scatter", "matmul_allreduce")
def review_fails(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/review-report.md", review_report(op, final=False, failing="signal/wait"), REVIEW)
    return op


@recipe(7, "the conclusion asks for repairs", "put_signal")
def needs_repair(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/review-report.md", review_report(op, final=False, conclusion="需修复"), REVIEW)
    return op


def reviewed(folder: Path, name: str, **flag: bool) -> Built:
    """After the interim review: nothing of Torch or performance yet."""
    op = finished(folder, name, torch=False, perf=False)
    flags(op, **{"torch_required": True, "performance_required": True, "performance_auto_optim": False, **flag})
    op.write("docs/review-report.md", review_report(op, final=False), REVIEW)
    for path in [p for p in op.files() if "torch_test" in p]:
        op.remove(path)
    return op


@recipe(8, "no Torch test", "allgather", "put_signal")
def no_torch(folder: Path, name: str) -> Built:
    return reviewed(folder, name)


@recipe(8, "passed on 2 PEs only", "reduce_scatter", "alltoallv")
def torch_on_two(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.remove("data/torch/torch_8pe.log", "data/perf", "docs/performance_report.md")
    return op


@recipe(8, "a PE fails on 8 although the last line says success", "matmul_allreduce")
def torch_fails(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    torch_log(op, 8, TORCH + 20, failing=3)
    return op


@recipe(9, "no Torch wanted, performance is next", "allgather", "put_signal", "matmul_allreduce")
def no_torch_wanted(folder: Path, name: str) -> Built:
    return reviewed(folder, name, torch_required=False)


@recipe(9, "neither Torch nor performance wanted, the delivery is next", "alltoallv", "reduce_scatter")
def neither_wanted(folder: Path, name: str) -> Built:
    return reviewed(folder, name, torch_required=False, performance_required=False)


@recipe(10, "Torch done, nothing measured", "allgather", "alltoallv")
def nothing_measured(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.remove("data/perf", "docs/performance_report.md")
    return op


@recipe(10, "measured, but no decision", "put_signal", "reduce_scatter")
def no_decision(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.write("docs/performance_report.md", performance_report(op, decided=False), PERF + 10)
    return op


@recipe(10, "the numbers are older than the code, which was retested", "matmul_allreduce", "allgather")
def stale_numbers(folder: Path, name: str) -> Built:
    op = finished(folder, name)
    op.age(f"src/{name}_kernel.cpp", LATER)
    op.age(f"build/bin/{name}", LATER + 10)
    for report in ("correctness", "case_matrix"):
        op.age(f"docs/{report}_report.md", LATER + 20)
    return op


@recipe(10, "no Torch wanted, a log and no report", "alltoallv")
def log_only(folder: Path, name: str) -> Built:
    op = finished(folder, name, torch=False)
    op.remove("docs/performance_report.md")
    return op


@recipe(11, "the design was revised after two rounds", "allgather", "reduce_scatter", "put_signal")
def design_revised(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=2)
    op.age("docs/design.md", LATER)
    return op


@recipe(11, "the design was revised before the first round", "matmul_allreduce")
def design_revised_first(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False)
    op.age("docs/design.md", LATER)
    return op


@recipe(12, "the code of a round was not built", "allgather", "alltoallv")
def round_not_built(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=2)
    op.age(f"src/{name}_kernel.cpp", LATER)
    return op


@recipe(12, "the code of a round does not build", "reduce_scatter", "matmul_allreduce")
def round_fails(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=1)
    op.age(f"src/{name}_kernel.cpp", LATER)
    op.write("build/build.log", f"src/{name}_kernel.cpp:9:1: error: expected expression\n", LATER + 10)
    return op


@recipe(13, "the line is missed, no round yet", "allgather", "put_signal")
def no_round_yet(folder: Path, name: str) -> Built:
    return finished(folder, name, optimise=True, met=False)


@recipe(13, "three rounds of five", "reduce_scatter", "alltoallv")
def three_rounds(folder: Path, name: str) -> Built:
    return finished(folder, name, optimise=True, met=False, rounds=3)


@recipe(13, "a round without a decision", "matmul_allreduce")
def undecided_round(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=1)
    text = performance_report(op, met=False, rounds=1) + "\n".join(round_(2, decision=""))
    op.write("docs/performance_report.md", text, ROUND_REPORT)
    return op


@recipe(14, "the Torch test is older than the optimised code", "allgather", "reduce_scatter", "alltoallv")
def torch_before_rounds(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=5)
    torch_log(op, 8, TORCH + 20)
    return op


@recipe(14, "the regression fails", "put_signal")
def regression_fails(folder: Path, name: str) -> Built:
    op = finished(folder, name, optimise=True, met=False, rounds=5)
    torch_log(op, 8, REGRESSION, failing=7)
    return op


__all__ = ["CODE", "reviewed"]
