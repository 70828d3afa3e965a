"""performance_report.md, sections 1 to 7, from documents: every figure with the run and the lines it is from.

Hardware only: simulated figures never get into the report.  What was not measured says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opdev.blocks import Section
from opdev.facts.report_columns import COLUMNS
from opdev.perf import cells
from opdev.perf.report_rounds import NONE as _NONE
from opdev.perf.report_rounds import PURE, frame_table, overview, records
from opdev.perf.rows import RoundRow
from opdev.perf.tables import BUS

_ROWS = (
    (BUS, "kernel_bus_bandwidth_GBps"), ("e2e_us", "e2e_latency_us"), ("kernel_us", "kernel_latency_us"),
    ("algo_bandwidth_GBps", "algo_bandwidth_GBps"), ("e2e_bus_bandwidth_GBps", "e2e_bus_bandwidth_GBps"),
    ("bandwidth_utilization_pct", "bandwidth_utilization_pct"),
)  # fmt: skip
_VERDICTS = {
    "pass": "PASS", "fail": "FAIL", "noisy": "无法判断（波动太大）", "unmeasured": "未测", "incomparable": "不可比",
    "simulated": "未测",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """What the report says that was not measured: from the design, and from what runs recorded."""

    operator: str
    dtypes: tuple[str, ...] = ()
    soc: str = ""
    target: str = ""
    baseline: str = ""
    search: str = ""
    shapes: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[str] = ()
    simulated: Sequence[str] = ()
    """Runs that have simulated figures."""
    op_kind: str = ""


def sections(
    document: Mapping[str, Any], facts: Facts, rounds: Sequence[RoundRow], now: Mapping[str, Any] | None = None
) -> list[Section]:
    """The report's sections; ``document`` holds what hardware measured of Round 0, ``now`` what it did of the present code."""
    made = _Report(document, facts)
    last = _Report(now, facts) if now is not None else made
    return [
        Section("1", "## 1. 算子信息", made.information()),
        Section("2", "## 2. Baseline 详细信息", made.baseline()),
        Section("3", "## 3. 基线数据（Round 0）"),
        Section("3.1", "### 3.1 性能数据", made.measured()),
        Section("3.2", "### 3.2 带宽计算", made.bandwidth()),
        Section("3.3", "### 3.3 计算利用率", made.compute()),
        Section("3.4", "### 3.4 Device Frame", made.frames()),
        Section("3.5", "### 3.5 与基线对比", made.against()),
        Section("4", "## 4. 优化记录", records(rounds, pure=facts.op_kind in PURE)),
        Section("5", "## 5. 轮次总览", overview(rounds)),
        Section("6", "## 6. 最终对比"),
        Section("6.1", "### 6.1 L 规模", last.final("L")),
        Section("6.2", "### 6.2 S 规模", last.final("S")),
        Section("7", "## 7. 结论", last.conclusion(), "最终配置、优化路径总结、残留瓶颈、建议后续方向：请写在这里。"),
    ]


@dataclass(frozen=True, slots=True)
class Decided:
    """The case that decides: its metrics as the final table has them, its verdict with the reason, where they are from."""

    case: str
    verdict: str
    why: str
    rows: Sequence[tuple[str, ...]]
    sources: Sequence[str]


def decided(document: Mapping[str, Any], facts: Facts) -> Decided | None:
    """What hardware says of the case that decides; None where it measured nothing."""
    made = _Report(document, facts)
    found = made.main()
    if found is None:
        return None
    ours, theirs, verdict = found
    usable = theirs if verdict["verdict"] in ("pass", "fail", "noisy") else None
    word = _VERDICTS[verdict["verdict"]]
    rows = [
        (label, cells.median(ours, metric), cells.median(usable, metric) if usable else "-", cells.ratio(ours, usable, metric), word if metric == BUS else "-")
        for label, metric in (
            ("e2e_latency_us", "e2e_us"), ("kernel_latency_us", "kernel_us"), ("algo_bandwidth_GBps", "algo_bandwidth_GBps"), (BUS, BUS),
        )
    ]  # fmt: skip
    return Decided(ours["case"], word, verdict["why"]["zh"], rows, cells.sources([ours, *([theirs] if theirs else [])]))


class _Report:
    def __init__(self, document: Mapping[str, Any], facts: Facts) -> None:
        self.facts = facts
        every = document["groups"]
        self.groups = [g for g in every if g["backend"] == "hardware" and g["used"]]
        self.ours = [g for g in self.groups if g["side"] == "shmem"]
        self.theirs = [g for g in self.groups if g["side"] == "baseline"]
        self.frames_ = [f for f in document["frames"] if f["backend"] == "hardware"]
        self.lacking = [text["zh"] for text in document["lacking"]]
        self.pairs = [
            (every[c["group"]], every[c["baseline"]] if c["baseline"] is not None else None, c)
            for c in document["comparisons"]
            if every[c["group"]]["backend"] == "hardware" and every[c["group"]]["used"]
        ]

    def nothing(self, what: str) -> str:
        """That something was not measured, and whether the stand-in did."""
        text = f"{what}{_NONE}：运行记录里没有硬件上的数据。"
        if self.facts.simulated:
            text += f"（只有模拟数据：{'、'.join(self.facts.simulated[:3])}，不写入报告。）"
        return text

    def information(self) -> str:
        f = self.facts
        pes = sorted({g["n_pes"] for g in self.ours if g["n_pes"]})
        shapes = dict.fromkeys(_shape(g, f) for g in self.ours)
        rows = [
            ("算子名", f.operator), ("Shape", "、".join(shapes) or _NONE), ("dtype", "、".join(f.dtypes) or "未写明"),
            ("PE 数", "、".join(map(str, pes)) or _NONE), ("SoC", f.soc or "未写明"), ("目标指标", f.target or "未写明"),
            ("baseline 来源", f.baseline or "未写明"),
        ]  # fmt: skip
        return cells.table(("项目", "值"), rows)

    def baseline(self) -> str:
        f = self.facts
        name = f.baseline
        lowered = name.lower()
        kind = next((k for k in ("hccl", "aclnn", "stitched", "metric_only") if lowered.startswith(k)), "")
        measured = self.nothing("基线") if kind != "metric_only" else "没有基线，看链路利用率"
        if self.theirs:
            measured = "；".join(f"{g['case']}：采用 {g['used']} 次" for g in self.theirs)
        lines = [
            f"- Type: {kind or '未写明'}", f"- Source API: {name or '未写明'}", f"- Search process: {f.search or '未写明'}",
            f"- Measurement: {measured}",
        ]  # fmt: skip
        lines += [f"- Command: `{command}`" for command in f.commands[:4]]
        return "\n".join([*lines, *cells.sources(self.theirs)])

    def measured(self) -> str:
        if not self.ours:
            return self.nothing("性能")
        rows = [
            (
                g["case"], _shape(g, self.facts), g["dtype"] or "-", g["n_pes"] or "-", cells.median(g, "e2e_us"), cells.median(g, "kernel_us"),
                cells.median(g, BUS), cells.median(g, "algo_bandwidth_GBps"), cells.median(g, "e2e_bus_bandwidth_GBps"),
                cells.median(g, "bandwidth_utilization_pct"),
            )
            for g in self.ours
        ]  # fmt: skip
        notes = [f"- {text}" for text in self.lacking]
        return "\n".join([cells.table(COLUMNS["3.1"], rows), *cells.sources(self.ours), *notes])

    def bandwidth(self) -> str:
        if not self.ours:
            return self.nothing("带宽")
        rows = [
            (g["case"], f"{g['payload_bytes']:.0f}", cells.plain(g["bus_factor"]), cells.plain(g["peak_bandwidth_GBps"]), cells.median(g, "bandwidth_utilization_pct"))
            for g in self.ours
        ]  # fmt: skip
        return "\n".join([cells.table(COLUMNS["3.2"], rows), *cells.sources(self.ours)])

    def compute(self) -> str:
        if self.facts.op_kind in PURE:
            return "N/A：纯通信算子，没有计算阶段。"
        return f"{_NONE}：运行记录里没有计算量与计算区段的数据。"

    def frames(self) -> str:
        return frame_table(self.frames_) or f"{_NONE}：运行记录里没有 Device Frame 的数据。"

    def main(self, scale: str = "") -> tuple[Mapping[str, Any], Mapping[str, Any] | None, Mapping[str, Any]] | None:
        """The case that decides: L before others, the most PEs, the largest payload."""
        found = [p for p in self.pairs if not scale or p[0]["tier"] == scale]
        return max(found, key=lambda p: (p[0]["tier"] == "L", p[0]["n_pes"] or 0, p[0]["payload_bytes"]), default=None)

    def against(self) -> str:
        found = self.main()
        if found is None:
            return self.nothing("对比")
        ours, theirs, verdict = found
        usable = theirs if verdict["verdict"] in ("pass", "fail", "noisy") else None
        rows = [
            (
                BUS, cells.median(ours, BUS), "-", "-", cells.median(usable, BUS) if usable else "-",
                cells.delta(ours, usable, BUS), _VERDICTS[verdict["verdict"]],
            ),
            ("e2e_latency_us", "-", cells.median(ours, "e2e_us"), cells.median(ours, "kernel_us"), "-", cells.delta(ours, usable, "e2e_us"), "-"),
        ]  # fmt: skip
        return "\n".join([
            cells.table(COLUMNS["3.5"], rows), "", f"{ours['case']}：{verdict['why']['zh']}。", *cells.sources([ours, *([theirs] if theirs else [])])
        ])  # fmt: skip

    def final(self, scale: str) -> str:
        found = self.main(scale)
        if found is None:
            return self.nothing(f"{scale} 规模")
        ours, theirs, verdict = found
        usable = theirs if verdict["verdict"] in ("pass", "fail", "noisy") else None
        name = (usable["api"] or "基线") if usable else "基线"
        rows = []
        for metric, label in _ROWS:
            rows.append((
                label, cells.median(ours, metric), cells.median(usable, metric) if usable else "-", cells.ratio(ours, usable, metric),
                _VERDICTS[verdict["verdict"]] if metric == BUS else "-",
            ))  # fmt: skip
        rows.append(("compute_utilization_pct", "N/A", "-", "-", "-"))
        first, last, ratio, met = COLUMNS["6.1"]
        table = cells.table((first, last, name, ratio, met), rows)
        return "\n".join([table, "", f"{ours['case']}：{verdict['why']['zh']}。", *cells.sources([ours, *([theirs] if theirs else [])])])  # fmt: skip

    def conclusion(self) -> str:
        found = self.main()
        if found is None:
            return f"达标状态：{_NONE}"
        return f"达标状态：{_VERDICTS[found[2]['verdict']]}（{found[0]['case']}：{found[2]['why']['zh']}）"


def _shape(group: Mapping[str, Any], facts: Facts) -> str:
    return facts.shapes.get(group["case"]) or (f"({group['count']},)" if group["count"] else "-")
