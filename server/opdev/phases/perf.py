"""Phase 6: what was measured, against what, and whether the line is met.

What counts
    data        docs/performance_report.md with a kernel_bus_bandwidth_GBps number in section 3 and a decision;
                logs alone are the beginning of it
    decision    section 3.5, column 达标 of its kernel_bus row (PASS or FAIL); without it the ratio of the two
                numbers of that row against 80 %
    logs        data/perf/*.log with [PERF] lines, and with [BASELINE_PERF] lines unless the baseline is metric_only
    as old      while nothing is being optimised, report or logs must be no older than any source; a ``perf`` record
                that names its sources wins over file times
Not judged: that the tables were shown in the chat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.proofs import Proof, by_time, recorded, stale_text
from opdev.rules.model import Text
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.report_performance import PerformanceReport, Round

REPORT = "docs/performance_report.md"
ROUNDS = 5
_BUS = "kernel_bus_bandwidth_GBps"
_TYPES = ("hccl", "aclnn", "stitched", "metric_only")
_LINE = 80.0
_PRESENT = Title("perf-report", "性能报告", "the performance report")
_SCRIPT = Title("perf-script", "scripts/perf.sh", "scripts/perf.sh")
_BASELINE = Title("perf-baseline", "基线已选定或有查找记录", "a baseline is chosen, or the search recorded")
_CODE = Title("perf-baseline-code", "基线程序", "the baseline's program")
_LOGS = Title("perf-logs", "SHMEM 与基线的日志", "logs of SHMEM and of the baseline")
_SCALES = Title("perf-scales", "S 与 L 都测了", "S and L are measured")
_FRAMES = Title("perf-bottleneck", "§3.4 有瓶颈分析", "section 3.4 finds the bottleneck")
_DECISION = Title("perf-decision", "§3.5 写明是否达标", "section 3.5 says whether the line is met")
_CURRENT = Title("perf-current", "数据说的是现在的代码", "the data is about the present code")
_FILL = both("补齐 docs/performance_report.md 的 §1–§3", "complete sections 1 to 3 of docs/performance_report.md")


def report(evidence: Evidence) -> tuple[File, PerformanceReport] | None:
    """The performance report and its file; None where there is none that can be read."""
    from opdev.facts.reports import performance_report

    file = evidence.file(REPORT)
    found = performance_report(file) if file is not None else None
    return (file, found) if file is not None and found is not None else None


@dataclass(frozen=True, slots=True)
class Logs:
    """The perf logs, by what they hold, as paths below the operator."""

    shmem: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()


def logs(evidence: Evidence) -> Logs:
    """Logs with measurements."""
    from opdev.facts.logs import perf_lines

    shmem, baseline = [], []
    for relative in evidence.logs:
        data = evidence.log(relative)
        if b"PERF]" not in data:
            continue
        lines = perf_lines(data)
        if any(not line.baseline for line in lines):
            shmem.append(relative)
        if any(line.baseline for line in lines):
            baseline.append(relative)
    return Logs(tuple(shmem), tuple(baseline))


def begun(evidence: Evidence) -> bool:
    """Whether there is any data of Phase 6."""
    return evidence.file(REPORT) is not None or bool(logs(evidence).shmem) or evidence.record("perf") is not None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether Round 0 meets its line; None where nothing says so."""

    met: bool | None
    text: Text
    place: Spot | None = None


def decision(evidence: Evidence) -> Decision:
    """What section 3.5 says."""
    from opdev.facts.report_tables import layout_of, plain, result

    nothing = both("§3.5 没有写是否达标", "section 3.5 does not say whether the line is met")
    both_of = report(evidence)
    if both_of is None:
        return Decision(None, both(f"没有 {REPORT}", f"there is no {REPORT}"), evidence.at(REPORT))
    file, found = both_of
    for table in layout_of(file).tables:
        if table.heading is None or table.heading.number != "3.5":
            continue
        column = table.column("达标")
        for cells in table.rows:
            if "kernel_bus" not in plain(cells[0].text) or column is None or column >= len(cells):
                continue
            said = result(cells[column].text)
            if said in ("PASS", "FAIL"):
                met = said == "PASS"
                text = both("达标", "the line is met") if met else both("未达标", "the line is not met")
                return Decision(met, text, evidence.spot(file, cells[column].start))
    ours, theirs = (
        next((m.figure for m in found.measured if m.section == "3.5" and m.metric == _BUS and m.who == who), None)
        for who in ("shmem", "baseline")
    )
    if ours is not None and theirs is not None and ours.value is not None and theirs.value:
        ratio = ours.value / theirs.value * 100
        text = both(
            f"SHMEM 是基线的 {ratio:.1f}%（线为 {_LINE:.0f}%）",
            f"SHMEM reaches {ratio:.1f} % of the baseline (line: {_LINE:.0f} %)",
        )
        return Decision(ratio >= _LINE, text, evidence.spot(file, ours.start))
    return Decision(None, nothing, evidence.spot(file))


def _numbers(found: PerformanceReport) -> bool:
    return any(m.section.startswith("3") and m.metric == _BUS and m.figure.value is not None for m in found.measured)


def data(evidence: Evidence, *, current: bool) -> Proof:
    """Whether Phase 6 left its data; ``current``: of the present code."""
    both_of = report(evidence)
    if both_of is None:
        there = logs(evidence).shmem
        if there:
            return Proof(
                "missing",
                both(f"有日志 {there[0]}，没有 {REPORT}", f"there is a log ({there[0]}), and no {REPORT}"),
                evidence.at(REPORT),
            )
        return Proof("missing", both("没有性能数据", "there is no performance data"), evidence.at(REPORT))
    file, found = both_of
    if not _numbers(found):
        return Proof(
            "missing", both(f"{REPORT} 的 §3 没有数据", f"section 3 of {REPORT} holds no data"), evidence.spot(file)
        )
    decided = decision(evidence)
    if decided.met is None:
        return Proof("failed", decided.text, decided.place)
    if current:
        stale = _stale(evidence)
        if stale is not None:
            return stale
    return Proof("ok", decided.text, decided.place)


def _stale(evidence: Evidence) -> Proof | None:
    record = evidence.record("perf")
    if record is not None and evidence.matches(record) is not None:
        proof = recorded(evidence, record, "性能测试", "performance run")
        return None if proof.good else proof
    measured = evidence.newest([REPORT, *logs(evidence).shmem])
    if measured is not None and evidence.older(measured.time, evidence.newest_source):
        return Proof("stale", stale_text(evidence, measured.path), evidence.at(measured.path))
    return None


def rounds_of(evidence: Evidence) -> tuple[Round, ...]:
    """The optimisation rounds of the report; Round 0 is the baseline and none of them."""
    both_of = report(evidence)
    return tuple(r for r in both_of[1].rounds if r.number > 0) if both_of is not None else ()


def rounds_begun(evidence: Evidence) -> bool:
    """Whether a round was run; the template's empty headings are no round."""
    return any(
        r.executed and (decided(r) or any(step.correctness or step.change for step in r.steps))
        for r in rounds_of(evidence)
    )


def decided(found: Round) -> str | None:
    """``keep`` or ``revert``; None while the template's choice of both, or nothing, stands there."""
    text = found.decision.text.lower() if found.decision is not None else ""
    words = [w for w in ("keep", "revert") if w in text] or [
        w for w, zh in (("keep", "保留"), ("revert", "撤回"), ("revert", "回退")) if zh in text
    ]
    return words[0] if len(words) == 1 else None


def finished(found: Round) -> bool:
    """Whether a round is behind us: decided, or not run for a reason that is given."""
    return decided(found) is not None if found.executed else bool(found.reason)


def optimising(evidence: Evidence) -> bool:
    """Whether Phase 6.5 was entered, or has to be."""
    if evidence.said("performance_required") is False:
        return False
    if rounds_begun(evidence):
        return True
    return evidence.said("performance_auto_optim") is True and decision(evidence).met is False


def unfinished(evidence: Evidence) -> bool:
    """Whether the optimisation still has something to do: a round, or the final comparison."""
    if not optimising(evidence):
        return False
    both_of = report(evidence)
    return next_number(evidence) <= ROUNDS or both_of is None or not both_of[1].final


def next_number(evidence: Evidence) -> int:
    """The first round that is not finished; ROUNDS + 1 after the last."""
    done = {r.number for r in rounds_of(evidence) if finished(r)}
    return next((n for n in range(1, ROUNDS + 1) if n not in done), ROUNDS + 1)


def next_round(evidence: Evidence) -> tuple[int, Text, Spot | None]:
    """The round to do next, why, and where the report speaks of it; ROUNDS + 1 for the final comparison."""
    number = next_number(evidence)
    both_of = report(evidence)
    file = both_of[0] if both_of is not None else None
    if number > ROUNDS:
        spot = evidence.spot(file) if file is not None else None
        return (
            number,
            both(
                "五轮都做完了，§6 最终对比还没有填",
                "all five rounds are done; the final comparison (section 6) is not filled",
            ),
            spot,
        )
    done = number - 1
    there = next((r for r in rounds_of(evidence) if r.number == number), None)
    spot = evidence.spot(file, there.start if there is not None else 0) if file is not None else None
    if there is not None and there.executed and there.steps:
        return number, both(f"Round {number} 还没有决策", f"Round {number} has no decision yet"), spot
    return (
        number,
        both(f"未达标，优化做完 {done} 轮，共 {ROUNDS} 轮", f"the line is not met; {done} of {ROUNDS} rounds are done"),
        spot,
    )


def retested(evidence: Evidence) -> tuple[Text, Spot] | None:
    """A round's own retest that speaks for the present code; None where there is none."""
    both_of = report(evidence)
    if both_of is None or evidence.older(evidence.time(REPORT), evidence.newest_source):
        return None
    done = [r for r in rounds_of(evidence) if finished(r) and any(_passes(s.correctness) for s in r.steps)]
    if not done:
        return None
    last = done[-1]
    text = both(f"Round {last.number} 复测通过", f"Round {last.number} was retested and passes")
    return by_time(text), evidence.spot(both_of[0], last.start)


def _passes(text: str | None) -> bool:
    return (text or "").strip().upper() == "PASS"


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 6."""
    both_of = report(evidence)
    if both_of is None:
        missing = data(evidence, current=False)
        yield _PRESENT.failed(
            missing.text,
            both("测完基线和 SHMEM，写 docs/performance_report.md（shmem-ops-performance-eval）", "measure baseline and SHMEM into docs/performance_report.md (shmem-ops-performance-eval)"),
            missing.place,
        )  # fmt: skip
        return
    file, found = both_of
    if _numbers(found):
        yield _PRESENT.ok(both("§3 有数据", "section 3 holds data"), evidence.spot(file))
    else:
        yield _PRESENT.failed(both("§3 没有数据", "section 3 holds no data"), _FILL, evidence.spot(file))
    yield _script(evidence)
    kind = _kind(found)
    yield from _baseline(evidence, file, kind)
    yield _logged(evidence, kind)
    yield _measured_scales(evidence, file, found)
    yield _bottleneck(evidence, file)
    decided_by = decision(evidence)
    if decided_by.met is None:
        yield _DECISION.failed(
            decided_by.text,
            both("在 §3.5 的 kernel_bus 行写 PASS 或 FAIL（线：基线的 80%）", "write PASS or FAIL into the kernel_bus row of section 3.5 (line: 80 % of the baseline)"),
            decided_by.place,
        )  # fmt: skip
    else:
        yield _DECISION.ok(decided_by.text, decided_by.place)
    yield _current(evidence)


def _script(evidence: Evidence) -> Check:
    if evidence.file("scripts/perf.sh") is not None:
        return _SCRIPT.ok(both("有 scripts/perf.sh", "scripts/perf.sh is there"), evidence.at("scripts/perf.sh"))
    return _SCRIPT.failed(
        both("没有 scripts/perf.sh", "there is no scripts/perf.sh"),
        both("写出 scripts/perf.sh", "write scripts/perf.sh"),
        evidence.at("scripts/perf.sh"),
    )


def _kind(found: PerformanceReport) -> str | None:
    said = (found.baseline_type.text if found.baseline_type is not None else "").lower()
    named = [t for t in _TYPES if t in said]
    return named[0] if len(named) == 1 else None


def _baseline(evidence: Evidence, file: File, kind: str | None) -> Iterator[Check]:
    searched = evidence.design is not None and bool(evidence.design.text("performance.baseline_search").strip())
    if kind is None:
        yield _BASELINE.failed(
            both("§2 没有写基线类型", "section 2 does not name the baseline's type"),
            both(f"在 §2 写 Type：{'、'.join(_TYPES)} 之一", f"write Type: one of {', '.join(_TYPES)} into section 2"),
            evidence.spot(file),
        )
    elif kind == "metric_only" and not searched:
        yield _BASELINE.failed(
            both("metric_only 没有查找记录", "metric_only without a record of the search"),
            both("在 design.md 的 performance.baseline_search 写查过哪些 HCCL、aclnn 接口", "write into performance.baseline_search which HCCL and aclnn calls were looked at"),
            evidence.at("docs/design.md"),
        )  # fmt: skip
    else:
        yield _BASELINE.ok(both(kind, kind), evidence.spot(file))
    if kind == "metric_only":
        yield _CODE.skipped(both("metric_only 没有基线程序", "metric_only has no baseline program"))
    elif any(r.startswith("baseline/") for r in evidence.files):
        yield _CODE.ok(both("有 baseline/", "baseline/ is there"), evidence.at("baseline/CMakeLists.txt"))
    else:
        yield _CODE.failed(
            both("没有 baseline/", "there is no baseline/"),
            both("写出 baseline/ 下的 CMake、源码与 run_baseline.sh", "write the baseline's CMake list, source and run_baseline.sh into baseline/"),
            evidence.at("baseline/CMakeLists.txt"),
        )  # fmt: skip


def _logged(evidence: Evidence, kind: str | None) -> Check:
    found = logs(evidence)
    lacking = [name for name, there in (("SHMEM", found.shmem), ("baseline", found.baseline)) if not there]
    if kind == "metric_only" and "baseline" in lacking:
        lacking.remove("baseline")
    if not lacking:
        return _LOGS.ok(
            both(", ".join((*found.shmem, *found.baseline)[:4]), ", ".join((*found.shmem, *found.baseline)[:4]))
        )
    names = ", ".join(lacking)
    return _LOGS.unknown(
        both(f"data/perf/ 下没有 {names} 的日志，报告里的数字无从核对", f"no log of {names} in data/perf/: the report's numbers cannot be checked"),
        both("重跑并留下日志：bash scripts/perf.sh … 2>&1 | tee data/perf/shmem_<BASE_COUNT>_<DTYPE>.log", "run again and keep the log: bash scripts/perf.sh … 2>&1 | tee data/perf/shmem_<BASE_COUNT>_<DTYPE>.log"),
        evidence.at("data/perf"),
    )  # fmt: skip


def _measured_scales(evidence: Evidence, file: File, found: PerformanceReport) -> Check:
    from opdev.facts.cases import matrix_of

    matrix = matrix_of(evidence.project)
    scales = {case.id: case.tier or case.scale for case in matrix.cases} if matrix is not None else {}
    cases = {m.case for m in found.measured if m.case and m.metric == _BUS and m.figure.value is not None}
    if not cases:
        return _SCALES.failed(
            both("§3.1 没有用例的数据", "section 3.1 has no data of a case"), _FILL, evidence.spot(file)
        )
    known = {scales.get(case) for case in cases} | {
        s for s in ("S", "L") for case in cases if case.split("_")[0].upper() == s
    }
    lacking = [s for s in ("S", "L") if s not in known]
    if not lacking:
        return _SCALES.ok(both(f"{len(cases)} 个用例", f"{len(cases)} cases"))
    names = ", ".join(lacking)
    if not known - {None}:
        return _SCALES.unknown(
            both("看不出这些用例的规模", "the scale of these cases cannot be told"),
            both("case_id 用用例矩阵里的名字", "name the cases as the case matrix does"),
            evidence.spot(file),
        )
    return _SCALES.failed(
        both(f"没有 {names} 规模的数据", f"no data of scale {names}"), both(f"补测 {names} 规模的用例", f"measure a case of scale {names}"), evidence.spot(file)
    )  # fmt: skip


def _bottleneck(evidence: Evidence, file: File) -> Check:
    from opdev.facts.report_tables import layout_of

    layout = layout_of(file)
    section = next((h for h in layout.headings if h.number == "3.4"), None)
    table = next((t for t in layout.tables if t.heading is not None and t.heading.number == "3.4"), None)
    rows = [cells for cells in table.rows if any(c.text.strip(" -") for c in cells[1:])] if table is not None else []
    reason = section is not None and any(
        w in file.data[section.end : section.stop] for w in (b"SHMEM_CYCLE_PROF_PE", b"PROF")
    )
    if rows or reason:
        return _FRAMES.ok(
            both(f"{len(rows)} 个区段", f"{len(rows)} frames"), evidence.spot(file, section.start if section else 0)
        )
    return _FRAMES.failed(
        both("§3.4 没有 Device Frame 的数据", "section 3.4 has no device frames"),
        both("设 SHMEM_CYCLE_PROF_PE=0 跑一次，把各区段填进 §3.4；采不到就写原因", "run once with SHMEM_CYCLE_PROF_PE=0 and fill section 3.4; if that cannot be had, say why"),
        evidence.spot(file, section.start if section else 0),
    )  # fmt: skip


def _current(evidence: Evidence) -> Check:
    if optimising(evidence):
        return _CURRENT.skipped(both("优化中，每一轮另测", "in an optimisation every round is measured by itself"))
    stale = _stale(evidence)
    if stale is None:
        return _CURRENT.ok(by_time(both("不早于全部源码", "no older than any source")))
    return _CURRENT.failed(
        stale.text, both("重新测一次基线和 SHMEM，更新报告", "measure baseline and SHMEM again and bring the report up to date"), stale.place
    )  # fmt: skip
