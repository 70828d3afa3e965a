"""A correctness report's sums and invariants: numbers that follow from its own table, verdicts for all the design lists."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from opdev.checks.case_lists import design
from opdev.checks.report_cases import DOTS, RESULTS, line_end, listed, report_of, top_of
from opdev.design.document import DesignDocument
from opdev.facts.cases import matrix_of
from opdev.facts.report_tables import Grid, empty, plain
from opdev.facts.reports import SUMMARY_ROWS, CorrectnessReport, Summary
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

_SUMMARY_TITLES = {name: spellings[0] for name, spellings in SUMMARY_ROWS.items()}


def summary(context: Context) -> Iterator[Hit]:
    """A summary that lacks a line, or whose numbers are not those of the table below."""
    report = report_of(context)
    if report is None:
        return
    known = report.summary
    counts = _counts(report)
    if known is None:
        yield Hit(*top_of(context), "absent")
        return
    lacking = [name for name in SUMMARY_ROWS if name not in known.figures]
    if lacking:
        fix = _summed(context, known, lacking, counts)
        yield Hit(known.start, known.end, "missing", {"missing": ", ".join(_SUMMARY_TITLES[n] for n in lacking)}, fix)
    related: tuple[Related, ...] = ()
    if report.cases is not None:
        note = {"zh": "逐条结果在这里", "en": "the results one by one"}
        related = (Related(*report.cases.header, note),)
    told = False
    for name, figure in known.figures.items():
        if figure.value is None:
            told = True
            yield Hit(figure.start, figure.end, "unread", {"name": _SUMMARY_TITLES[name], "value": figure.text})
    # While a row is missing, there twice or without a verdict, it is the table that is to be mended.
    whole = _whole(context, report)
    for name, figure in known.figures.items():
        right = counts.get(name)
        if whole and right is not None and figure.value is not None and figure.whole != right:
            told = True
            fix = Fix((Edit(figure.start, figure.end, str(right)),))
            yield Hit(
                figure.start,
                figure.end,
                "count",
                {"name": _SUMMARY_TITLES[name], "value": figure.text, "right": right},
                fix,
                None,
                related,
            )
    # What follows from a number that is told is no further mistake.
    if not told:
        yield from _sums(known)


def _whole(context: Context, report: CorrectnessReport) -> bool:
    """Whether the table has each case once, with a verdict: only then its rows can be counted."""
    rows = listed(report)
    names = [row.id for row in rows]
    found = matrix_of(context.project) if context.project is not None else None
    return (
        bool(rows)
        and len(rows) == len(report.rows) == len(set(names))
        and all(row.result in RESULTS for row in rows)
        and (found is None or {case.id for case in found.cases if case.id} <= set(names))
    )


def _counts(report: CorrectnessReport) -> dict[str, int]:
    rows = listed(report)
    by = {r: sum(row.result == r for row in rows) for r in RESULTS}
    return {"total": len(rows), "passed": by["PASS"], "failed": by["FAIL"], "blocked": by["BLOCKED"]}


def _sums(known: Summary) -> Iterator[Hit]:
    total, passed, failed = known.total, known.passed, known.failed
    if total is not None and passed is not None and failed is not None:
        whole = passed + failed + (known.blocked or 0)
        if whole != total:
            figure = known.figures["total"]
            yield Hit(figure.start, figure.end, "sum", {"total": total, "sum": whole})
    rate = known.figures.get("rate")
    if rate is not None and rate.value is not None and total and passed is not None:
        right = passed / total * 100
        # A share may be written as a fraction of one, too.
        if min(abs(rate.value - right), abs(rate.value * 100 - right)) > 10.0 ** -min(rate.digits, 6):
            shown = f"{right:.1f}".removesuffix(".0")
            fix = Fix((Edit(rate.start, rate.end, shown),)) if rate.value > 1 or right < 1 else None
            yield Hit(rate.start, rate.end, "rate", {"value": rate.text, "right": shown}, fix)


def _summed(context: Context, known: Summary, lacking: list[str], counts: dict[str, int]) -> Fix:
    share = f"{counts['passed'] / counts['total'] * 100:.1f}".removesuffix(".0") if counts["total"] else "0"
    newline = context.file.source.newline
    rows = [f"| {_SUMMARY_TITLES[n]} | {share + '%' if n == 'rate' else counts[n]} |" for n in lacking]
    at = line_end(context, known.stop)
    return Fix((Edit(at, at, newline + newline.join(rows)),), "missing")


def invariants(context: Context) -> Iterator[Hit]:
    """An invariant that was not verified and nobody says why; one of the design that is not in the table."""
    report = report_of(context)
    if report is None:
        return
    for row in report.invariants:
        if row.text in DOTS:
            continue
        said = row.result or ""
        place = row.places.get("result", (row.start, row.end))
        if said.startswith("未验证"):
            if empty(row.note or "") and len(said) <= len("未验证") + 2:
                yield Hit(*place, "reason", {"name": row.text})
        elif said not in ("PASS", "FAIL"):
            yield Hit(*place, "result" if said else "none", {"name": row.text, "value": said})
    document = design(context)
    if document is not None and report.invariant_table is not None:
        yield from _forgotten(document, report, report.invariant_table)


def _forgotten(document: DesignDocument, report: CorrectnessReport, table: Grid) -> Iterator[Hit]:
    there = [plain(row.text)[:120] for row in report.invariants[:60]]
    note = {"zh": "设计里的不变量", "en": "the invariant in the design"}
    for item in document.items("correctness.invariants")[:60]:
        node = item.get("invariant") if item.kind == "mapping" else item
        wanted = plain(node.said)[:120] if node is not None else ""
        if node is None or not wanted or any(_alike(wanted, one) for one in there):
            continue
        related = (Related(*node.where, note, document.file.path),)
        yield Hit(*table.header, "default", {"name": node.said[:60]}, None, "warning", related)


def _alike(one: str, other: str) -> bool:
    if one in other or (other and other in one):
        return True
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.5
