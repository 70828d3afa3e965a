"""docs/review-report.md: what was reviewed, twelve consistency checks, section 3, verdicts, deliverables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from opdev.design.markdown import Cell, Heading
from opdev.facts.report_tables import Grid, Layout, Place, bare, grid, layout_of, plain, result, within
from opdev.syntax.file import File

Mark = Literal["present", "absent", "n/a", "pending"]
FIELDS = ("算子名称", "报告模式", "design.md", "代码目录", "走读时间", "SoC", "PE 数")
"""The rows of the information table."""
_COLUMNS: dict[str, tuple[str, ...]] = {
    "number": ("序号", "no", "#"),
    "name": ("检查项", "check"),
    "priority": ("严重级别", "级别", "severity", "priority"),
    "result": ("结果", "result"),
    "note": ("说明", "备注", "note"),
}
_DELIVERABLES: dict[str, tuple[str, ...]] = {
    "name": ("交付物", "deliverable"),
    "path": ("路径", "path"),
    "mark": ("状态", "status"),
}
_METRICS: dict[str, tuple[str, ...]] = {
    "metric": ("指标", "metric"),
    "value": ("值", "value"),
    "shmem": ("shmem最终", "shmem"),
    "ratio": ("shmem/基线",),
    "verdict": ("达标",),
}
_VERDICTS = (
    ("design", "设计一致性"),
    ("correctness", "正确性验证"),
    ("performance", "性能达标"),
    ("overall", "总体结论"),
)
_NAMES = "|".join(zh for _, zh in _VERDICTS).encode()
# **name**：value, **name：** value, name: **value**
_VERDICT = re.compile(
    rb"[ \t]*(?:[-*+][ \t]+)?(?:\*\*(?P<a>%s)\*\*[ \t]*(?:\xef\xbc\x9a|:)|\*\*(?P<b>%s)[ \t]*(?:\xef\xbc\x9a|:)\*\*"
    rb"|(?P<c>%s)[ \t]*(?:\xef\xbc\x9a|:))[ \t]*(?P<said>[^\r\n]*)" % (_NAMES, _NAMES, _NAMES)
)


@dataclass(frozen=True, slots=True)
class Field:
    """One row of the information table; ``start`` and ``end`` are those of the value, of the row where it is blank."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Consistency:
    """One of the twelve checks; ``priority`` is P0, P1, P2 or what is written."""

    name: str
    priority: str | None
    result: str | None
    note: str | None
    start: int
    end: int
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A line of the conclusion; ``text`` is what is said behind the colon, without emphasis."""

    text: str
    start: int
    end: int

    @property
    def chosen(self) -> bool:
        """Whether one of the choices is left rather than the template's list of them."""
        return bool(self.text) and " / " not in self.text


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A row of section 6; ``mark`` is None where the template's choices still stand.  ``[start, end)`` is the mark."""

    name: str
    path: str
    mark: Mark | None
    start: int
    end: int
    name_at: Place


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """A review.  ``mode`` is interim or final; ``section3`` the range of the performance summary."""

    path: str
    mode: str | None
    information: Grid | None
    fields: Mapping[str, Field]
    consistency_table: Grid | None
    consistency: tuple[Consistency, ...]
    section3: Place | None
    performance_cells: tuple[tuple[str, Cell], ...]
    """(row, cell) of section 3's tables: name of the metric, and each value beside it."""
    verdicts: Mapping[str, Verdict]
    deliverables: tuple[Deliverable, ...]

    @property
    def conclusion(self) -> Verdict | None:
        """``总体结论``."""
        return self.verdicts.get("overall")


def read_review(file: File) -> ReviewReport:
    """The review a file is."""
    layout = layout_of(file)
    information = _information(layout)
    fields = _fields(information)
    mode = fields.get("报告模式")
    said = bare(mode.text).lower() if mode is not None else ""
    checks = _consistency_table(layout)
    third = next((h for h in layout.headings if h.number == "3" or "性能评估" in h.title), None)
    return ReviewReport(
        file.path,
        said if said in ("interim", "final") else None,
        information,
        fields,
        checks,
        _consistency(checks),
        (third.end, third.stop) if third is not None else None,
        _cells(layout, third),
        _verdicts(file),
        _deliverables(layout),
    )


def _information(layout: Layout) -> Grid | None:
    wanted = {plain(name) for name in FIELDS}
    for table in layout.tables:
        names = {plain(cells[0].text) for cells in table.rows if cells}
        if len(wanted & names) >= 2:
            return grid(table, {"name": ("字段", "项目", "field"), "value": ("内容", "值", "value")})
    return None


def _fields(table: Grid | None) -> dict[str, Field]:
    found: dict[str, Field] = {}
    for row in table.rows if table is not None else ():
        name, value = row.cells.get("name"), row.cells.get("value")
        known = next((f for f in FIELDS if name is not None and plain(f) == plain(name.text)), None)
        if known is not None and name is not None:
            filled = value is not None and value.end > value.start
            found[known] = Field(
                value.text if value else "", *((value.start, value.end) if filled and value else (name.start, name.end))
            )
    return found


def _consistency_table(layout: Layout) -> Grid | None:
    first = next((h for h in layout.headings if h.number == "1" or "一致性检查" in h.title), None)
    for table in layout.tables:
        if within(first, table):
            found = grid(table, _COLUMNS)
            if {"name", "result"} <= found.columns.keys():
                return found
    return None


def _consistency(table: Grid | None) -> tuple[Consistency, ...]:
    found = []
    for row in table.rows if table is not None else ():
        said = row.text("result")
        places = {name: (cell.start, cell.end) for name, cell in row.cells.items() if cell.end > cell.start}
        found.append(
            Consistency(
                row.text("name") or "",
                row.text("priority"),
                result(said) if said is not None else None,
                row.text("note"),
                row.start,
                row.end,
                places,
            )
        )
    return tuple(found)


def _cells(layout: Layout, third: Heading | None) -> tuple[tuple[str, Cell], ...]:
    found: list[tuple[str, Cell]] = []
    for table in layout.tables:
        if within(third, table):
            for cells in table.rows:
                found += [(bare(cells[0].text), cell) for cell in cells[1:] if cell.end > cell.start]
    return tuple(found)


def _verdicts(file: File) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for start, stop in _lines(file.data):
        match = _VERDICT.match(file.data, start, stop)
        if match is None:
            continue
        named = match["a"] or match["b"] or match["c"]
        name = next(key for key, zh in _VERDICTS if zh.encode() == named)
        raw = match["said"].rstrip()
        text = raw.decode("utf-8", "replace").replace("**", "")
        text = re.split(r"[（(]", text, maxsplit=1)[0].strip(" \t。.")
        found.setdefault(name, Verdict(text, match.start("said"), match.start("said") + len(raw)))
    return found


def _lines(data: bytes) -> list[Place]:
    if not any(zh.encode() in data for _, zh in _VERDICTS):
        return []
    return [m.span() for m in re.finditer(rb"[^\r\n]+", data)]


def _deliverables(layout: Layout) -> tuple[Deliverable, ...]:
    found: list[Deliverable] = []
    for table in layout.tables:
        rows = grid(table, _DELIVERABLES)
        if not {"name", "mark"} <= rows.columns.keys():
            continue
        for row in rows.rows:
            mark, name = row.cells.get("mark"), row.cells.get("name")
            if mark is not None and name is not None:
                found.append(
                    Deliverable(
                        bare(name.text),
                        row.text("path") or "",
                        _mark(mark.text),
                        mark.start,
                        mark.end,
                        (name.start, name.end),
                    )
                )
    return tuple(found)


def _mark(text: str) -> Mark | None:
    """What a mark says; None for nothing, and for the template's choice of several."""
    there: list[Mark] = []
    if re.search(r"✅|✔|☑|已完成|present", text):
        there.append("present")
    if re.search(r"❌|✗|✘|缺失|absent", text):
        there.append("absent")
    if re.search(r"\bN/?A\b|不适用", text, re.IGNORECASE):
        there.append("n/a")
    if re.search(r"待补齐|待补|pending", text):
        there.append("pending")
    return there[0] if len(there) == 1 else None


__all__ = ["FIELDS", "Consistency", "Deliverable", "Field", "ReviewReport", "Verdict", "read_review"]
