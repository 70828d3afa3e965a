"""performance_report.md, sections 1 to 7, from documents: every figure with the run and the lines it is from.

Hardware only: simulated figures never get into the report.  What was not measured says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opdev.blocks import Section
from opdev.perf.formulas import delta_pct, percent
from opdev.perf.rows import RoundRow
from opdev.perf.tables import shown

BUS = "kernel_bus_bandwidth_GBps"
_NONE = "未测"
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


def sections(document: Mapping[str, Any], facts: Facts, rounds: Sequence[RoundRow]) -> list[Section]:
    """The report's sections; ``document`` holds what hardware measured."""
    made = _Report(document, facts, rounds)
    return [
        Section("1", "## 1. 算子信息", made.information()),
        Section("2", "## 2. Baseline 详细信息", made.baseline()),
        Section("3", "## 3. 基线数据（Round 0）"),
        Section("3.1", "### 3.1 性能数据", made.measured()),
        Section("3.2", "### 3.2 带宽计算", made.bandwidth()),
        Section("3.3", "### 3.3 计算利用率", made.compute()),
        Section("3.4", "### 3.4 Device Frame", made.frames()),
        Section("3.5", "### 3.5 与基线对比", made.against()),
        Section("4", "## 4. 优化记录", made.steps()),
        Section("5", "## 5. 轮次总览", made.overview()),
        Section("6", "## 6. 最终对比"),
        Section("6.1", "### 6.1 L 规模", made.final("L")),
        Section("6.2", "### 6.2 S 规模", made.final("S")),
        Section("7", "## 7. 结论", made.conclusion(), "最终配置、优化路径总结、残留瓶颈、建议后续方向：请写在这里。"),
    ]


@dataclass(frozen=True, slots=True)
class Decided:
    """The case that decides: its metrics as the final table has them, its verdict with the reason, where they are from."""

    case: str
    verdict: str
    why: str
    rows: Sequence[tuple[str, ...]]
    sources: Sequence[str]


def decided(document: Mapping[str, Any], facts: Facts, rounds: Sequence[RoundRow]) -> Decided | None:
    """What hardware says of the case that decides; None where it measured nothing."""
    made = _Report(document, facts, rounds)
    found = made.main()
    if found is None:
        return None
    ours, theirs, verdict = found
    usable = theirs if verdict["verdict"] in ("pass", "fail", "noisy") else None
    word = _VERDICTS[verdict["verdict"]]
    rows = [
        (label, _median(ours, metric), _median(usable, metric) if usable else "-", _ratio(ours, usable, metric), word if metric == BUS else "-")
        for label, metric in (
            ("e2e_latency_us", "e2e_us"), ("kernel_latency_us", "kernel_us"), ("algo_bandwidth_GBps", "algo_bandwidth_GBps"), (BUS, BUS),
        )
    ]  # fmt: skip
    return Decided(ours["case"], word, verdict["why"]["zh"], rows, _sources([ours, *([theirs] if theirs else [])]))


class _Report:
    def __init__(self, document: Mapping[str, Any], facts: Facts, rounds: Sequence[RoundRow]) -> None:
        self.facts, self.rounds = facts, rounds
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
        return _table(("项目", "值"), rows)

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
        return "\n".join([*lines, *_sources(self.theirs)])

    def measured(self) -> str:
        if not self.ours:
            return self.nothing("性能")
        header = (
            "case_id", "shape", "dtype", "n_pes", "e2e_us", "kernel_us", "kernel_bus_bandwidth_GBps", "algo_GBps",
            "e2e_bus_bandwidth_GBps", "utilization%",
        )  # fmt: skip
        rows = [
            (
                g["case"], _shape(g, self.facts), g["dtype"] or "-", g["n_pes"] or "-", _median(g, "e2e_us"), _median(g, "kernel_us"),
                _median(g, BUS), _median(g, "algo_bandwidth_GBps"), _median(g, "e2e_bus_bandwidth_GBps"),
                _median(g, "bandwidth_utilization_pct"),
            )
            for g in self.ours
        ]  # fmt: skip
        notes = [f"- {text}" for text in self.lacking]
        return "\n".join([_table(header, rows), *_sources(self.ours), *notes])

    def bandwidth(self) -> str:
        if not self.ours:
            return self.nothing("带宽")
        header = ("case_id", "logical_payload_bytes", "bus_factor", "peak_bandwidth_GBps", "bandwidth_utilization%")
        rows = [
            (g["case"], f"{g['payload_bytes']:.0f}", _plain(g["bus_factor"]), _plain(g["peak_bandwidth_GBps"]), _median(g, "bandwidth_utilization_pct"))
            for g in self.ours
        ]  # fmt: skip
        return "\n".join([_table(header, rows), *_sources(self.ours)])

    def compute(self) -> str:
        if self.facts.op_kind in ("collective", "transport"):
            return "N/A：纯通信算子，没有计算阶段。"
        return f"{_NONE}：运行记录里没有计算量与计算区段的数据。"

    def frames(self) -> str:
        if not self.frames_:
            return f"{_NONE}：运行记录里没有 Device Frame 的数据。"
        most = max(self.frames_, key=lambda f: f["e2e_pct"] or 0.0)
        rows = []
        for f in self.frames_:
            notes = (["占比最大"] if f is most and f["e2e_pct"] else []) + ([f"最慢核是平均的 {f['max_core_us'] / f['avg_us']:.1f} 倍"] if f["tail"] else [])  # fmt: skip
            rows.append((
                f["frame"], f["phase"] or "-", f"{f['avg_us']:.3f}", f"{f['max_core_us']:.3f}", f["count"],
                f"{f['e2e_pct']:.1f}" if f["e2e_pct"] is not None else "-", "、".join(notes) or "-",
            ))  # fmt: skip
        where = dict.fromkeys((f["run"], f["log"], f["line"]) for f in self.frames_)
        sources = [f"- 来源：{_where(run, log)} 第 {line} 行起的表" for run, log, line in where]
        return "\n".join([_table(("Frame", "Phase", "Avg us", "Max core us", "Count", "% E2E", "Bottleneck"), rows), "", *sources])  # fmt: skip

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
        header = (
            "metric", "SHMEM kernel_bus_bandwidth_GBps", "SHMEM e2e", "SHMEM kernel", "Baseline kernel_bus_bandwidth_GBps", "delta",
            "达标",
        )  # fmt: skip
        rows = [
            (
                BUS, _median(ours, BUS), "-", "-", _median(usable, BUS) if usable else "-",
                _delta(ours, usable, BUS), _VERDICTS[verdict["verdict"]],
            ),
            ("e2e_latency_us", "-", _median(ours, "e2e_us"), _median(ours, "kernel_us"), "-", _delta(ours, usable, "e2e_us"), "-"),
        ]  # fmt: skip
        return "\n".join([
            _table(header, rows), "", f"{ours['case']}：{verdict['why']['zh']}。", *_sources([ours, *([theirs] if theirs else [])])
        ])  # fmt: skip

    def steps(self) -> str:
        done = [r for r in self.rounds if r.number > 0]
        if not done:
            return "没有优化轮次的记录。"
        out: list[str] = []
        for r in done:
            header = ("Step", "变更", "Correctness", "e2e_us", "kernel_us", "algo_bandwidth_GBps", "kernel_bus_bandwidth_GBps", "compute_utilization%", "备注")  # fmt: skip
            rows = [
                (step, change or "-", word, _value(e2e), "-", "-", _value(bus), "-", "-")
                for step, change, word, e2e, bus in r.steps
            ]
            out += [
                f"### Round {r.number}: {r.idea}", "", f"- 机制改动：{r.idea}", f"- 正确性复测：{r.correctness}",
                f"- 决策：{r.decision}" + (f"（{r.reason}）" if r.reason else ""), f"- 来源：run `{r.run}`" if r.run else f"- {_NONE}", "",
            ]  # fmt: skip
            out += [_table(header, rows), ""] if rows else []
        return "\n".join(out).rstrip()

    def overview(self) -> str:
        if not self.rounds:
            return "没有优化轮次的记录。"
        header = (
            "Round",
            "性质",
            "机制改动",
            "最优 Step",
            "最优 kernel_bus_bandwidth_GBps",
            "vs R0 Δ%",
            "最优 e2e_us",
            "决策",
        )
        rows = [
            (
                r.number, "基线" if r.number == 0 else "优化", r.idea or "-", r.steps[-1][0] if r.steps else "-", _value(r.bus),
                _signed(r.vs_first), _value(r.e2e_us), r.decision,
            )
            for r in self.rounds
        ]  # fmt: skip
        return _table(header, rows)

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
                label, _median(ours, metric), _median(usable, metric) if usable else "-", _ratio(ours, usable, metric),
                _VERDICTS[verdict["verdict"]] if metric == BUS else "-",
            ))  # fmt: skip
        rows.append(("compute_utilization_pct", "N/A", "-", "-", "-"))
        table = _table(("指标", "SHMEM 最终", name, "SHMEM/基线", "达标"), rows)
        return "\n".join([table, "", f"{ours['case']}：{verdict['why']['zh']}。", *_sources([ours, *([theirs] if theirs else [])])])  # fmt: skip

    def conclusion(self) -> str:
        found = self.main()
        if found is None:
            return f"达标状态：{_NONE}"
        return f"达标状态：{_VERDICTS[found[2]['verdict']]}（{found[0]['case']}：{found[2]['why']['zh']}）"


def _table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def _median(group: Mapping[str, Any], name: str) -> str:
    found = group["metrics"].get(name)
    return shown(found["median"]) if found else "-"


def _value(value: float | None) -> str:
    return shown(value) if value is not None else "-"


def _plain(value: float | None) -> str:
    return f"{value:.6g}" if value is not None else "-"


def _signed(value: float | None) -> str:
    return f"{value:+.1f}%" if value is not None else "-"


def _pair(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> tuple[float, float] | None:
    a, b = ours["metrics"].get(name), theirs["metrics"].get(name) if theirs is not None else None
    return (a["median"], b["median"]) if a and b else None


def _ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> str:
    pair = _pair(ours, theirs, name)
    value = percent(*pair) if pair is not None else None
    return f"{value:.1f}%" if value is not None else "-"


def _delta(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None, name: str) -> str:
    pair = _pair(ours, theirs, name)
    return _signed(delta_pct(*pair)) if pair is not None else "-"


def _shape(group: Mapping[str, Any], facts: Facts) -> str:
    return facts.shapes.get(group["case"]) or (f"({group['count']},)" if group["count"] else "-")


def _where(run: str | None, log: str) -> str:
    return f"run `{run}` 的 `{log}`" if run else f"`{log}`"


def _sources(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    out = []
    for g in groups:
        side = "（基线）" if g["side"] == "baseline" else ""
        places = "；".join(f"{_where(s['run'], s['log'])} 第 {_ranges(s['lines'])} 行" for s in g["sources"])
        out.append(f"- 来源：{g['case']}{side}：{places}，采用 {g['used']} 次，取中位数{_noise(g)}")
    return ["", *out] if out else []


def _noise(group: Mapping[str, Any]) -> str:
    found = group["metrics"].get(BUS)
    return f"，离散 {found['spread_pct']:.1f}%" if found and found["spread_pct"] is not None else "，波动未知"


def _ranges(lines: Sequence[int]) -> str:
    """``3–5、9`` for 3, 4, 5, 9."""
    out: list[list[int]] = []
    for line in lines:
        if out and line == out[-1][1] + 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return "、".join(str(a) if a == b else f"{a}–{b}" for a, b in out)
