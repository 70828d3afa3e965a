"""Where the frame's sections, tables and rows are in a document that may call and number them otherwise."""

from __future__ import annotations

import re

from opdev.design.document import DesignDocument
from opdev.design.frame import GRIDS, SECTIONS, Grid, Part, Row
from opdev.design.markdown import Cell, Heading, Table
from opdev.design.problems import PLACEHOLDER

_PROMPT = re.compile(r"\[[^\]]*(?:[\u3400-\u9fff]|[A-Za-z]/[A-Za-z]|\.\.\.)[^\]]*\]")
_TITLES = {part.number: re.compile(part.words, re.IGNORECASE) for part in SECTIONS}


def is_prompt(text: str) -> bool:
    """Whether a cell still is the template's: ``[需求点]``, ``pass/fail``, ``replace_me``."""
    bare = text.strip("`* ")
    return PLACEHOLDER in bare or bare in ("pass/fail", "yes/no") or _PROMPT.fullmatch(bare) is not None


def plain(text: str) -> str:
    """A cell's text without the marks of code and emphasis."""
    return text.replace("`", "").replace("*", "").strip()


def topic(text: str, rows: tuple[Row, ...], order: tuple[str, ...] = ()) -> Row | None:
    """The row of the frame that a table's row (or a box) is; the first of ``order`` that knows the text."""
    by_key = {row.key: row for row in rows}
    return next((row for key in order or by_key if re.search((row := by_key[key]).pattern, text, re.IGNORECASE)), None)


def sections(document: DesignDocument) -> dict[str, Heading]:
    """The headings that are sections of the frame, by number.

    A title in the template's words counts whatever its number, any other title by its number.
    """
    return document.file.memo("design-sections", lambda: _sections(document))


def _sections(document: DesignDocument) -> dict[str, Heading]:
    found: dict[str, Heading] = {}
    for part in SECTIONS:
        parent = found.get(part.number.partition(".")[0]) if "." in part.number else None
        best: tuple[int, int] | None = None
        for heading in document.headings:
            if parent is not None and not parent.start < heading.start < parent.stop:
                continue
            if (heading.level >= 3) != (part.level == 3) and heading.number != part.number:
                continue
            rank = _rank(part, heading, parent)
            if rank is not None and (best is None or (rank, heading.level) < best):
                best, found[part.number] = (rank, heading.level), heading
    return found


def _rank(part: Part, heading: Heading, parent: Heading | None) -> int | None:
    """How well a heading is a section: 0 by title and number, 1 by title, 2 by number; None for not at all."""
    if _TITLES[part.number].search(heading.title):
        if heading.number == part.number:
            return 0
        # Sections may be numbered otherwise, and what stands below one of them with it.
        moved = parent is not None and parent.number != part.number.partition(".")[0]
        return None if heading.level > 3 or (part.level == 3 and heading.number and not moved) else 1
    if heading.number != part.number or heading.level > part.level + 1:
        return None
    others = (p for p in SECTIONS if p.level == part.level and p is not part)
    return None if any(_TITLES[p.number].search(heading.title) for p in others) else 2


def tables_of(document: DesignDocument, number: str) -> list[Table]:
    """The tables of a section, those below its own headings included."""
    heading = sections(document).get(number)
    return [t for t in document.tables if heading.start < t.start < heading.stop] if heading is not None else []


def table_of(document: DesignDocument, number: str) -> Table | None:
    """The table of a section: of several, the one that has most of the frame's columns."""
    grid = GRIDS[number]
    found = tables_of(document, number)
    return max(found, key=lambda t: len([c for c in columns(grid, t) if c is not None]), default=None)


def own_stop(document: DesignDocument, heading: Heading) -> int:
    """Where a section's own text ends: at the next heading of any level."""
    return next((h.start for h in document.headings if h.start > heading.start), len(document.data))


def columns(grid: Grid, table: Table) -> list[int | None]:
    """The table's column for each of the grid's; a column is taken once."""
    taken: set[int] = set()
    out: list[int | None] = []
    titles = [cell.text.lower() for cell in table.header]
    for column in grid.columns:
        exact = [i for i, t in enumerate(titles) if t == column.title.lower()]
        loose = [i for i, t in enumerate(titles) if any(word in t for word in column.words)]
        index = next((i for i in (*exact, *loose) if i not in taken), None)
        out.append(index)
        if index is not None:
            taken.add(index)
    return out


def cell(row: list[Cell], index: int | None) -> Cell | None:
    """A row's cell; None where the table lacks the column or the row the cell."""
    return row[index] if index is not None and index < len(row) else None


def text(row: list[Cell], index: int | None) -> str:
    """A cell's text without marks; empty where there is none."""
    found = cell(row, index)
    return plain(found.text) if found is not None else ""


def spot(row: list[Cell], index: int | None) -> tuple[int, int]:
    """What to underline of a cell: the cell, or where it is empty the row's first words."""
    found = cell(row, index)
    if found is None or not found.text:
        found = next((c for c in row if c.text), row[0])
    return found.start, found.end
