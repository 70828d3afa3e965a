"""Reports of cases against the case matrix and against themselves: no case lost, none invented, sums that hold."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.checks.case_fields import CATEGORIES
from opdev.design.dtypes import fold_dtype
from opdev.facts.cases import Case, CaseList, matrix_of
from opdev.facts.report_tables import Grid, bare, empty, plain
from opdev.facts.reports import (
    CASE_COLUMNS,
    TITLES,
    CaseRow,
    CorrectnessReport,
    correctness_report,
    review_correctness,
)
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

_SHOWN = 5
_CATEGORIES = frozenset(CATEGORIES)
DOTS = ("...", "…", "……", "⋮")
RESULTS = ("PASS", "FAIL", "BLOCKED")
_MEANT = {
    "PASS": ("通过", "成功", "ok", "passed", "success", "pass"), "FAIL": ("失败", "不通过", "未通过", "failed", "error", "timeout", "超时", "fail"),
    "未执行": ("skip", "跳过", "未跑", "未运行", "not run", "todo", "待执行"),
}  # fmt: skip
_TITLES = dict(zip(CASE_COLUMNS, TITLES, strict=True))


def report_of(context: Context) -> CorrectnessReport | None:
    return correctness_report(context.file) or review_correctness(context.file)


def top_of(context: Context) -> tuple[int, int]:
    """The report's title, or its first line."""
    from opdev.facts.report_tables import layout_of

    heads = layout_of(context.file).headings
    return (heads[0].start, heads[0].end) if heads else context.file.source.line_range(0)


def listed(report: CorrectnessReport) -> list[CaseRow]:
    return [row for row in report.rows if row.id and row.id not in DOTS]


def unreported(context: Context) -> Iterator[Hit]:
    """Cases of the matrix without a row; a row of dots for the rest."""
    report = report_of(context)
    if report is None or report.cases is None:
        return
    for row in report.rows:
        if row.id in DOTS:
            yield Hit(*row.place("id"), "dots", {"value": row.id})
    found = matrix_of(context.project) if context.project is not None else None
    if found is None:
        return
    there = {row.id for row in report.rows}
    lacking = [case for case in found.cases if case.id and case.id not in there]
    if not lacking:
        return
    names = ", ".join(c.id for c in lacking[:_SHOWN]) + (", …" if len(lacking) > _SHOWN else "")
    note = {"zh": "没有结果的用例", "en": "the case without a result"}
    related = tuple(Related(*c.place("id"), note, found.path) for c in lacking[:_SHOWN])
    fix = _appended(context, report.cases, lacking)
    yield Hit(*report.cases.header, "default", {"names": names, "count": len(lacking)}, fix, None, related)


def _appended(context: Context, cases: Grid, lacking: list[Case]) -> Fix | None:
    """Rows for the cases, marked as not run, in the table's own columns."""
    if "id" not in cases.columns or "result" not in cases.columns:
        return None
    newline = context.file.source.newline
    by_index = {index: name for name, index in cases.columns.items()}
    rows = []
    for case in lacking:
        known = {
            "id": case.id, "category": case.category, "scale": case.scale, "n_pes": case.n_pes, "shape": case.shape, "dtype": case.dtype,
            "result": "未执行", "note": "原因待补",
        }  # fmt: skip
        cells = [str(known.get(by_index.get(i, "")) or "") for i in range(len(cases.titles))]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    at = line_end(context, cases.end)
    return Fix((Edit(at, at, newline + newline.join(rows)),))


def line_end(context: Context, at: int) -> int:
    source = context.file.source
    return source.line_range(source.line_of(max(0, at - 1)))[1]


def invented(context: Context) -> Iterator[Hit]:
    """A row for a case the matrix does not have."""
    report, found = report_of(context), matrix_of(context.project) if context.project is not None else None
    if report is None or found is None or not found.complete:
        return
    known = {case.id for case in found.cases}
    note = {"zh": "用例矩阵在这里", "en": "the case matrix"}
    for row in listed(report):
        if row.id not in known:
            yield Hit(
                *row.place("id"), args={"name": row.id}, related=(Related(found.start, found.end, note, found.path),)
            )


def mismatched(context: Context) -> Iterator[Hit]:
    """A case whose PEs, dtype or shape here are not those of the matrix, in a report or in the design; one told twice."""
    if context.project is None:
        return
    found = matrix_of(context.project)
    if found is None:
        return
    by_id = {case.id: case for case in found.cases if case.id}
    report = report_of(context)
    if report is not None:
        seen_before: dict[str, CaseRow] = {}
        for row in listed(report):
            if row.id in seen_before:
                note = {"zh": "另一行在这里", "en": "the other row"}
                related = (Related(*seen_before[row.id].place("id"), note),)
                yield Hit(*row.place("id"), "twice", {"name": row.id}, related=related)
                continue
            seen_before[row.id] = row
            case = by_id.get(row.id)
            if case is None:
                continue
            seen: tuple[tuple[str, object, object], ...] = (
                ("n_pes", row.n_pes, case.n_pes or None),
                ("dtype", fold_dtype(row.dtype or ""), fold_dtype(case.dtype or "")),
                ("category", row.category or None, case.category),
                ("scale", (row.scale or "").upper() or None, (case.scale or "").upper() or None),
                ("shape", _elements(row.shape, row.n_pes), case.elements),
            )
            for field, here, there in seen:
                if here is not None and there is not None and here != there and not empty(str(here)):
                    yield _differs(found, case, field, row.place(field), bare(_text(context, row.place(field))), there)
        return
    from opdev.facts.cases import cases_of

    own = cases_of(context.file)
    for mine in own.cases if own is not None and own.origin == "design" else ():
        case = by_id.get(mine.id)
        if case is None:
            continue
        pairs: tuple[tuple[str, object, object], ...] = (
            ("n_pes", mine.n_pes, case.n_pes or None),
            ("dtype", fold_dtype(mine.dtype or ""), fold_dtype(case.dtype or "")),
            # What is no category, or none yet, is told where it stands.
            (
                "category",
                *((mine.category, case.category) if {mine.category, case.category} <= _CATEGORIES else (None, None)),
            ),
            ("shape", mine.elements, case.elements),
        )
        for field, here, there in pairs:
            if here is not None and there is not None and here != there and field in mine.places:
                yield _differs(found, case, field, mine.places[field], _text(context, mine.places[field]), there)


def _elements(shape: str | None, n_pes: int | None) -> int | None:
    from opdev.design.derived import elements

    return (
        elements(shape, {"n_pes": float(n_pes)} if n_pes else None)
        if shape and any(c.isdigit() for c in shape)
        else None
    )


def _text(context: Context, place: tuple[int, int]) -> str:
    return context.file.source.text(*place).strip("\"'")


def _differs(found: CaseList, case: Case, field: str, place: tuple[int, int], here: str, there: object) -> Hit:
    note = {"zh": "用例矩阵里的值", "en": "the value in the case matrix"}
    value = case.shape if field == "shape" else case.dtype if field == "dtype" else there
    args = {"name": case.id, "field": field, "here": here, "there": value}
    return Hit(*place, args=args, related=(Related(*case.place(field), note, found.path),))


def columns(context: Context) -> Iterator[Hit]:
    """A case table without one of its columns, or no case table."""
    report = report_of(context)
    if report is None:
        return
    if report.cases is None:
        yield Hit(*top_of(context), "absent")
        return
    lacking = [_TITLES[name] for name in CASE_COLUMNS if name not in report.cases.columns]
    if lacking:
        yield Hit(*report.cases.header, "default", {"missing": ", ".join(lacking)}, _renamed(report.cases))


def _renamed(cases: Grid) -> Fix | None:
    """The header rewritten, where it has ten columns and those that are known stand where they belong."""
    names = list(CASE_COLUMNS)
    if len(cases.titles) != len(names) or any(names.index(n) != i for n, i in cases.columns.items()):
        return None
    edits = [
        Edit(cell.start, cell.end, title)
        for cell, title in zip(cases.titles, TITLES, strict=True)
        if cell.text != title and cell.end > cell.start
    ]
    return Fix(tuple(edits)) if edits else None


def results(context: Context) -> Iterator[Hit]:
    """A result that is none of the three, or not run and nobody says why."""
    report = report_of(context)
    for row in listed(report) if report is not None else ():
        if row.result is None:
            continue
        if row.result not in RESULTS:
            meant = next((m for m, words in _MEANT.items() if any(w in row.result.lower()[:40] for w in words)), "")
            meant = "" if "/" in row.result else meant
            place = row.place("result", "id")
            fix = Fix((Edit(*place, meant),)) if meant and "result" in row.places else None
            message = "near" if fix else "default" if row.result else "none"
            yield Hit(*place, message, {"name": row.id, "value": row.result, "right": meant}, fix)
        elif row.result == "BLOCKED" and not _reasoned(context, row):
            yield Hit(*row.place("result"), "reason", {"name": row.id})


def _reasoned(context: Context, row: CaseRow) -> bool:
    """Whether the note, or the result's own cell, says why a case was not run."""
    if row.note is None or not empty(row.note):
        return True
    said = plain(_text(context, row.place("result")))
    return len(said.strip("()（）:：/")) > len("阻塞/未执行") + 1 and not said.isascii()
