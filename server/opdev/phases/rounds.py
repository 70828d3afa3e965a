"""Phase 6.5: five rounds, each a change of mechanism that was retested, measured and decided.

A round counts when it has a step table and says keep or revert, or says 未执行 with the reason.  A step that is
not PASS may only stand in a round that is taken back.  Fewer than five are the design's to say (max_opt_rounds), more
than five the user's.
"""

from __future__ import annotations

from collections.abc import Iterator

from opdev.phases import code, perf, rounds_ledger
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.syntax.file import File

_FINAL = Title("rounds-final", "§6 最终对比（L 与 S）", "the final comparison of section 6 (L and S)")
_OVERVIEW = Title("rounds-overview", "§5 轮次总览", "the overview of section 5")
_CONCLUSION = Title("rounds-conclusion", "§7 结论", "the conclusion of section 7")
_RETESTED = Title("rounds-retested", "现在的代码复测过", "the present code was retested")


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 6.5."""
    both_of = perf.report(evidence)
    if both_of is None:
        title = Title("rounds-report", "性能报告", "the performance report")
        yield title.failed(
            both(f"没有 {perf.REPORT}", f"there is no {perf.REPORT}"),
            both("先完成 Phase 6", "finish Phase 6 first"),
            evidence.at(perf.REPORT),
        )
        return
    file, report = both_of
    for number in range(1, perf.wanted(evidence) + 1):
        yield _round(evidence, file, number)
    yield code.build_check(evidence)
    yield _retested(evidence, file)
    yield _overview(evidence, file)
    yield from rounds_ledger.checks(evidence)
    sections = {row.section for row in report.final}
    lacking = [s for s in ("6.1", "6.2") if s not in sections]
    if lacking:
        names = ", ".join(lacking)
        yield _FINAL.failed(
            both(f"没有 §{names} 的数据", f"no data in section {names}"),
            both("用最终代码重测 L 和 S，填 §6", "measure L and S with the final code and fill section 6"),
            evidence.spot(file),
        )
    else:
        yield _FINAL.ok(both("两张表都有", "both tables are there"))
    if report.conclusion is not None and report.conclusion.text:
        yield _CONCLUSION.ok(
            both(report.conclusion.text, report.conclusion.text), evidence.spot(file, report.conclusion.start)
        )
    else:
        yield _CONCLUSION.failed(
            both("§7 没有写达标状态", "section 7 does not say whether the line is met"),
            both("在 §7 写“达标状态：…”", "write 达标状态 into section 7"),
            evidence.spot(file),
        )


def _round(evidence: Evidence, file: File, number: int) -> Check:
    title = Title(f"round-{number}", f"Round {number}", f"Round {number}")
    found = next((r for r in perf.rounds_of(evidence) if r.number == number), None)
    if found is None:
        return title.failed(
            both("没有这一轮", "there is no such round"),
            both(
                f"做 Round {number}；做不了就写“### Round {number}：未执行，原因…”",
                f"do Round {number}; if it cannot be done, write 未执行 with the reason",
            ),
            evidence.spot(file),
        )
    spot = evidence.spot(file, found.start)
    if not found.executed:
        if found.reason:
            return title.ok(both(f"未执行：{found.reason}", f"not run: {found.reason}"), spot)
        return title.failed(
            both("未执行，没有写原因", "not run, and no reason given"), both("写明原因", "write the reason"), spot
        )
    return _executed(evidence, file, title, number, spot)


def _executed(evidence: Evidence, file: File, title: Title, number: int, spot: Spot) -> Check:
    found = next(r for r in perf.rounds_of(evidence) if r.number == number)
    decision = perf.decided(found)
    if not found.steps:
        return title.failed(
            both("没有步骤表", "it has no table of steps"),
            both("按步骤写变更、正确性和性能", "give every step its change, correctness and numbers"),
            spot,
        )
    body = file.data[found.end : found.stop].decode("utf-8", "replace")
    if "机制" not in body:
        return title.failed(
            both("没有写机制改动", "it names no change of mechanism"),
            both(
                "写明这一轮改了什么机制（只调参数不算一轮）",
                "say which mechanism it changes (parameters alone are no round)",
            ),
            spot,
        )
    failing = [s for s in found.steps if (s.correctness or "").upper() != "PASS"]
    if decision is None:
        return title.failed(
            both("没有决策", "it has no decision"), both("写“决策：keep”或“决策：revert”", "write 决策: keep or revert"), spot
        )  # fmt: skip
    if decision == "keep" and len(failing) == len(found.steps):
        return title.failed(
            both("保留了没有通过正确性的改动", "it keeps a change that did not pass correctness"),
            both("复测通过再保留，否则撤回", "pass the retest, or take it back"),
            evidence.spot(file, failing[0].start),
        )
    return title.ok(both(f"{len(found.steps)} 步，{decision}", f"{len(found.steps)} steps, {decision}"), spot)


def _retested(evidence: Evidence, file: File) -> Check:
    found = perf.retested(evidence)
    if found is not None:
        return _RETESTED.ok(found[0], found[1])
    from opdev.phases import correctness

    proof = correctness.proof(evidence)
    if proof.good:
        return _RETESTED.ok(proof.text, proof.place)
    return _RETESTED.failed(
        both("最后一次改代码之后没有复测的记录", "no retest since the code last changed"),
        both("复测正确性，把结果写进本轮的步骤表", "retest and write the result into the round's steps"),
        evidence.spot(file),
    )


def _overview(evidence: Evidence, file: File) -> Check:
    from opdev.facts.report_tables import layout_of

    rows = [
        cells
        for table in layout_of(file).tables
        if table.heading is not None and table.heading.number.split(".")[0] == "5"
        for cells in table.rows
    ]
    done = [r for r in perf.rounds_of(evidence) if perf.finished(r)]
    if len(rows) >= len(done) and rows:
        return _OVERVIEW.ok(both(f"{len(rows)} 行", f"{len(rows)} rows"))
    return _OVERVIEW.failed(
        both(f"§5 有 {len(rows)} 行，做完 {len(done)} 轮", f"section 5 has {len(rows)} rows for {len(done)} rounds"),
        both("每一轮在 §5 写一行", "give every round a row in section 5"),
        evidence.spot(file),
    )
