"""Whole operators in every state of the workflow, made of the corpus operators and of reports written here.

``finished`` makes a complete one with plausible file times; ``RECIPES`` says, for each row of the recovery
matrix, what is taken away from one, spoilt or aged so that this row is the first that fits.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from opdev.facts.report_columns import COLUMNS

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
OPERATORS = ("allgather", "alltoallv", "matmul_allreduce", "put_signal", "reduce_scatter")
START = 1_700_000_000.0
# When each artifact is written, in seconds behind START: what comes later in the workflow is younger.
DESIGN, SCRIPTS, CODE, BINARY, SMOKE, CORRECTNESS, REVIEW, TORCH, PERF = range(100, 1000, 100)
ROUND_CODE, ROUND_BINARY, ROUND_REPORT, REGRESSION, FINAL = 1000, 1050, 1100, 1200, 1300
LATER = 2000
CHECKS = (
    ("CMake 模式", "P0"), ("SHMEM 数据面", "P0"), ("传输 API", "P0"), ("signal/wait", "P0"), ("phase 同步", "P1"), ("block_dim", "P0"),
    ("tile/tail", "P1"), ("main.cpp", "P1"), ("e2e 范围", "P0"), ("GM scratch", "P2"), ("对称内存分配", "P0"), ("代码风格", "P2"),
)  # fmt: skip


@dataclass
class Built:
    """An operator on disk.  Paths are below its root; ``at`` is seconds behind START."""

    root: Path
    name: str

    def write(self, path: str, text: str | bytes, at: float) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        self.age(path, at)

    def age(self, path: str, at: float) -> None:
        os.utime(self.root / path, (START + at, START + at))

    def remove(self, *paths: str) -> None:
        for path in paths:
            target = self.root / path
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a text, not its time."""
        target = self.root / path
        text = target.read_text(encoding="utf-8")
        assert old in text, (path, old)
        stat = target.stat()
        target.write_text(text.replace(old, new), encoding="utf-8")
        os.utime(target, (stat.st_atime, stat.st_mtime))

    def files(self) -> Iterator[str]:
        yield from (p.relative_to(self.root).as_posix() for p in sorted(self.root.rglob("*")) if p.is_file())

    def cases(self) -> list[dict]:
        return json.loads((self.root / "scripts" / "cases.json").read_text(encoding="utf-8"))

    def case(self, scale: str) -> str:
        """The id of a case of that scale on 8 PEs, or on any number of them."""
        found = sorted((c for c in self.cases() if c["scale"] == scale), key=lambda c: c["n_pes"] != 8)
        return found[0]["case_id"]


def copied(folder: Path, name: str) -> Built:
    """A corpus operator as it is after Phase 3 without a build: design, scripts, code; every file with its time."""
    top = folder / "custom-ops"
    top.mkdir(parents=True, exist_ok=True)
    for shared in ("scripts", "torch_binding", name):
        shutil.copytree(CORPUS / shared, top / shared, dirs_exist_ok=True)
    op = Built(top / name, name)
    for path in op.files():
        op.age(path, DESIGN if path == "docs/design.md" else SCRIPTS if path.startswith("scripts/") else CODE)
    return op


def finished(
    folder: Path,
    name: str,
    *,
    torch: bool = True,
    perf: bool = True,
    optimise: bool = False,
    met: bool = True,
    rounds: int = 0,
) -> Built:
    """A delivered operator; ``rounds`` optimisation rounds were done (with five of them it is delivered after those)."""
    op = copied(folder, name)
    flags(op, torch_required=torch, performance_required=perf, performance_auto_optim=optimise)
    op.write(f"build/bin/{name}", b"\x7fELF", BINARY)
    op.write(
        "data/smoke_2pe.log",
        "PE 0: PASS (64 elements)\nPE 1: PASS (64 elements)\nPASS: all 2 PE outputs match\n",
        SMOKE,
    )
    op.write("docs/correctness_report.md", correctness_report(op), CORRECTNESS)
    op.write("docs/case_matrix_report.md", case_matrix_report(op), CORRECTNESS)
    if torch:
        add_torch(op)
    if perf:
        add_perf(op, met=met)
    if rounds:
        add_rounds(op, rounds)
        if torch and rounds == 5:
            torch_log(op, 8, REGRESSION)
    op.write("docs/review-report.md", review_report(op, final=True, perf=perf), FINAL)
    return op


def flags(op: Built, **values: bool) -> None:
    """Set flags of the design's meta."""
    path = op.root / "docs" / "design.md"
    text = path.read_text(encoding="utf-8")
    for key, value in values.items():
        for old in ("true", "false"):
            text = text.replace(f"  {key}: {old}\n", f"  {key}: {str(value).lower()}\n")
    op.write("docs/design.md", text, DESIGN)


def add_torch(op: Built) -> None:
    """Binding, test, library and logs of Phase 5.5."""
    test, binding = f"scripts/torch_test_{op.name}.py", f"../torch_binding/src/torch_bind_{op.name}.cpp"
    if not (op.root / test).exists():
        template = CORPUS / "reduce_scatter" / "scripts" / "torch_test_reduce_scatter.py"
        op.write(test, template.read_text(encoding="utf-8").replace("reduce_scatter", op.name), TORCH)
    if not (op.root / binding).exists():
        template = CORPUS / "torch_binding" / "src" / "torch_bind_reduce_scatter.cpp"
        class_name = "".join(part.capitalize() for part in op.name.split("_"))
        text = (
            template.read_text(encoding="utf-8").replace("reduce_scatter", op.name).replace("ReduceScatter", class_name)
        )
        op.write(binding, text, TORCH)
    op.age(test, TORCH)
    op.age(binding, TORCH)
    op.write("../torch_binding/build/lib/shmem_custom_ops_torch.so", b"\x7fELF", TORCH + 10)
    for count in (2, 8):
        torch_log(op, count, TORCH + 20)


def torch_log(op: Built, count: int, at: float, *, failing: int | None = None) -> None:
    lines = [f"[PE {pe}] {'FAIL: output mismatch!' if pe == failing else 'PASS'}" for pe in range(count)]
    op.write(f"data/torch/torch_{count}pe.log", "\n".join([*lines, "All processes finished successfully"]) + "\n", at)


def add_perf(op: Built, *, met: bool) -> None:
    """Baseline, logs and sections 1 to 3 of the performance report."""
    op.write("baseline/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0\n", CODE)
    text = (op.root / "CMakeLists.txt").read_text(encoding="utf-8")
    op.write("CMakeLists.txt", f"{text}add_subdirectory(baseline)\n", CODE)
    measured = [(1200, 1050, bus) for bus in (111.85, 60.5, 65, 70, 75, 80, 85, 95.5)] + [(30, 25, 20.5)]
    lines = [
        f"[PERF] pe=0 e2e_us={e2e} kernel_us={kernel} kernel_bus_bandwidth_GBps={bus}" for e2e, kernel, bus in measured
    ]
    op.write("data/perf/shmem_8388608_float16.log", "\n".join(lines) + "\n", PERF)
    line = "[BASELINE_PERF] pe=0 e2e_us=1100 kernel_us=1100 kernel_bus_bandwidth_GBps=106.77 api=HcclAllGather\n"
    op.write("data/perf/baseline_8388608_float16.log", line, PERF)
    op.write("docs/performance_report.md", performance_report(op, met=met), PERF + 10)


def add_rounds(op: Built, count: int) -> None:
    """So many optimisation rounds, the code of the last of them built and retested."""
    for path in op.files():
        if path.startswith("src/"):
            op.age(path, ROUND_CODE)
    op.age(f"build/bin/{op.name}", ROUND_BINARY)
    op.write("docs/performance_report.md", performance_report(op, met=False, rounds=count), ROUND_REPORT)


def correctness_report(op: Built, *, failing: str | None = None, blocked: str | None = None, reason: str = "") -> str:
    cases = op.cases()
    bad = sum(c["case_id"] == failing for c in cases)
    open_ = sum(c["case_id"] == blocked for c in cases)
    out = [f"# 正确性报告：{op.name}", "", "## 1. 汇总", "", "| 项 | 值 |", "|---|---|", f"| 总用例数 | {len(cases)} |"]
    out += [
        f"| 通过数 | {len(cases) - bad - open_} |",
        f"| 失败数 | {bad} |",
        f"| 通过率 | {(len(cases) - bad - open_) * 100 / len(cases):.1f}% |",
        f"| 阻塞（未执行）数 | {open_} |",
        "",
    ]
    out += ["## 2. 用例", "", "| Case ID | category | scale | n_pes | shape | dtype | Result | MaxAE | MaxRE | 备注 |", "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for case in cases:
        name = case["case_id"]
        result = "FAIL" if name == failing else "阻塞" if name == blocked else "PASS"
        shape = str(case["shape"])
        note = reason if name == blocked else ""
        out.append(f"| {name} | {case['category']} | {case['scale']} | {case['n_pes']} | {shape} | {case['dtype']} | {result} | 0 | 0 | {note} |")  # fmt: skip
    out += ["", "## 3. 不变式", "", "| Invariant | 验证方式 | 结果 | 说明 |", "|---|---|---|---|"]
    out += [f"| 不变式 {n} | CPU golden | PASS | |" for n in range(1, 9)]
    return "\n".join(out) + "\n"


def case_matrix_report(op: Built) -> str:
    out = [f"# {op.name} 用例矩阵", "", "| Case ID | category | scale | n_pes | dtype | shape | Result | 秒 |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    out += [f"| {c['case_id']} | {c['category']} | {c['scale']} | {c['n_pes']} | {c['dtype']} | {c['shape']} | PASS | 1.0 |" for c in op.cases()]  # fmt: skip
    return "\n".join(out) + "\n"


def review_report(
    op: Built, *, final: bool, perf: bool = True, failing: str | None = None, conclusion: str | None = None
) -> str:
    mode = "final" if final else "interim"
    out = [
        f"# 走读报告：{op.name}",
        "",
        "| 字段 | 内容 |",
        "|---|---|",
        f"| 算子名称 | {op.name} |",
        f"| 报告模式 | {mode} |",
    ]
    out += [
        "| design.md | docs/design.md |",
        f"| 代码目录 | custom-ops/{op.name} |",
        "| 走读时间 | 2026-01-05 |",
        "| SoC | Ascend 910B |",
        "| PE 数 | 8 |",
        "",
        "## 1. 设计一致性检查",
        "",
    ]
    out += ["| 序号 | 检查项 | 严重级别 | 结果 | 说明 |", "|---|---|---|---|---|"]
    for number, (name, priority) in enumerate(CHECKS, 1):
        out.append(f"| {number} | {name} | {priority} | {'FAIL' if name == failing else 'PASS'} | 见代码 |")
    results = (
        correctness_report(op)
        .partition("\n")[2]
        .replace("## 1. 汇总", "## 2. 正确性")
        .replace("## 2. 用例", "### 2.2 用例")
        .replace("## 3. 不变式", "### 2.3 不变式")
    )
    out += [results, "", "## 3. 性能评估", ""]
    if final and perf:
        out += [
            "详见 docs/performance_report.md",
            "",
            "| 指标 | 值 |",
            "|---|---|",
            "| kernel_bus_bandwidth_GBps | 111.85 |",
        ]
    else:
        out.append("待 Phase 6 回填")
    out += [
        "",
        "## 5. 结论",
        "",
        "- 设计一致性：PASS",
        "- 正确性验证：PASS",
        f"- 总体结论：{conclusion or ('可交付' if final else '可进入 Phase 5.5')}",
    ]
    if final:
        out += ["", "## 6. 交付物", "", "| 交付物 | 路径 | 状态 |", "|---|---|---|"]
        out += [f"| 内核 | src/{op.name}_kernel.cpp | ✅ |", "| 设计 | docs/design.md | ✅ |", "| 验收视频 | — | N/A |"]
    return "\n".join(out) + "\n"


def performance_report(op: Built, *, met: bool = True, rounds: int = 0, decided: bool = True) -> str:
    """``rounds`` of them done; sections 5 to 7 are filled when all five are."""
    large, small = op.case("L"), op.case("S")
    ours, mark = (111.85, "PASS") if met else (60.5, "FAIL")
    out = [
        f"# 性能报告：{op.name}",
        "",
        "## 1. 算子信息",
        "",
        "| 项目 | 值 |",
        "|---|---|",
        f"| 算子名 | {op.name} |",
        "",
    ]
    out += [
        "## 2. Baseline 详细信息",
        "",
        "- Type：hccl",
        "- Source API：HcclAllGather",
        "",
        "## 3. 基线数据（Round 0）",
        "",
    ]
    out += ["### 3.1 结果", "", *head("3.1")]  # fmt: skip
    out += [f"| {large} | [33554432] | float16 | 8 | 1200 | 1050 | {ours} | 未测 | 未测 | 未测 |", f"| {small} | [65536] | int32 | 8 | 30 | 25 | 20.5 | 未测 | 未测 | 未测 |", "", "### 3.4 Device Frame", ""]  # fmt: skip
    out += [*head("3.4"), "| 1 | remote_put | 900 | 950 | 40 | 75 | bandwidth |", ""]  # fmt: skip
    out += ["### 3.5 对比", "", *head("3.5")]  # fmt: skip
    out += [
        f"| kernel_bus_bandwidth_GBps | {ours} | 1200 | 1050 | {'106.77' if decided else '-'} | | {mark if decided else ''} |",
        "",
        "## 4. 优化记录",
        "",
    ]
    for number in range(1, rounds + 1):
        out += round_(number)
    if rounds == 5:
        out += [
            "## 5. 轮次总览",
            "",
            *head("5"),
        ]
        out += [f"| {n} | 机制 | 双缓冲 {n} | {n}.1 | {60 + 5 * n} | 未测 | 未测 | keep |" for n in range(1, 6)]
        for section, scale in (("6.1", "L"), ("6.2", "S")):
            out += ["", "## 6. 最终对比" if scale == "L" else "", "", f"### {section} {scale}", "", "| 指标 | SHMEM 最终 | HCCL | SHMEM/基线 | 达标 |", "|---|---|---|---|---|"]  # fmt: skip
            out += ["| kernel_bus_bandwidth_GBps | 95.5 | 106.77 | 89.4% | PASS |"]
        out += ["", "## 7. 结论", "", "达标状态：达标"]
    return "\n".join(out) + "\n"


def head(section: str) -> list[str]:
    """The header of the section's table, with the line below it."""
    titles = COLUMNS[section]
    return [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]


def round_(number: int, decision: str = "keep", correctness: str = "PASS") -> list[str]:
    return [
        f"### Round {number}：双缓冲", "", "机制改动：发送与等待重叠", "",
        *head("4"),
        f"| {number}.1 | 两块 UB 轮换 | {correctness} | 未测 | 未测 | 未测 | {60 + 5 * number} | 未测 | |", "", f"决策：{decision}", "",
    ]  # fmt: skip


# What each row is made of: (what it shows, operators, how it is made).  The fixture of a row must be told by it.
Make = Callable[[Path, str], Built]
RECIPES: dict[int, list[tuple[str, str, Make]]] = {}


def recipe(row: int, what: str, *names: str) -> Callable[[Make], Make]:
    """Register how a row's operator is made, for each of some corpus operators."""

    def register(make: Make) -> Make:
        RECIPES.setdefault(row, []).extend((what, name, make) for name in names)
        return make

    return register
