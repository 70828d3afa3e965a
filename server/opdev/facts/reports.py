"""What the reports in docs/ say: verdicts of every case, the review's tables, measured numbers.

Reports are known by their names; tables are found by their columns, in any order, and a column that is
not there is None.  Numbers keep how many digits they show, so that they can be held against a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev.design.markdown import Table
from opdev.facts.report_performance import PerformanceReport, read_performance
from opdev.facts.report_review import Deliverable, ReviewReport, Verdict, read_review
from opdev.facts.report_tables import Figure, Grid, Layout, Place, Row, grid, layout_of, plain, result
from opdev.syntax.file import File

CASE_COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("case id", "case_id", "用例编号", "用例名", "用例", "case"),
    "category": ("category", "类别", "分类"),
    "scale": ("scale", "规模", "档位"),
    "n_pes": ("n_pes", "pes", "pe数", "n_pe"),
    "shape": ("shape", "形状"),
    "dtype": ("dtype", "数据类型"),
    "result": ("result", "结果", "结论"),
    "maxae": ("maxae", "最大绝对误差"),
    "maxre": ("maxre", "最大相对误差"),
    "note": ("备注", "说明", "note", "remark", "remarks"),
}
TITLES = ("Case ID", "category", "scale", "n_pes", "shape", "dtype", "Result", "MaxAE", "MaxRE", "备注")
"""The header of a case table, in the order of CASE_COLUMNS."""
INVARIANT_COLUMNS: dict[str, tuple[str, ...]] = {
    "text": ("invariant", "不变式", "不变量"),
    "method": ("验证方式", "test method", "method"),
    "result": ("结果", "result"),
    "note": ("说明", "备注", "note"),
}
SUMMARY_ROWS: dict[str, tuple[str, ...]] = {
    "total": ("总用例数", "用例总数", "total"),
    "passed": ("通过数", "passed"),
    "failed": ("失败数", "failed"),
    "rate": ("通过率", "pass rate"),
    "blocked": ("阻塞（未执行）数", "阻塞(未执行)数", "阻塞数", "未执行数", "blocked"),
}


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case's line; ``result`` is PASS, FAIL, BLOCKED or what else is written.  None: no such column."""

    id: str
    result: str | None
    category: str | None
    scale: str | None
    n_pes: int | None
    shape: str | None
    dtype: str | None
    maxae: str | None
    maxre: str | None
    note: str | None
    start: int
    end: int
    places: Mapping[str, Place] = field(default_factory=dict)

    def place(self, *fields: str) -> Place:
        """Where the first of ``fields`` that is filled stands, else the row."""
        return next((self.places[f] for f in fields if f in self.places), (self.start, self.end))


@dataclass(frozen=True, slots=True)
class InvariantRow:
    """One invariant's line; ``result`` is PASS, FAIL, 未验证 or what else is written."""

    text: str
    method: str | None
    result: str | None
    note: str | None
    start: int
    end: int
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary table: counts by name, those that have a row.  ``[start, end)`` is its header."""

    figures: Mapping[str, Figure]
    start: int
    end: int
    stop: int
    """Where the table ends."""

    def _count(self, name: str) -> int | None:
        found = self.figures.get(name)
        return found.whole if found is not None else None

    @property
    def total(self) -> int | None:
        return self._count("total")

    @property
    def passed(self) -> int | None:
        return self._count("passed")

    @property
    def failed(self) -> int | None:
        return self._count("failed")

    @property
    def blocked(self) -> int | None:
        return self._count("blocked")


@dataclass(frozen=True, slots=True)
class CorrectnessReport:
    """docs/correctness_report.md, or the second section of a review."""

    path: str
    summary: Summary | None
    cases: Grid | None
    rows: tuple[CaseRow, ...]
    invariant_table: Grid | None
    invariants: tuple[InvariantRow, ...]


@dataclass(frozen=True, slots=True)
class CaseMatrixReport:
    """docs/case_matrix_report.md: the runner's own record of one line a case."""

    path: str
    cases: Grid | None
    rows: tuple[CaseRow, ...]


def report_name(file: File) -> str:
    """``correctness_report`` of docs/correctness_report.md; dashes count as underscores."""
    name = file.path.rpartition("/")[2].lower()
    return name.removesuffix(".md").replace("-", "_") if name.endswith(".md") and file.region is None else ""


def correctness_report(file: File) -> CorrectnessReport | None:
    """The correctness report a file is."""
    if report_name(file) != "correctness_report":
        return None
    return file.memo("facts.correctness", lambda: _correctness(file))


def case_matrix_report(file: File) -> CaseMatrixReport | None:
    """The case matrix report a file is."""
    if report_name(file) != "case_matrix_report":
        return None

    def make() -> CaseMatrixReport:
        cases = _case_table(layout_of(file).tables)
        return CaseMatrixReport(file.path, cases, _case_rows(cases))

    return file.memo("facts.case_matrix", make)


def review_report(file: File) -> ReviewReport | None:
    """The review report a file is."""
    if report_name(file) != "review_report":
        return None
    return file.memo("facts.review", lambda: read_review(file))


def review_correctness(file: File) -> CorrectnessReport | None:
    """The correctness results a review repeats."""
    if report_name(file) != "review_report":
        return None
    return file.memo("facts.review_correctness", lambda: _correctness(file))


def performance_report(file: File) -> PerformanceReport | None:
    """The performance report a file is."""
    if report_name(file) != "performance_report":
        return None
    return file.memo("facts.performance", lambda: read_performance(file))


def _correctness(file: File) -> CorrectnessReport:
    layout = layout_of(file)
    cases = _case_table(layout.tables)
    invariants = _invariant_table(layout.tables)
    return CorrectnessReport(
        file.path, _summary(layout), cases, _case_rows(cases), invariants, _invariant_rows(invariants)
    )


def _case_table(found: list[Table]) -> Grid | None:
    """The table that lists cases: an id and a result, or nearly all of its columns."""
    grids = [g for table in found if len((g := grid(table, CASE_COLUMNS)).columns) >= 3 and "id" in g.columns]
    grids = [g for g in grids if "result" in g.columns or len(g.columns) >= 6]
    return max(grids, key=lambda g: (len(g.columns) >= 6, len(g.rows)), default=None)


def _case_rows(cases: Grid | None) -> tuple[CaseRow, ...]:
    return tuple([_case_row(row) for row in cases.rows]) if cases is not None else ()


def _case_row(row: Row) -> CaseRow:
    said = row.text("result")
    pes = row.figure("n_pes")
    return CaseRow(
        id=row.text("id") or "",
        result=result(said) if said is not None else None,
        category=row.text("category"),
        scale=row.text("scale"),
        n_pes=pes.whole if pes is not None else None,
        shape=row.text("shape"),
        dtype=row.text("dtype"),
        maxae=row.text("maxae"),
        maxre=row.text("maxre"),
        note=row.text("note"),
        start=row.start,
        end=row.end,
        places={name: (cell.start, cell.end) for name, cell in row.cells.items() if cell.end > cell.start},
    )


def _invariant_table(found: list[Table]) -> Grid | None:
    grids = [g for table in found if {"text", "result"} <= (g := grid(table, INVARIANT_COLUMNS)).columns.keys()]
    return grids[0] if grids else None


def _invariant_rows(table: Grid | None) -> tuple[InvariantRow, ...]:
    found = []
    for row in table.rows if table is not None else ():
        said = row.text("result")
        places = {name: (cell.start, cell.end) for name, cell in row.cells.items() if cell.end > cell.start}
        found.append(
            InvariantRow(
                row.text("text") or "",
                row.text("method"),
                result(said) if said is not None else None,
                row.text("note"),
                row.start,
                row.end,
                places,
            )
        )
    return tuple(found)


def _summary(layout: Layout) -> Summary | None:
    """The table of two columns whose rows are counts."""
    for table in layout.tables:
        figures: dict[str, Figure] = {}
        for cells in table.rows:
            if len(cells) >= 2:
                name = next((k for k, names in SUMMARY_ROWS.items() if plain(cells[0].text) in map(plain, names)), None)
                if name is not None:
                    figures.setdefault(
                        name, Row({"v": cells[1]}, cells[1].start, cells[1].end).figure("v") or _nothing(cells[1])
                    )
        if len(figures) >= 2:
            return Summary(figures, table.header[0].start, table.header[-1].end, table.end)
    return None


def _nothing(cell: object) -> Figure:
    return Figure("", getattr(cell, "start", 0), getattr(cell, "end", 0))


__all__ = [
    "CASE_COLUMNS", "INVARIANT_COLUMNS", "SUMMARY_ROWS", "TITLES", "CaseMatrixReport", "CaseRow", "CorrectnessReport",
    "Deliverable", "Figure", "InvariantRow", "PerformanceReport", "ReviewReport", "Summary", "Verdict",
    "case_matrix_report", "correctness_report", "performance_report", "report_name", "review_correctness",
    "review_report",
]  # fmt: skip
