"""Tables of docs/performance_report.md: the columns that are looked for, and those that hold what does not belong there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opdev.blocks import intact
from opdev.checks.case_lists import op_kind
from opdev.design.markdown import Cell, Heading, Table
from opdev.facts.report_columns import COLUMNS
from opdev.facts.report_performance import PerformanceReport, metric_of
from opdev.facts.report_tables import bare, empty, layout_of, plain, within
from opdev.facts.reports import performance_report
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

_COMPUTE = "compute_utilization_pct"
_ALONE = ("transport", "collective")
_COMPARED = ("hccl", "aclnn", "stitched")
_VARIABLE = re.compile(r"all_?to_?all_?v", re.IGNORECASE)
_LATER = re.compile(r"未测|未执行|待|N/?A|不支持|没有|无法|SHMEM_CYCLE_PROF_PE|PROF", re.IGNORECASE)
_SEARCH = re.compile(rb"[ \t]*[-*+]?[ \t]*\**Search process\**[ \t]*(?:\xef\xbc\x9a|:)\**[ \t]*([^\r\n]*)", re.IGNORECASE)  # fmt: skip


def written(context: Context, start: int) -> bool:
    """Whether what stands at ``start`` was written by `opdev` and is as it was: it names its run itself."""
    return context.file.source.line_of(start) in context.file.memo("report.written", lambda: _lines(context.data))


def _lines(data: bytes) -> frozenset[int]:
    """The lines of all blocks that are as they were generated, whatever lines end in."""
    text = data.replace(b"\r\n", b"\n")
    found: set[int] = set()
    line = at = 0
    for start, end in intact(text):
        line += text.count(b"\n", at, start)
        more = text.count(b"\n", start, end)
        found.update(range(line, line + more + 1))
        line, at = line + more, end
    return frozenset(found)


def columns(context: Context) -> Iterator[Hit]:
    """A table without one of its columns."""
    report = performance_report(context.file)
    for table in layout_of(context.file).tables if report is not None else ():
        found = _wanted(report, table) if report is not None else None
        if found is None or not table.header or written(context, table.start):
            continue
        section, wanted = found
        titles = [cell.text for cell in table.header]
        lacking = [name for name in wanted if not any(_same(name, title) for title in titles)]
        if lacking:
            args = {"section": section, "missing": "、".join(lacking)}
            fix = _renamed(table.header, wanted, lacking) if not section.startswith("6") else None
            yield Hit(table.header[0].start, table.header[-1].end, "default", args, fix)


def _wanted(report: PerformanceReport, table: Table) -> tuple[str, tuple[str, ...]] | None:
    """The section a table belongs to, and the columns it has there; None for tables of the user's own."""
    if not table.header:
        return None
    first = plain(table.header[0].text)
    if first == "step":
        return ("4", COLUMNS["4"]) if any(r.start <= table.start < r.stop for r in report.rounds) else None
    if first == "frame":
        return "3.4", COLUMNS["3.4"]
    for number, wanted in COLUMNS.items():
        heading = next((h for h in report.headings if h.number == number), None)
        if within(heading, table):
            # A table of the user's own in the section has another first column.
            return (number, wanted) if _same(wanted[0], table.header[0].text) else None
    return None


def _same(name: str, title: str) -> bool:
    metric = metric_of(name)
    return plain(name) == plain(title) or (metric is not None and metric == metric_of(title))


def _renamed(header: Sequence[Cell], wanted: Sequence[str], lacking: Sequence[str]) -> Fix | None:
    """Titles rewritten, where there are as many as there should be and the known ones stand where they belong."""
    if len(header) != len(wanted):
        return None
    edits = []
    for cell, name in zip(header, wanted, strict=True):
        if name in lacking:
            if cell.end <= cell.start or any(_same(other, cell.text) for other in wanted):
                return None
            edits.append(Edit(cell.start, cell.end, name))
        elif not _same(name, cell.text):
            return None
    return Fix(tuple(edits))


def compute(context: Context) -> Iterator[Hit]:
    """A compute utilisation of an operator that does not compute, or none of one that does."""
    report = performance_report(context.file)
    kind = op_kind(context) if report is not None else ""
    if kind not in (*_ALONE, "fused_compute_comm"):
        return
    for cell, row in _computed(context):
        said = bare(cell.text)
        if written(context, cell.start) or not said:
            continue
        number = any(c.isdigit() for c in said)
        if kind in _ALONE and number:
            fix = Fix((Edit(cell.start, cell.end, "N/A"),))
            yield Hit(cell.start, cell.end, "default", {"kind": kind, "value": said, "row": row}, fix)
        elif kind not in _ALONE and empty(said):
            yield Hit(cell.start, cell.end, "fused", {"row": row})


def _computed(context: Context) -> Iterator[tuple[Cell, str]]:
    """The cells that hold a compute utilisation, by column and by row."""
    for table in layout_of(context.file).tables:
        column = next((i for i, c in enumerate(table.header) if metric_of(c.text) == _COMPUTE), None)
        for cells in table.rows:
            if column is not None and column < len(cells):
                yield cells[column], bare(cells[0].text)
            elif column is None and cells and metric_of(bare(cells[0].text)) == _COMPUTE and len(cells) > 1:
                yield cells[1], bare(cells[0].text)


def no_frames(context: Context) -> Iterator[Hit]:
    """Section 3.4, or a round's Device Frame table, without a row and without a word on why."""
    report = performance_report(context.file)
    if report is None:
        return
    heading = next((h for h in report.headings if h.number == "3.4"), None)
    tables = layout_of(context.file).tables
    if heading is not None and not any(within(heading, t) and t.rows for t in tables):
        text = context.data[heading.end : heading.stop]
        said = re.sub(rb"(?m)^[ \t]*(?:\|.*|<!--.*-->|[-*]{3,})[ \t]*\r?$", b"", text).strip()
        if not said:
            yield Hit(heading.start, heading.end)
    for table in tables:
        if table.header and plain(table.header[0].text) == "frame" and not table.rows and not within(heading, table):
            line = context.data.find(b"\n", table.end)
            after = context.data[line : line + 400].decode("utf-8", "replace") if line >= 0 else ""
            if not _LATER.search(after.partition("\n#")[0]):
                yield Hit(table.header[0].start, table.header[-1].end, "round")


def not_compared(context: Context) -> Iterator[Hit]:
    """A baseline, and no table that compares with it."""
    report = performance_report(context.file)
    said = report.baseline_type if report is not None else None
    if report is None or said is None or said.text.lower().strip("`") not in _COMPARED:
        return
    third = next((h for h in report.headings if h.number == "3"), None)
    heading = next((h for h in report.headings if h.number == "3.5"), None)
    measured = any(m.section == "3.1" and m.figure.value is not None for m in report.measured)
    if third is None or not measured:
        return
    where: Heading = heading or third
    if heading is not None:
        if any(within(heading, t) and any(len(c) > 1 for c in t.rows) for t in layout_of(context.file).tables):
            return
        if _LATER.search(context.data[heading.end : heading.stop].decode("utf-8", "replace")):
            return
    yield Hit(where.start, where.end, args={"type": said.text})


def search(context: Context) -> Iterator[Hit]:
    """No baseline, and a search that did not look for both kinds."""
    report = performance_report(context.file)
    said = report.baseline_type if report is not None else None
    if report is None or said is None or said.text.lower().strip("`") != "metric_only" or written(context, said.start):
        return
    second = next((h for h in report.headings if h.number == "2"), None)
    if second is None:
        return
    text = context.data[second.end : second.stop]
    line = next((m for m in re.finditer(rb"[^\r\n]+", text) if _SEARCH.match(m.group())), None)
    place = (said.start, said.end)
    if line is not None:
        match = _SEARCH.match(line.group())
        raw = match.group(1).strip() if match is not None else b""
        at = second.end + line.start() + (match.start(1) if match is not None else 0)
        place = (at, at + len(raw)) if raw else (second.end + line.start(), second.end + line.end())
    lowered = text.lower()
    lacking = [name for name, word in (("HCCL", b"hccl"), ("aclnn", b"aclnn")) if word not in lowered]
    if lacking:
        yield Hit(*place, args={"missing": "、".join(lacking)})
    elif _VARIABLE.search(context.place.operator or "") and not _VARIABLE.search(lowered.decode("utf-8", "replace")):
        yield Hit(*place, "variable")
