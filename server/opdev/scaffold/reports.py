"""Reports that people write, begun: what records and reports say is filled in, every judgement is left open.

A number stands here only where a report or a record of this operator has it, with its backend.  ``HOLE`` marks what is
for the reviewer to say, and keeps the gate closed until it is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opdev.facts.reports import CorrectnessReport
from opdev.scaffold.missing import HOLE, Made
from opdev.scaffold.render import Rendered
from opdev.scaffold.write import write_new

REVIEW = "docs/review-report.md"
SUMMARY = "docs/delivery_summary.md"
_PENDING = "待 Phase 6 性能采集后补齐"
_CHECKS = (
    ("CMake 构建模式与 design 一致", "P0"), ("跨 PE 搬运使用 SHMEM 数据面接口", "P0"), ("Transport API 与 design 一致", "P0"),
    ("Signal/Wait 配对正确", "P0"), ("Phase 边界同步与 design 一致", "P1"), ("Block dim 与 design core_partition 一致", "P0"),
    ("Tile/Chunk/Tail 处理正确", "P1"), ("main.cpp 不含复杂逻辑", "P1"), ("e2e 计时口径正确", "P0"), ("无多余 GM scratch 中转", "P2"),
    ("Symmetric allocation 顺序和大小所有 PE 一致", "P0"), ("代码风格符合 code-style.md", "P2"),
)  # fmt: skip
_METRICS = ("e2e_latency_us", "kernel_latency_us", "algo_bandwidth_GBps", "kernel_bus_bandwidth_GBps")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an operator: flags (None: nobody said), its correctness report, its records as lines."""

    root: str
    name: str
    socs: Sequence[str] = ()
    torch: bool | None = None
    perf: bool | None = None
    simulated: bool = False
    report: CorrectnessReport | None = None
    records: Sequence[str] = ()
    commands: Mapping[str, str] | None = None

    def exists(self, relative: str) -> bool:
        return os.path.exists(os.path.join(self.root, relative))


def review(known: Known) -> Made:
    """docs/review-report.md where there is none (interim)."""
    made = write_new(known.root, [Rendered(REVIEW, "\n".join(_review(known)) + "\n")])
    return Made(made.new, {
        "zh": f"由记录写出 {REVIEW}：数据已填，{HOLE} 处是走读人的判断",
        "en": f"{REVIEW} was begun from the records: figures are filled in, {HOLE} is for the reviewer to judge",
    })  # fmt: skip


def summary(known: Known) -> Made:
    """docs/delivery_summary.md where there is none."""
    made = write_new(known.root, [Rendered(SUMMARY, "\n".join(_summary(known)) + "\n")])
    return Made(made.new, {
        "zh": f"写出 {SUMMARY}：已有的结果已填，{HOLE} 处由交付人写",
        "en": f"{SUMMARY} was begun: known results are filled in, {HOLE} is for whoever delivers",
    })  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    def cell(value: object) -> str:
        return str(value).replace("|", "\\|") if value not in ("", None) else "-"

    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(map(cell, row))} |" for row in rows)]


def _pes(known: Known) -> str:
    rows = known.report.rows if known.report is not None else ()
    return "、".join(str(n) for n in sorted({row.n_pes for row in rows if row.n_pes is not None})) or HOLE


def _backend(known: Known) -> list[str]:
    return ["", "后端：CPU 模拟（backend: sim），不代表 NPU 上的结果。"] if known.simulated else []


def _totals(known: Known) -> list[str]:
    found = known.report.summary if known.report is not None else None
    rows = known.report.rows if known.report is not None else ()
    total, passed = len(rows), sum(row.result == "PASS" for row in rows)
    failed = sum(row.result == "FAIL" for row in rows)
    if not rows and found is not None and found.total is not None:
        total, passed, failed = found.total, found.passed or 0, found.failed or 0
    if not total:
        return [f"{HOLE} 没有 docs/correctness_report.md 的结果：先运行 opdev run 4"]
    rate = f"{100 * passed / total:.1f}%"
    figures = (
        ("总用例数", total),
        ("通过数", passed),
        ("失败数", failed),
        ("通过率", rate),
        ("阻塞（未执行）数", total - passed - failed),
    )
    return _table(("指标", "值"), figures)


def _cases(known: Known) -> list[str]:
    rows = known.report.rows if known.report is not None else ()
    head = ("Case ID", "category", "scale", "n_pes", "shape", "dtype", "Result", "MaxAE", "MaxRE", "备注")
    body = [
        (r.id, r.category, r.scale, r.n_pes, r.shape, r.dtype, r.result, _said(r, "maxae"), _said(r, "maxre"), r.note)
        for r in rows
    ]
    return _table(head, body) if body else [f"{HOLE} 没有逐个用例的结果"]


def _said(row: object, name: str) -> object:
    for spelling in (name, name.replace("max", "max_")):
        value = getattr(row, spelling, None)
        if value is not None:
            return value
    return "-"


def _invariants(known: Known) -> list[str]:
    rows = known.report.invariants if known.report is not None else ()
    body = [(r.text, r.method, r.result, r.note) for r in rows]
    return _table(("Invariant", "验证方式", "结果", "说明"), body) if body else [f"{HOLE} 报告里没有不变量表"]


def _mark(there: bool, otherwise: str = "待补齐") -> str:
    return "✅" if there else otherwise


def _review(known: Known) -> list[str]:
    name, perf = known.name, known.perf is not False
    info = (
        ("算子名称", name), ("报告模式", "interim"), ("design.md", "docs/design.md"), ("代码目录", "src/"), ("走读时间", HOLE),
        ("SoC", "、".join(known.socs) or HOLE), ("PE 数", _pes(known)),
    )  # fmt: skip
    out = [f"# {name} 走读报告", "", "## 走读信息", "", *_table(("字段", "内容"), info)]
    checks = [(number, title, level, HOLE, "") for number, (title, level) in enumerate(_CHECKS, 1)]
    out += ["", "## 1. 设计一致性检查", "", *_table(("序号", "检查项", "严重级别", "结果", "说明"), checks)]
    out += ["", "结果写 PASS、FAIL 或 N/A（说明里写原因）。P0=致命（必须修复）、P1=严重（强烈建议修复）、P2=建议。"]
    out += ["", "## 2. 正确性验证结果", *_backend(known), "", "### 2.1 汇总", "", *_totals(known)]
    out += ["", "### 2.2 全量 Case 结果", "", *_cases(known), "", "### 2.3 Invariant 验证", "", *_invariants(known)]
    if known.records:
        out += ["", "### 2.4 运行记录", "", *(f"- {line}" for line in known.records)]
    value = _PENDING if perf else "未做性能验证"
    rows = [
        ("性能报告", value),
        ("基线类型", value),
        ("达标状态", "待 Phase 6 补齐" if perf else value),
        ("优化轮次", value),
    ]
    out += ["", "## 3. 性能评估摘要", "", *_table(("指标", "值"), rows), "", "### 性能关键指标", ""]
    out += _table(
        ("指标", "SHMEM 最终", "基线", "SHMEM/基线", "达标"), [(m, value, value, value, value) for m in _METRICS]
    )
    risks = [("R1", HOLE, HOLE, HOLE, HOLE)]
    out += ["", "## 4. 已知限制与风险", "", *_table(("编号", "类别", "描述", "严重级别", "状态"), risks)]
    state = "待 Phase 6 补齐" if perf else "未做性能验证"
    out += ["", "## 5. 结论", "", f"- **设计一致性**：{HOLE}", f"- **正确性验证**：{HOLE}", f"- **性能达标**：{state}"]
    out += [
        f"- **总体结论**：{HOLE}",
        "",
        "总体结论写“可进入 Phase 5.5”“可交付”或“需修复”。",
        "",
        "## 6. 交付物清单",
        "",
    ]
    return [*out, *_table(("交付物", "路径", "状态"), _deliverables(known))]


def _deliverables(known: Known) -> list[tuple[str, str, str]]:
    name = known.name
    absent = "N/A" if known.torch is False else "待补齐"
    library = "../torch_binding/build/lib/shmem_custom_ops_torch.so"
    return [
        ("design.md", "docs/design.md", _mark(known.exists("docs/design.md"))),
        ("算子代码", "src/", _mark(known.exists("src"))),
        ("测试脚本", "scripts/", _mark(known.exists("scripts"))),
        ("correctness_report.md", "docs/correctness_report.md", _mark(known.exists("docs/correctness_report.md"))),
        ("review-report.md（本文档）", REVIEW, "✅"),
        ("Torch 绑定库", "torch_binding/build/lib/", _mark(known.torch is True and known.exists(library), absent)),
        (f"torch_test_{name}.py", f"scripts/torch_test_{name}.py", _mark(known.torch is True and known.exists(f"scripts/torch_test_{name}.py"), absent)),
        ("performance_report.md", "docs/performance_report.md", "N/A" if known.perf is False else _mark(known.exists("docs/performance_report.md"))),
    ]  # fmt: skip


def _summary(known: Known) -> list[str]:
    name, given = known.name, known.commands or {}
    out = [f"# {name} 交付总结", "", "## 1. 算子与设计", "", f"- 算子：{name}", "- 设计：docs/design.md"]
    out += [f"- 摘要：{HOLE}", "", "## 2. 目录检查", "", *_table(("交付物", "路径", "状态"), _deliverables(known))]
    out += ["", "## 3. 改动的文件", "", HOLE, "", "## 4. 命令", ""]
    out += [f"- 编译：{given.get('command') or HOLE}", f"- 单个用例：{given.get('run_command') or HOLE}"]
    out += [
        f"- 用例矩阵：{given.get('matrix_command') or HOLE}",
        "",
        "## 5. 正确性",
        *_backend(known),
        "",
        *_totals(known),
    ]
    torch = "不需要（torch_required 为 false）" if known.torch is False else HOLE
    out += ["", "逐个用例见 docs/correctness_report.md。", "", "## 6. Torch", "", torch]
    if known.perf is False:
        out += ["", "## 7. 性能", "", "未做性能验证（performance_required 为 false）。"]
    else:
        out += ["", "## 7. 性能", "", f"- S 与 L 规模的 kernel_bus 对比：{HOLE}", f"- 各轮 Δ% 与最终表：{HOLE}"]
    out += ["", "## 8. 未尽事项", "", f"- 待定项：{HOLE}", f"- 未验证项：{HOLE}", f"- 阻塞：{HOLE}", f"- 风险：{HOLE}"]
    return out
