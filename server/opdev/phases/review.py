"""Phases 5 and 7: what the review report says, and whether everything it delivers is there.

The interim review (Phase 5) may be older than the code: probes are added after it.  The final one (Phase 7)
may not.  A P0 row that is not PASS closes the gate whatever the conclusion says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.phases import upstream
from opdev.phases.evidence import Evidence
from opdev.phases.holes import HOLE
from opdev.phases.model import Check, Title, both
from opdev.phases.proofs import Proof, by_time, fresh, stale_text
from opdev.phases.verdicts import Verdicts
from opdev.syntax.file import File

if TYPE_CHECKING:
    from opdev.facts.report_review import Consistency, ReviewReport

NAMES = ("docs/review-report.md", "docs/review_report.md")
ROWS = 12
_REPORT = Title("review-report", "走读报告", "the review report")
_P0 = Title("review-p0", "P0 项全部 PASS", "every P0 row is PASS")
_ALL = Title("review-p0-p1", "P0、P1 项全部 PASS", "every P0 and P1 row is PASS")
_ROWS = Title("review-rows", f"{ROWS} 行一致性检查", f"{ROWS} consistency rows")
_CONCLUSION = Title("review-conclusion", "结论不是“需修复”", "the conclusion is not 需修复")
_PENDING = Title("review-section-3", "§3 写着待回填", "section 3 says that it is to be filled")
_CORES = Title("review-cores", "没有写死单核", "no fixed single core")
_FINAL = Title("review-final", "最终走读", "the final review")
_CURRENT = Title("review-current", "最终走读不早于代码", "the final review is no older than the code")
_FILLED = Title("review-performance", "§3 已按性能报告填写", "section 3 is filled from the performance report")
_VERDICTS = Title("review-verdicts", "§5 有结论", "section 5 has its verdicts")
_DELIVER = Title("review-deliverables", "§6 的交付物都在", "the deliverables of section 6 are there")
_RULES = Title("review-rules", "报告没有错误级问题", "no error-level finding in the report")
_RULES_GOOD = both("报告规则没有错误", "no error of the report rules")
_KNOWN = frozenset({"SH969", "SH970", "SH971", "SH972", "SH973"})
_WRITE = both(
    "走读代码并写 docs/review-report.md（shmem-ops-code-review）",
    "review the code into docs/review-report.md (shmem-ops-code-review)",
)
_REPAIR = "需修复"
_PASS = re.compile(r"pass|通过|✅", re.I)
_FAIL = re.compile(r"fail|不通过|未通过|❌|不一致", re.I)
_OPEN = re.compile(r"\bnot\b|\bpending\b|\btodo\b|未(?!发现|见)|待|部分", re.I)
_TO_COME = re.compile(r"Phase\s*6(?:\.5)?|performance_report\.md|(?<!\d)/\s*5", re.I)
"""Digits of the fixed text that stands in section 3 before anything is measured."""
_NOT_APPLICABLE = re.compile(r"(?<![a-z])n/?a(?![a-z])|\bnot applicable\b|不适用|无关", re.I)


def report(evidence: Evidence) -> tuple[File, ReviewReport] | None:
    """The review report and its file; None where there is none that can be read."""
    from opdev.facts.reports import review_report

    file = evidence.first(*NAMES)
    found = review_report(file) if file is not None else None
    return (file, found) if file is not None and found is not None else None


def passes(result: str | None) -> bool:
    """Whether a row's result lets the gate open."""
    text = result or ""
    if _FAIL.search(text):
        return False
    return bool(_NOT_APPLICABLE.search(text)) or (bool(_PASS.search(text)) and not _OPEN.search(text))


def conclusion(found: ReviewReport) -> str:
    """What is written behind 总体结论; empty for the template's list of choices."""
    said = found.conclusion
    return said.text if said is not None and said.chosen else ""


def numbers(found: ReviewReport) -> bool:
    """Whether section 3 holds measured values."""
    return any(any(ch.isdigit() for ch in _TO_COME.sub("", cell.text)) for _, cell in found.performance_cells)


def _bad(found: ReviewReport, *priorities: str) -> list[Consistency]:
    return [r for r in found.consistency if (r.priority or "").upper() in priorities and not passes(r.result)]


def interim(evidence: Evidence) -> Proof:
    """Whether a review was done and lets the operator go on."""
    both_of = report(evidence)
    if both_of is None:
        there = evidence.exists(NAMES[0])
        return Proof(
            "missing",
            both(
                f"{NAMES[0]} {'读不出来' if there else '不存在'}",
                f"{NAMES[0]} {'cannot be read' if there else 'is not there'}",
            ),
            evidence.at(NAMES[0]),
        )
    file, found = both_of
    if not found.consistency:
        return Proof(
            "missing",
            both("走读报告没有一致性检查表", "the review report has no consistency table"),
            evidence.spot(file),
        )
    if not any((row.priority or "").upper() == "P0" for row in found.consistency):
        return Proof("missing", both("走读报告没有标 P0 的行", "the review marks no row P0"), evidence.spot(file))
    bad = _bad(found, "P0")
    if bad:
        return Proof(
            "failed",
            both(f"P0 项没有通过：{bad[0].name}", f"a P0 row is not PASS: {bad[0].name}"),
            evidence.spot(file, bad[0].start),
        )
    if _REPAIR in conclusion(found):
        return Proof("failed", both("总体结论是“需修复”", "the conclusion is 需修复"), evidence.spot(file))
    return Proof("ok", both("走读通过", "the review passed"), evidence.spot(file))


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 5."""
    both_of = report(evidence)
    if both_of is None:
        proof = interim(evidence)
        yield _REPORT.failed(proof.text, _WRITE, proof.place)
        return
    file, found = both_of
    yield _REPORT.ok(both(f"有 {evidence.below(file)}", f"{evidence.below(file)} is there"), evidence.spot(file))
    yield from _consistency(evidence, file, found, _P0, "P0")
    yield _section_3(evidence, file, found)
    yield from _single_core(evidence)
    yield from Verdicts(evidence, [file], ("reports",)).more(_RULES, _RULES_GOOD, _KNOWN)


def _consistency(
    evidence: Evidence, file: File, found: ReviewReport, title: Title, *priorities: str
) -> Iterator[Check]:
    count = len(found.consistency)
    fill = both(
        f"一致性检查写满 {ROWS} 行，每行有优先级和结果",
        f"give the consistency table its {ROWS} rows, each with priority and result",
    )
    if count < ROWS:
        yield _ROWS.failed(both(f"只有 {count} 行", f"there are {count}"), fill, evidence.spot(file))
    else:
        yield _ROWS.ok(both(f"{count} 行", f"{count} rows"))
    bad = _bad(found, *priorities)
    unjudged = [r for r in bad if not (r.result or "").strip("-— ") or HOLE in (r.result or "")]
    if unjudged and len(unjudged) == len(bad):
        yield title.failed(
            both(f"{len(bad)} 项还没有走读，第一项：{bad[0].name}", f"{len(bad)} rows are not reviewed yet, the first: {bad[0].name}"),
            both("对照设计走读代码，逐行写 PASS、FAIL 或 N/A", "review the code against the design and give every row PASS, FAIL or N/A"),
            evidence.spot(file, bad[0].start),
        )  # fmt: skip
    elif bad:
        names = ", ".join(r.name for r in bad)
        yield title.failed(
            both(f"没有通过：{names}", f"not PASS: {names}"),
            both("改正代码或设计，再走读这些项", "mend code or design, then review these rows again"),
            evidence.spot(file, bad[0].start),
        )
    elif any((r.priority or "").upper() == "P0" for r in found.consistency):
        yield title.ok(both("都通过", "all pass"))
    else:
        yield title.unknown(both("没有标 P0 的行", "no row is marked P0"), fill, evidence.spot(file))
    if _REPAIR in conclusion(found):
        yield _CONCLUSION.failed(
            both("总体结论是“需修复”", "the conclusion is 需修复"),
            both("改完走读报告列出的问题，再走读一次", "mend what the report lists, then review again"),
            evidence.spot(file),
        )
    elif found.conclusion is not None and found.conclusion.chosen:
        yield _CONCLUSION.ok(both(conclusion(found), conclusion(found)))
    else:
        yield _CONCLUSION.unknown(
            both("没有写总体结论", "there is no conclusion"), both("在 §5 写总体结论", "write the conclusion into section 5"), evidence.spot(file)
        )  # fmt: skip


def _section_3(evidence: Evidence, file: File, found: ReviewReport) -> Check:
    if found.mode == "final":
        return _PENDING.skipped(both("已是最终走读", "it is the final review already"))
    if evidence.said("performance_required") is False:
        return _PENDING.skipped(both("不做性能评估", "performance is not evaluated"))
    if numbers(found):
        return _PENDING.failed(
            both("§3 已有数字，性能还没有测过", "section 3 holds numbers before anything was measured"),
            both("§3 只写待回填的固定文字", "leave the fixed to-be-filled text in section 3"),
            evidence.spot(file),
        )
    if found.section3 is not None:
        return _PENDING.ok(both("待回填", "to be filled"))
    return _PENDING.failed(
        both("没有 §3 性能", "there is no section 3 on performance"),
        both("加上 §3，写待回填", "add section 3 and say that it is to be filled"),
        evidence.spot(file),
    )


def _single_core(evidence: Evidence) -> Iterator[Check]:
    code = [f for r in evidence.code if (f := evidence.file(r)) is not None]
    errors = [
        f for f in Verdicts(evidence, code, ("kernel-api",)).errors if f.rule.name in ("fixed-block-dim", "dead-branch")
    ]
    if not errors:
        yield _CORES.ok(
            both("没有写死的 block_dim，没有不走的快速路径", "no fixed block_dim, no fast path that is never taken")
        )
        return
    from opdev.phases.verdicts import by_rule

    yield from by_rule(errors)


def final(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 7."""
    both_of = report(evidence)
    if both_of is None:
        proof = interim(evidence)
        yield _REPORT.failed(proof.text, _WRITE, proof.place)
        return
    file, found = both_of
    relative = evidence.below(file)
    yield _REPORT.ok(both(f"有 {relative}", f"{relative} is there"), evidence.spot(file))
    again = both(
        "做最终走读：报告模式写 final，填 §3、§5、§6", "do the final review: mode final, sections 3, 5 and 6 filled"
    )
    if found.mode == "final":
        yield _FINAL.ok(both("报告模式为 final", "its mode is final"), evidence.spot(file))
    else:
        yield _FINAL.failed(
            both(f"报告模式是 {found.mode or '空'}", f"its mode is {found.mode or 'not given'}"),
            again,
            evidence.spot(file),
        )
    if fresh(evidence, relative):
        yield _CURRENT.ok(by_time(both("不早于全部源码", "no older than any source")))
    else:
        yield _CURRENT.failed(stale_text(evidence, relative), again, evidence.spot(file))
    yield from _consistency(evidence, file, found, _ALL, "P0", "P1")
    yield _performance(evidence, file, found)
    if found.verdicts:
        yield _VERDICTS.ok(both(f"{len(found.verdicts)} 条", f"{len(found.verdicts)} of them"))
    else:
        yield _VERDICTS.failed(both("§5 没有分项结论", "section 5 has no verdicts"), again, evidence.spot(file))
    yield _deliverables(evidence, file, found)
    yield upstream.untouched(evidence)
    yield from Verdicts(evidence, [file], ("reports",)).more(_RULES, _RULES_GOOD, _KNOWN)


def _performance(evidence: Evidence, file: File, found: ReviewReport) -> Check:
    if evidence.said("performance_required") is False:
        return _FILLED.skipped(both("不做性能评估，写明未做性能验证", "performance is not evaluated"))
    if numbers(found):
        return _FILLED.ok(both("有数字", "it has numbers"))
    return _FILLED.failed(
        both("§3 没有数字", "section 3 has no numbers"),
        both("从 docs/performance_report.md 抄入四项指标", "copy the four metrics from docs/performance_report.md"),
        evidence.spot(file),
    )


def _deliverables(evidence: Evidence, file: File, found: ReviewReport) -> Check:
    if not found.deliverables:
        return _DELIVER.failed(
            both("§6 没有交付物清单", "section 6 lists no deliverables"),
            both("在 §6 逐项列出交付物", "list the deliverables in section 6"),
            evidence.spot(file),
        )
    for item in found.deliverables:
        spot = evidence.spot(file, item.start)
        if item.mark in ("absent", "pending", None):
            return _DELIVER.failed(
                both(f"{item.name} 还没有", f"{item.name} is still missing"),
                both(f"补上 {item.name}，或标 N/A 并写原因", f"deliver {item.name}, or mark it N/A with the reason"),
                spot,
            )
        path = _path_in(item.path or item.name, evidence.name)
        if item.mark == "present" and path is not None and not evidence.exists(path):
            return _DELIVER.failed(
                both(f"标了 ✅，但没有 {path}", f"it is marked ✅, but there is no {path}"),
                both(f"交付 {path}，或改正标记", f"deliver {path}, or mend the mark"),
                spot,
            )
    return _DELIVER.ok(both(f"{len(found.deliverables)} 项", f"{len(found.deliverables)} of them"))


_PATH = re.compile(r"[\w./<>-]+(?:/[\w.<>-]*|\.(?:md|py|sh|cpp|h|txt|json|ya?ml))")


def _path_in(text: str, name: str) -> str | None:
    """The path below the operator that a row speaks of; None for one that speaks of none."""
    match = _PATH.search(text.replace("<op>", name).replace("<op_name>", name))
    if match is None:
        return None
    path = match.group().rstrip("/")
    marker = f"custom-ops/{name}/"
    path = path.split(marker, 1)[1] if marker in path else path
    return None if "<" in path or path.startswith(("custom-ops/", "examples/", "/")) else path
