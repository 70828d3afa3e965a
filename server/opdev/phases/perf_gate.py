"""The gate of Phase 6, from what ``perf`` finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.phases import measured_when
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Title, both
from opdev.phases.perf import BUS, data, decision, holds_numbers, logs, optimising, report, simulated_logs, stale
from opdev.phases.proofs import by_time
from opdev.phases.verdicts import Verdicts
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.report_performance import PerformanceReport

_TYPES = ("hccl", "aclnn", "stitched", "metric_only")
_PRESENT = Title("perf-report", "性能报告", "the performance report")
_SCRIPT = Title("perf-script", "scripts/perf.sh", "scripts/perf.sh")
_BASELINE = Title("perf-baseline", "基线已选定或有查找记录", "a baseline is chosen, or the search recorded")
_CODE = Title("perf-baseline-code", "基线程序", "the baseline's program")
_LOGS = Title("perf-logs", "SHMEM 与基线的日志", "logs of SHMEM and of the baseline")
_SCALES = Title("perf-scales", "S 与 L 都测了", "S and L are measured")
_FRAMES = Title("perf-bottleneck", "§3.4 有瓶颈分析", "section 3.4 finds the bottleneck")
_DECISION = Title("perf-decision", "§3.5 写明是否达标", "section 3.5 says whether the line is met")
_CURRENT = Title("perf-current", "数据说的是现在的代码", "the data is about the present code")
_RULES = Title("perf-rules", "报告没有错误级问题", "no error-level finding in the report")
_RULES_GOOD = both("报告规则没有错误", "no error of the report rules")
_KNOWN = frozenset({"SH942", "SH943", "SH949", "SH951", "SH952", "SH954", "SH955", "SH957"})
_FILL = both("补齐 docs/performance_report.md 的 §1–§3", "complete sections 1 to 3 of docs/performance_report.md")


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
    if holds_numbers(found):
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
    yield measured_when.after_correctness(evidence)
    yield measured_when.apart(evidence)
    yield from Verdicts(evidence, [file], ("reports",)).more(_RULES, _RULES_GOOD, _KNOWN)


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
    simulated = simulated_logs(evidence)
    if simulated and "SHMEM" in lacking:
        return _LOGS.unknown(
            both(f"{simulated[0]} 是 CPU 模拟环境的日志，不算性能数据", f"{simulated[0]} is a log of the CPU stand-in, which is no measurement"),
            both("在 NPU 上测：opdev run 6", "measure on an NPU: opdev run 6"),
            evidence.at(simulated[0]),
        )  # fmt: skip
    return _LOGS.unknown(
        both(f"data/perf/ 下没有 {names} 的日志，报告里的数字无从核对", f"no log of {names} in data/perf/: the report's numbers cannot be checked"),
        both("重跑并留下日志：bash scripts/perf.sh … 2>&1 | tee data/perf/shmem_<BASE_COUNT>_<DTYPE>.log", "run again and keep the log: bash scripts/perf.sh … 2>&1 | tee data/perf/shmem_<BASE_COUNT>_<DTYPE>.log"),
        evidence.at("data/perf"),
    )  # fmt: skip


def _measured_scales(evidence: Evidence, file: File, found: PerformanceReport) -> Check:
    from opdev.facts.cases import matrix_of

    matrix = matrix_of(evidence.project)
    scales = {case.id: case.tier or case.scale for case in matrix.cases} if matrix is not None else {}
    cases = {m.case for m in found.measured if m.case and m.metric == BUS and m.figure.value is not None}
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
    old = stale(evidence)
    if old is None:
        return _CURRENT.ok(by_time(both("不早于全部源码", "no older than any source")))
    return _CURRENT.failed(
        old.text, both("重新测一次基线和 SHMEM，更新报告", "measure baseline and SHMEM again and bring the report up to date"), old.place
    )  # fmt: skip
