"""Phase 4: whether the present code passed its cases, by the reports.

What counts
    docs/correctness_report.md     every row PASS, or blocked with a reason; totals without a failure
    docs/case_matrix_report.md     the runner's own table
    as old as the code             neither older than any source (a ``matrix`` record that names its sources wins
                                   over the file time); while optimising, each round's own retest speaks for
                                   the code and the reports of Phase 4 may be older
A report without rows and without totals says nothing, whatever its heading promises; nor does one in which no
case passed, or one of totals alone where there is a case matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.proofs import Proof, by_time, fresh, on_stand_in, recorded, stale_text
from opdev.phases.verdicts import Verdicts
from opdev.rules.model import Text
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.reports import CaseRow, CorrectnessReport

REPORT = "docs/correctness_report.md"
MATRIX = "docs/case_matrix_report.md"
_PRESENT = Title("correctness-report", "正确性报告", "the correctness report")
_MATRIX = Title("correctness-matrix-report", "用例矩阵报告", "the case-matrix report")
_PASS = Title("correctness-passed", "全部用例通过或已归类", "every case passes or is classified")
_MEDIUM = Title("correctness-medium", "跑过中等规模的用例", "a medium case was run")
_CURRENT = Title("correctness-current", "报告说的是现在的代码", "the reports are about the present code")
_ALL = Title("correctness-all-cases", "用例矩阵里的用例都有结果", "every case of the matrix has a result")
_INVARIANTS = Title("correctness-invariants", "不变量已验证", "the invariants are verified")
_COMMAND = Title("correctness-command", "命令与 build_mode 一致", "the commands fit the build mode")
_RULES = Title("correctness-rules", "报告没有错误级问题", "no error-level finding in the report")
_RULES_GOOD = both("报告规则没有错误", "no error of the report rules")
_KNOWN = frozenset({"SH965", "SH967"})
_RUN = both(
    "跑完用例矩阵并写报告：python3 scripts/run_case_matrix.py（shmem-ops-correctness-eval）",
    "run the case matrix and write the report: python3 scripts/run_case_matrix.py (shmem-ops-correctness-eval)",
)


def report(evidence: Evidence) -> CorrectnessReport | None:
    """The correctness report; None where there is none that can be read."""
    from opdev.facts.reports import correctness_report

    file = evidence.file(REPORT)
    return correctness_report(file) if file is not None else None


def reported(evidence: Evidence) -> bool:
    """Whether Phase 4 was ever gone through."""
    return evidence.file(REPORT) is not None or evidence.file(MATRIX) is not None


def rows(evidence: Evidence) -> list[tuple[File, CaseRow]]:
    """The rows of both reports, the correctness report's first."""
    from opdev.facts.reports import case_matrix_report, correctness_report

    out: list[tuple[File, CaseRow]] = []
    for relative, read in ((REPORT, correctness_report), (MATRIX, case_matrix_report)):
        file = evidence.file(relative)
        found = read(file) if file is not None else None
        if file is not None and found is not None:
            out += [(file, row) for row in found.rows]
    return out


def passing_row(evidence: Evidence, n_pes: int | None = None) -> tuple[Text, Spot] | None:
    """A PASS in a report that is no older than the code: it ran, so it was built."""
    for file, row in rows(evidence):
        relative = evidence.below(file)
        if row.result == "PASS" and (n_pes is None or row.n_pes == n_pes) and fresh(evidence, relative):
            text = both(f"{relative} 里 {row.id} 为 PASS", f"{relative} has PASS for {row.id}")
            text = on_stand_in(text) if simulated_matrix(evidence) else text
            return by_time(text), evidence.spot(file, row.start)
    return None


def simulated_matrix(evidence: Evidence) -> bool:
    """Whether the newest case matrix on record ran on the CPU stand-in: then the reports tell of that one."""
    record = evidence.record("matrix")
    return record is not None and record.backend == "sim"


def proof(evidence: Evidence, *, current: bool = True) -> Proof:
    """Whether correctness is passed; ``current``: for the code as it is now."""
    record = evidence.record("matrix")
    if record is not None and evidence.matches(record) is not None and record.result != "pass":
        failed = recorded(evidence, record, "用例矩阵", "case matrix")
        if failed.verdict == "failed":
            return failed
    found = report(evidence)
    file = evidence.file(REPORT)
    if found is None or file is None:
        there = evidence.exists(REPORT)
        return Proof(
            "missing",
            both(
                f"{REPORT} {'读不出来' if there else '不存在'}",
                f"{REPORT} {'cannot be read' if there else 'is not there'}",
            ),
            evidence.at(REPORT),
        )
    bad = _bad(evidence, found, file)
    if bad is not None:
        return Proof("failed", *bad)
    if not _says_anything(found):
        return Proof("missing", both(f"{REPORT} 没有结果", f"{REPORT} has no results"), evidence.spot(file))
    empty = _nothing_passed(evidence, found)
    if empty is not None:
        return Proof("missing", empty, evidence.spot(file))
    if current:
        stale = _stale(evidence)
        if stale is not None:
            return stale
    text = both(f"{REPORT} 全部通过", f"{REPORT}: all passed")
    simulated = simulated_matrix(evidence)
    return Proof("ok", on_stand_in(text) if simulated else text, evidence.spot(file), simulated)


def _says_anything(found: CorrectnessReport) -> bool:
    return bool(found.rows) or bool(found.summary is not None and found.summary.passed)


def _nothing_passed(evidence: Evidence, found: CorrectnessReport) -> Text | None:
    """Why a report without a failure shows nothing all the same: no case passed, or only a total says so."""
    from opdev.facts.cases import matrix_of

    if found.rows and not any(row.result == "PASS" for row in found.rows):
        return both(
            f"{REPORT} 的 {len(found.rows)} 个用例没有一个 PASS",
            f"not one of the {len(found.rows)} cases in {REPORT} passed",
        )
    if not found.rows and matrix_of(evidence.project) is not None:
        return both(f"{REPORT} 只有合计，没有逐个用例的结果", f"{REPORT} has totals only, and no result of any case")
    return None


def _bad(evidence: Evidence, found: CorrectnessReport, file: File) -> tuple[Text, Spot] | None:
    """The first failure, or a case that is blocked without a reason."""
    failing = [row for row in found.rows if row.result == "FAIL"]
    if failing:
        more = f" (+{len(failing) - 1})" if len(failing) > 1 else ""
        name = failing[0].id
        return both(f"{name} 为 FAIL{more}", f"{name} is FAIL{more}"), evidence.spot(file, failing[0].start)
    summary = found.summary
    if summary is not None and summary.failed:
        text = both(f"失败数为 {summary.failed}", f"{summary.failed} failed by the summary")
        return text, evidence.spot(file)
    for row in found.rows:
        if row.result not in ("PASS", "FAIL") and not (row.note or "").strip():
            text = both(
                f"{row.id} 的结果是“{row.result or ''}”，没有写原因",
                f"{row.id} has the result {row.result!r} and no reason",
            )
            return text, evidence.spot(file, row.start)
    return None


def _stale(evidence: Evidence) -> Proof | None:
    record = evidence.record("matrix")
    if record is not None and evidence.matches(record) is not None:
        found = recorded(evidence, record, "用例矩阵", "case matrix")
        return None if found.good else found
    if not fresh(evidence, REPORT):
        return Proof("stale", stale_text(evidence, REPORT), evidence.at(REPORT))
    return None


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 4."""
    from opdev.phases import code

    yield code.build_check(evidence)
    found, file = report(evidence), evidence.file(REPORT)
    if found is None or file is None:
        missing = proof(evidence)
        yield _PRESENT.failed(missing.text, _RUN, missing.place)
        yield from _matrix(evidence)
        return
    if not _says_anything(found):
        yield _PRESENT.failed(both(f"{REPORT} 没有结果", f"{REPORT} has no results"), _RUN, evidence.spot(file))
    else:
        yield _PRESENT.ok(both(f"{len(found.rows)} 行结果", f"{len(found.rows)} rows of results"), evidence.spot(file))
    yield from _matrix(evidence)
    yield _passed(evidence, found, file)
    yield _current(evidence)
    yield _medium(evidence, file, found.rows)
    yield from Verdicts(evidence, [file], ("reports",)).more(_RULES, _RULES_GOOD, _KNOWN)
    yield _complete(evidence, found, file)
    yield _invariants(evidence, found, file)
    yield _commands(evidence)


def _matrix(evidence: Evidence) -> Iterator[Check]:
    if evidence.in_tree:
        yield _MATRIX.skipped(both("示例工程不要求", "not asked of an example"))
        return
    file = evidence.file(MATRIX)
    if file is not None and any(f is file for f, _ in rows(evidence)):
        yield _MATRIX.ok(both(f"有 {MATRIX}", f"{MATRIX} is there"), evidence.spot(file))
    else:
        state_zh, state_en = (
            ("没有结果表", "has no table of results") if file is not None else ("不存在", "is not there")
        )
        yield _MATRIX.failed(
            both(f"{MATRIX} {state_zh}", f"{MATRIX} {state_en}"),
            both("python3 scripts/run_case_matrix.py 会写出它", "python3 scripts/run_case_matrix.py writes it"),
            evidence.at(MATRIX),
        )


def _passed(evidence: Evidence, found: CorrectnessReport, file: File) -> Check:
    bad = _bad(evidence, found, file)
    if bad is not None:
        return _PASS.failed(
            bad[0],
            both(
                "按失败归类处理：代码有误回 Phase 3，测试有误回 Phase 2，契约做不到回 Phase 1；阻塞的写明原因",
                "by its class: code faults to Phase 3, test faults to Phase 2, a contract that cannot be met to Phase 1; "
                "write the reason beside what is blocked",
            ),
            bad[1],
        )
    if not _says_anything(found):
        return _PASS.unknown(both("报告里没有结果", "the report has no results"), _RUN, evidence.spot(file))
    empty = _nothing_passed(evidence, found)
    if empty is not None:
        return _PASS.failed(empty, _RUN, evidence.spot(file))
    blocked = sum(row.result != "PASS" for row in found.rows)
    text = both("没有 FAIL", "no FAIL")
    if blocked:
        text = both(f"{blocked} 个用例未执行，都写了原因", f"{blocked} cases were not run, each with a reason")
    simulated = simulated_matrix(evidence)
    return _PASS.ok(on_stand_in(text) if simulated else text, simulated=simulated)


def _current(evidence: Evidence) -> Check:
    from opdev.phases.perf import retested

    stale = _stale(evidence)
    if stale is None:
        how = both("按内容摘要判断", "by content") if _by_content(evidence) else None
        text = both("不早于全部源码", "no older than any source")
        return _CURRENT.ok(
            both(f"{text['zh']}（{how['zh']}）", f"{text['en']} ({how['en']})") if how else by_time(text)
        )
    retest = retested(evidence)
    if retest is not None:
        return _CURRENT.ok(retest[0], retest[1])
    return _CURRENT.failed(
        stale.text,
        both("重跑用例矩阵并更新报告", "run the case matrix again and bring the report up to date"),
        stale.place,
    )


def _by_content(evidence: Evidence) -> bool:
    record = evidence.record("matrix")
    return record is not None and evidence.matches(record) is not None


def _medium(evidence: Evidence, file: File, found: Sequence[CaseRow]) -> Check:
    medium = [r for r in found if (r.scale or "").upper() in ("M", "L")]
    done = [r for r in medium if r.result == "PASS"]
    if done:
        return _MEDIUM.ok(both(f"{done[0].id}", f"{done[0].id}"), evidence.spot(file, done[0].start))
    if medium:
        first = medium[0]
        return _MEDIUM.failed(
            both(f"中等规模的用例没有通过（{first.id}）", f"no medium case passes ({first.id})"),
            both("跑通一个 M 规模（每 PE 1–64 MB）的用例", "pass one case of scale M (1-64 MB a PE)"),
            evidence.spot(file, first.start),
        )
    if found and all(r.scale is None for r in found):
        return _MEDIUM.unknown(
            both("报告没有 scale 列", "the report has no scale column"),
            both("在用例表里写明 scale（XS、S、M、L）", "give the table a scale column (XS, S, M, L)"),
            evidence.spot(file),
        )
    return _MEDIUM.failed(
        both("没有 M 或 L 规模的用例", "there is no case of scale M or L"),
        both("跑一个 M 规模（每 PE 1–64 MB）的用例", "run a case of scale M (1-64 MB a PE)"),
        evidence.spot(file),
    )


def _complete(evidence: Evidence, found: CorrectnessReport, file: File) -> Check:
    from opdev.facts.cases import matrix_of

    matrix = matrix_of(evidence.project)
    if matrix is None:
        return _ALL.skipped(both("没有用例矩阵可对", "there is no case matrix to compare with"))
    known = {row.id for row in found.rows}
    lacking = [case for case in matrix.cases if case.id not in known]
    if not lacking:
        return _ALL.ok(both(f"{len(matrix.cases)} 个都有", f"all {len(matrix.cases)} have one"))
    names = ", ".join(case.id for case in lacking[:4]) + (" …" if len(lacking) > 4 else "")
    return _ALL.failed(
        both(f"{len(lacking)} 个用例没有结果：{names}", f"{len(lacking)} cases have no result: {names}"),
        both("跑完这些用例，或写明为什么没有执行", "run them, or write why they were not run"),
        evidence.spot(file),
    )


def _invariants(evidence: Evidence, found: CorrectnessReport, file: File) -> Check:
    planned = len(evidence.design.items("correctness.invariants")) if evidence.design is not None else 0
    if not planned:
        return _INVARIANTS.skipped(both("设计里没有不变量", "the design names no invariants"))
    bad = [i for i in found.invariants if i.result != "PASS" and not (i.result != "FAIL" and (i.note or "").strip())]
    if bad:
        return _INVARIANTS.failed(
            both(f"“{bad[0].text}”没有通过", f"{bad[0].text!r} is not verified"),
            both("验证它，或写明为什么没有验证", "verify it, or write why it was not verified"),
            evidence.spot(file, bad[0].start),
        )
    if len(found.invariants) < planned:
        return _INVARIANTS.failed(
            both(f"设计有 {planned} 条不变量，报告里有 {len(found.invariants)} 条", f"the design has {planned} invariants, the report {len(found.invariants)}"),
            both("在报告的不变量表里逐条写结果", "give every invariant a row in the report"),
            evidence.spot(file),
        )  # fmt: skip
    return _INVARIANTS.ok(both(f"{planned} 条", f"all {planned}"))


def _commands(evidence: Evidence) -> Check:
    """The commands of the design's contract against the build mode: all that disk knows of the commands used."""
    document = evidence.design
    mode = document.text("meta.build_mode") if document is not None else ""
    if document is None or mode not in ("independent_project", "in_tree_example"):
        return _COMMAND.unknown(
            both("不知道 build_mode", "the build mode is not known"),
            both("在 design.md 的 meta 里写 build_mode", "write build_mode into the design's meta"),
            evidence.at("docs/design.md"),
        )
    other = "examples/" if mode == "independent_project" else "custom-ops/"
    for table in document.tables:
        if table.heading is None or not table.heading.number.startswith("6"):
            continue
        for row in table.rows:
            if row and row[0].text.strip("` ") in ("command", "run_command", "matrix_command"):
                cell = next((c for c in row[1:] if f"{other}{evidence.name}" in c.text), None)
                if cell is not None:
                    return _COMMAND.failed(
                        both(f"build_mode 是 {mode}，{row[0].text} 却用 {other}", f"build_mode is {mode}, but {row[0].text} uses {other}"),
                        both("把命令改到算子自己的目录", "point the command at the operator's own folder"),
                        evidence.spot(document.file, cell.start),
                    )  # fmt: skip
    return _COMMAND.ok(both(f"build_mode 为 {mode}", f"build_mode is {mode}"))
