"""What all reports have in common: tables with named columns, numbers in cells, results by one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev.design.markdown import Cell, Heading, Table, outline
from opdev.syntax.file import File

Place = tuple[int, int]

_DECORATION = re.compile(r"[*_`~\s]+")
_EDGES = " \t*`~✅❌✔✗✘☑️"
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BLOCKED = re.compile(r"阻塞|未执行|blocked\b", re.IGNORECASE)
_EMPTY = re.compile(r"[-–—/\s]*\Z|n/?a\Z|无\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Figure:
    """A cell that should hold a number: ``value`` is None where it does not.  ``digits`` stand behind its point."""

    text: str
    start: int
    end: int
    value: float | None = None
    digits: int = 0

    @property
    def whole(self) -> int | None:
        """The number where it is a whole one."""
        return int(self.value) if self.value is not None and self.value == int(self.value) else None


@dataclass(frozen=True, slots=True)
class Row:
    """A table's row by column names; a column the table lacks is not in ``cells``."""

    cells: Mapping[str, Cell]
    start: int
    end: int

    def text(self, column: str) -> str | None:
        """A cell's text without emphasis; None where the table has no such column."""
        cell = self.cells.get(column)
        return None if cell is None else bare(cell.text)

    def place(self, *columns: str) -> Place:
        """Where the first of ``columns`` that holds something stands, else the row."""
        for column in columns:
            cell = self.cells.get(column)
            if cell is not None and cell.end > cell.start:
                return cell.start, cell.end
        return self.start, self.end

    def figure(self, column: str) -> Figure | None:
        """A cell as a number."""
        cell = self.cells.get(column)
        return None if cell is None else figure(cell)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table whose columns are known by name.  ``header`` is the range of the header line."""

    columns: Mapping[str, int]
    titles: tuple[Cell, ...]
    rows: tuple[Row, ...]
    start: int
    end: int
    heading: Heading | None = None

    @property
    def header(self) -> Place:
        """The header's cells."""
        return (self.titles[0].start, self.titles[-1].end) if self.titles else (self.start, self.end)


@dataclass(frozen=True, slots=True)
class Layout:
    """A report's headings and tables."""

    headings: list[Heading] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def layout_of(file: File) -> Layout:
    """Headings and tables of a report, once a file."""

    return file.memo("facts.layout", lambda: Layout(*outline(file.data)))


def bare(text: str) -> str:
    """A cell's text without emphasis, ticks and the marks that decorate a result."""
    return text.strip(_EDGES)


def plain(text: str) -> str:
    """A title for comparing: no emphasis, blanks or underscores, lower case."""
    return _DECORATION.sub("", text).lower()


def figure(cell: Cell) -> Figure:
    """A cell as a number with its place; units and emphasis around it are passed over."""
    found = next((m for m in _NUMBER.finditer(cell.text[:80]) if any(c.isdigit() for c in m.group())), None)
    if found is None:
        return Figure(cell.text, cell.start, cell.end)
    text = found.group()
    before = len(cell.text[: found.start()].encode())
    start = cell.start + before
    mantissa = text.lower().partition("e")[0]
    digits = len(mantissa.partition(".")[2])
    value = float(text.replace(",", ""))
    known = value if abs(value) < 1e18 else None
    return Figure(text, start, start + len(text.encode()), known, digits)


def empty(text: str) -> bool:
    """Whether a cell says nothing: blank, a dash, N/A."""
    return _EMPTY.match(bare(text)) is not None


def result(text: str) -> str:
    """PASS, FAIL, BLOCKED (not run, with or without a reason), else the text as it stands."""
    said = bare(text)
    if said.upper() in ("PASS", "FAIL"):
        return said.upper()
    return "BLOCKED" if _BLOCKED.match(said) else said


def grid(table: Table, names: Mapping[str, tuple[str, ...]]) -> Grid:
    """A table by column names: of ``names`` the first that a title is, else is part of it."""
    titles = [plain(cell.text) for cell in table.header]
    columns: dict[str, int] = {}
    for exact in (True, False):
        for column, spellings in names.items():
            if column in columns:
                continue
            for index, title in enumerate(titles):
                if index not in columns.values() and any(
                    title == s if exact else (s in title and len(s) > 2) for s in map(plain, spellings)
                ):
                    columns[column] = index
                    break
    rows = tuple([_row(cells, columns) for cells in table.rows if cells])
    return Grid(columns, tuple(table.header), rows, table.start, table.end, table.heading)


def _row(cells: list[Cell], columns: Mapping[str, int]) -> Row:
    known = {column: cells[index] for column, index in columns.items() if index < len(cells)}
    return Row(known, cells[0].start, max(cells[-1].end, cells[0].start))


def within(heading: Heading | None, table: Table) -> bool:
    """Whether a table stands in a heading's section."""
    return heading is not None and heading.start <= table.start < heading.stop
