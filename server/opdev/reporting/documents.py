"""case_matrix_report.md, correctness_report.md and the measured parts of review and delivery summary, as sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from opdev.blocks import Section
from opdev.reporting.cases import Outcome, Place, Results, Row
from opdev.reporting.parts import (
    CASE_HEADER,
    Sources,
    backend,
    case_rows,
    cases_adopted,
    engine,
    invariants_adopted,
    performance_adopted,
    summary_adopted,
    table,
    totals,
)
from opdev.reporting.perpe import OnePe
from opdev.runs.store import EVENTS

_MOST_UNKNOWN = 20


@dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant of the design: how it is tested, and the cases that show it."""

    text: str
    method: str = ""
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Performance:
    """The four metrics of the deciding case with its verdict; no ``rows`` where hardware measured nothing."""

    case: str = ""
    why: str = ""
    verdict: str = ""
    baseline: str = ""
    rounds: str = ""
    rows: Sequence[tuple[str, ...]] = ()
    sources: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """All that the reports of cases are made of."""

    operator: str
    results: Results
    pes: dict[str, list[OnePe]] = field(default_factory=dict)
    """By case id; only cases whose own log still is the recorded one."""
    invariants: Sequence[Invariant] = ()
    performance: Performance = field(default_factory=Performance)
    final: bool = False
    """Whether the review is the final one."""


def matrix(found: Found) -> list[Section]:
    """docs/case_matrix_report.md."""
    return [Section("1", "## 1. 结果", _cases(found), adopts=cases_adopted)]


def correctness(found: Found) -> list[Section]:
    """docs/correctness_report.md."""
    return [
        Section("1", "## 1. 汇总", _summary(found), adopts=summary_adopted),
        Section("2", "## 2. 用例", _cases(found), adopts=cases_adopted),
        Section("3", "## 3. 不变量", _invariants(found), adopts=invariants_adopted),
        Section("4", "## 4. 各 PE 精度", _precision(found)),
    ]


def review(found: Found) -> list[Section]:
    """The measured sections of docs/review-report.md; what a reviewer judges is not touched.

    Section 3 is filled in a final review only: an interim one says that it is still to come.
    """
    made = [
        Section("2", "## 2. 正确性验证结果"),
        Section("2.1", "### 2.1 汇总", _summary(found), adopts=summary_adopted),
        Section("2.2", "### 2.2 全量 Case 结果", _cases(found), adopts=cases_adopted),
        Section("2.3", "### 2.3 Invariant 验证", _invariants(found), adopts=invariants_adopted),
    ]
    if found.final and found.performance.rows:
        made.append(Section("3", "## 3. 性能评估摘要", _performance(found.performance), adopts=performance_adopted))
    return made


def summary(found: Found) -> list[Section]:
    """The measured sections of docs/delivery_summary.md."""
    made = [Section("5", "## 5. 正确性", _summary(found), adopts=summary_adopted)]
    if found.performance.rows:
        made.append(Section("7", "## 7. 性能", _performance(found.performance), adopts=performance_adopted))
    return made


def _performance(found: Performance) -> str:
    """What hardware measured of the case that decides, as the performance report has it."""
    head = [
        ("性能报告", "docs/performance_report.md"),
        ("基线类型", found.baseline),
        ("达标状态", found.verdict),
        ("优化轮次", found.rounds),
    ]
    metrics = table(("指标", "SHMEM 最终", "基线", "SHMEM/基线", "达标"), found.rows)
    return "\n".join([table(("指标", "值"), head), "", metrics, "", f"{found.case}：{found.why}。", *found.sources])


def _summary(found: Found) -> str:
    return "\n".join([backend(found.results), "", table(("项目", "值"), totals(found.results))])


def _cases(found: Found) -> str:
    if not found.results.rows:
        return "没有用例矩阵（scripts/cases.json 或脚本里的列表），没有可以写的结果。"
    sources = Sources()
    out = [backend(found.results), "", table(CASE_HEADER, case_rows(found.results, sources)), *sources.lines()]
    unknown = found.results.unknown
    if unknown:
        names = "、".join(one.case for one in unknown[:_MOST_UNKNOWN])
        out += ["", f"运行记录里有 {len(unknown)} 个用例不在用例矩阵里，没有列出：{names}"]
    return "\n".join(out)


def _invariants(found: Found) -> str:
    if not found.invariants:
        return "cases.json 与设计都没有写明哪个用例验证哪条不变量。"
    rows = {row.case.id: row for row in found.results.rows}
    lines = [(one.text, one.method, *_shown(one, rows)) for one in found.invariants]
    return table(("Invariant", "验证方式", "结果", "说明"), lines)


def _shown(one: Invariant, rows: dict[str, Row]) -> tuple[str, str]:
    """An invariant's result and remark: FAIL where any of its cases failed, PASS where all passed."""
    every = [word.lower() for word in one.cases] in (["all cases"], ["all"], ["全部用例"])
    mine = list(rows.values()) if every else [rows[name] for name in one.cases if name in rows]
    absent = [] if every else [name for name in one.cases if name not in rows]
    simulated = any(row.outcome is not None and row.outcome.simulated for row in mine)
    names = "、".join(one.cases) + ("（模拟）" if simulated else "")
    if any(row.verdict == "FAIL" for row in mine):
        return "FAIL", names
    if not one.cases:
        return "未验证", "没有写明由哪个用例验证"
    if absent:
        return "未验证", f"用例矩阵里没有 {'、'.join(absent)}"
    if mine and all(row.verdict == "PASS" for row in mine):
        return "PASS", names
    return "未验证", f"没有执行：{'、'.join(row.case.id for row in mine if row.verdict != 'PASS')}"


def _precision(found: Found) -> str:
    sources = Sources()
    rows = [
        (*_worst(row, found.pes.get(row.case.id, ())), *_engine(row.outcome, sources))
        for row in found.results.rows
        if found.pes.get(row.case.id) or (row.outcome is not None and row.outcome.judged is not None)
    ]
    if not rows:
        return "没有各 PE 的数据：用例日志（[CASE] 行的 log=）不在了，或已被后来的运行覆盖。"
    header = ("用例", "PE 数", "最差 PE", "MaxAE", "MaxRE", "MeanRE", "rtol", "atol", "来源", "精度引擎", "判断来源")
    intro = "误差最大的 PE（检查脚本的数值；没有时取精度引擎的）与精度引擎对每个用例的输出的判断；各 PE 的全部数值见 opdev report --html。"
    return "\n".join([intro, "", table(header, rows), *sources.lines()])


def _engine(one: Outcome | None, sources: Sources) -> tuple[str, str]:
    """What the precision engine made of a case, and the line of the run's events that says it."""
    if one is None or one.judged is None:
        return engine(None), ""
    return engine(one.judged), sources.of(Place(one.place.run, EVENTS, one.judged.line))


def _worst(row: Row, pes: Sequence[OnePe]) -> tuple[object, ...]:
    if not pes:
        return _by_engine(row)
    worst = max(pes, key=lambda one: (one.values.get("MaxAE", 0.0), -one.pe))

    mark = "（模拟）" if row.outcome is not None and row.outcome.simulated else ""
    # The log is the operator's own; which run left it is known by what it says.
    run = f"run `{row.outcome.place.run}` 留下的 " if row.outcome is not None and not worst.place.run else ""
    return (
        row.case.id,
        len(pes),
        f"{worst.pe}{mark}",
        *_numbers(worst.values),
        f"{run}`{worst.place.log}` 第 {worst.place.line} 行",
    )


def _by_engine(row: Row) -> tuple[object, ...]:
    """The same from what the engine measured, where the checker's own figures are not there any more."""
    one = row.outcome
    judged = one.judged.pes if one is not None and one.judged is not None else ()
    if not judged or one is None:
        return (row.case.id, "", "", *_numbers({}), "")
    worst = max(judged, key=lambda pe: pe.values.get("MaxAE", 0.0))
    return (
        row.case.id,
        len(judged),
        f"{worst.name}{'（模拟）' if one.simulated else ''}",
        *_numbers(worst.values),
        "精度引擎",
    )


def _numbers(values: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(
        "" if name not in values else f"{values[name]:.6g}" for name in ("MaxAE", "MaxRE", "MeanRE", "rtol", "atol")
    )
