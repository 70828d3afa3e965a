"""Sections 4 and 5 of performance_report.md: every round with all that belongs to it, and one line for each.

What nobody said or measured is named as missing; nothing is made up for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opdev.facts.report_columns import COLUMNS
from opdev.perf import cells
from opdev.perf.formulas import delta_pct
from opdev.perf.rows import RoundRow, StepRow
from opdev.perf.tables import BUS

NONE = "未测"
PURE = ("collective", "transport")
"""Kinds of operators that compute nothing."""
_STEP = ("e2e_us", "kernel_us", "algo_bandwidth_GBps", BUS)
_VERIFIED = (
    (BUS, BUS), ("e2e_us", "e2e_latency_us"), ("kernel_us", "kernel_latency_us"),
    ("algo_bandwidth_GBps", "algo_bandwidth_GBps"), ("e2e_bus_bandwidth_GBps", "e2e_bus_bandwidth_GBps"),
)  # fmt: skip
_UNSAID = '没有写：`opdev rounds start "一项机制改动" --hypothesis "要去掉的瓶颈"`，或写在这一段之外'


def records(rounds: Sequence[RoundRow], *, pure: bool) -> str:
    """Section 4.  ``pure``: the operator computes nothing, so no processor is used for that."""
    done = [r for r in rounds if r.number > 0]
    if not done:
        return "没有优化轮次的记录。"
    return "\n".join(line for r in done for line in _record(r, "N/A" if pure else "-")).rstrip()


def _record(r: RoundRow, computing: str) -> Iterator[str]:
    yield from (
        f"### Round {r.number}: {r.idea}",
        "",
        f"- 机制改动：{r.idea}",
        f"- 瓶颈假设：{r.hypothesis or _UNSAID}",
    )
    yield from (f"- 正确性复测：{r.correctness}", f"- 来源：run `{r.run}`" if r.run else f"- {NONE}", "")
    if r.steps:
        rows = [
            (one.name, one.change or "-", one.correctness, *(cells.value(one.figures.get(name)) for name in _STEP), computing, "-")
            for one in r.steps
        ]  # fmt: skip
        yield from (cells.table(COLUMNS["4"], rows), *cells.from_steps(r.steps), "")
    yield from _verified(r, computing)
    yield "#### Device Frame（最优 step）"
    yield from ("", frame_table(r.frames) or f"{NONE}：这个 step 没有 Frame 表（设 SHMEM_CYCLE_PROF_PE 采集）。", "")
    yield f"- 本轮最优配置：{f'Step {r.step}：{r.settings}' if r.settings else NONE}"
    yield from (f"- 决策：{r.decision}" + (f"（{r.reason}）" if r.reason else ""), "")


def _verified(r: RoundRow, computing: str) -> Iterator[str]:
    """The round's best step against the baseline, or against Round 0 where no baseline is comparable."""
    yield from ("#### 性能验证", "")
    best = _best(r)
    if best is None or not best.figures:
        yield from (f"{NONE}：这一轮没有硬件上的数据。", "")
        return
    name = r.against_name or "Baseline"
    rows = []
    for metric, label in _VERIFIED:
        base, now = r.against.get(metric), best.figures.get(metric)
        change = delta_pct(now, base) if now is not None and base is not None else None
        rows.append((label, cells.value(base), cells.value(now), cells.signed(change)))
    rows.append(("compute_utilization_pct", computing, computing, "-"))
    yield cells.table(("指标", name, f"Round {r.number} 最优", f"Δ%（相对 {name}）"), rows)
    if not r.against:
        yield from ("", "没有可以比的基线，Round 0 也没有同一数据量的测量。")
    yield from cells.from_steps([best])
    if r.against_sources:
        yield f"- 来源：{name}：{r.against_sources}，取中位数"
    yield ""


def _best(r: RoundRow) -> StepRow | None:
    return next((one for one in r.steps if one.name == r.step), r.steps[-1] if r.steps else None)


def frame_table(frames: Sequence[Mapping[str, Any]]) -> str:
    """Device frames with the line their table begins at; empty where there are none."""
    if not frames:
        return ""
    most = max(frames, key=lambda f: f["e2e_pct"] or 0.0)
    rows = []
    for f in frames:
        notes = (["占比最大"] if f is most and f["e2e_pct"] else []) + ([f"最慢核是平均的 {f['max_core_us'] / f['avg_us']:.1f} 倍"] if f["tail"] else [])  # fmt: skip
        rows.append((
            f["frame"], f["phase"] or "-", f"{f['avg_us']:.3f}", f"{f['max_core_us']:.3f}", f["count"],
            f"{f['e2e_pct']:.1f}" if f["e2e_pct"] is not None else "-", "、".join(notes) or "-",
        ))  # fmt: skip
    where = dict.fromkeys((f["run"], f["log"], f["line"]) for f in frames)
    sources = [f"- 来源：{cells.where(run, log)} 第 {line} 行起的表" for run, log, line in where]
    return "\n".join([cells.table(COLUMNS["3.4"], rows), "", *sources])


def overview(rounds: Sequence[RoundRow]) -> str:
    """Section 5."""
    if not rounds:
        return "没有优化轮次的记录。"
    rows = [
        (
            r.number, "基线" if r.number == 0 else "优化", r.idea or "-", r.step or (r.steps[-1].name if r.steps else "-"), cells.value(r.bus),
            cells.signed(r.vs_first), cells.value(r.e2e_us), r.decision,
        )
        for r in rounds
    ]  # fmt: skip
    last = [best for r in rounds if (best := _best(r)) is not None]
    return "\n".join([cells.table(COLUMNS["5"], rows), *cells.from_steps(last)])
