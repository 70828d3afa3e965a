"""Where the frame's sections, tables and rows are in a document that may call and number them otherwise."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from opdev.design.document import DesignDocument
from opdev.design.frame import BOX_ORDER, BOXES, GRIDS, REVIEW_ORDER, SECTIONS, Grid, Part, Row
from opdev.design.markdown import Cell, Heading, Table, stops_of
from opdev.design.problems import PLACEHOLDER

_PROMPT = re.compile(r"\[[^\]]*(?:[\u3400-\u9fff]|[A-Za-z]/[A-Za-z]|\.\.\.)[^\]]*\]")
_ORDERS = {"5": REVIEW_ORDER, "7": BOX_ORDER}
_KNOWN = {
    number: [
        (re.compile(row.pattern, re.IGNORECASE), row)
        for row in sorted(rows, key=lambda r: _ORDERS[number].index(r.key) if number in _ORDERS else 0)
    ]
    for number, rows in (*((number, grid.rows) for number, grid in GRIDS.items()), ("7", BOXES))
}
_TITLES = {part.number: re.compile(part.words, re.IGNORECASE) for part in SECTIONS}


@lru_cache(maxsize=4096)
def is_prompt(text: str) -> bool:
    """Whether a cell still is the template's: ``[需求点]``, ``pass/fail``, ``replace_me``."""
    bare = text.strip("`* ")
    return PLACEHOLDER in bare or bare in ("pass/fail", "yes/no") or _PROMPT.fullmatch(bare) is not None


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A cell's text without the marks of code and emphasis."""
    return text.replace("`", "").replace("*", "").strip()


@lru_cache(maxsize=4096)
def topics(text: str, number: str) -> tuple[Row, ...]:
    """All rows of a section's table (of the boxes for ``7``) that a text speaks of, the narrowest first."""
    return tuple(row for pattern, row in _KNOWN[number] if pattern.search(text))


def topic(text: str, number: str) -> Row | None:
    """The row of the frame that a table's row (or a box) is."""
    return next(iter(topics(text, number)), None)


def sections(document: DesignDocument) -> dict[str, Heading]:
    """The headings that are sections of the frame, by number.

    A title in the template's words counts whatever its number, any other title by its number.
    """
    return document.file.memo("design-sections", lambda: _sections(document))


def _sections(document: DesignDocument) -> dict[str, Heading]:
    heads = document.headings
    found = _places(tuple([(head.level, head.number, head.title) for head in heads]))
    return {number: heads[index] for number, index in found.items()}


# A keystroke rarely is in a heading.
@lru_cache(maxsize=64)
def _places(heads: tuple[tuple[int, str, str], ...]) -> dict[str, int]:
    """Which heading of (level, number, title) each section of the frame is."""
    stops = stops_of([level for level, _, _ in heads], range(len(heads)), len(heads))
    found: dict[str, int] = {}
    for part in SECTIONS:
        parent = found.get(part.number.partition(".")[0]) if "." in part.number else None
        best: tuple[int, int] | None = None
        for index in range(parent + 1, stops[parent]) if parent is not None else range(len(heads)):
            level, number, title = heads[index]
            if (level >= 3) != (part.level == 3) and number != part.number:
                continue
            rank = _rank(part, level, number, title, heads[parent][1] if parent is not None else None)
            if rank is not None and (best is None or (rank, level) < best):
                best, found[part.number] = (rank, level), index
    return found


def _rank(part: Part, level: int, number: str, title: str, parent: str | None) -> int | None:
    """How well a heading is a section: 0 by title and number, 1 by title, 2 by number; None for not at all.

    ``parent`` is the number of the heading that is the section around it.
    """
    titled = _titled(title)
    if part.number in titled:
        if number == part.number:
            return 0
        # Sections may be numbered otherwise, and what stands below one of them with it.
        moved = parent is not None and parent != part.number.partition(".")[0]
        return None if level > 3 or (part.level == 3 and number and not moved) else 1
    if number != part.number or level > part.level + 1:
        return None
    return None if any(("." in named) == (part.level == 3) for named in titled) else 2


@lru_cache(maxsize=1024)
def _titled(title: str) -> frozenset[str]:
    """The sections that a title names in the template's words."""
    return frozenset(number for number, pattern in _TITLES.items() if pattern.search(title))


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
    starts = document.file.memo("design-heading-starts", lambda: [h.start for h in document.headings])
    index = bisect_right(starts, heading.start)
    return starts[index] if index < len(starts) else len(document.data)


def columns(grid: Grid, table: Table) -> list[int | None]:
    """The table's column for each of the grid's; a column is taken once."""
    return list(_columns(grid.number, tuple(cell.text for cell in table.header)))


@lru_cache(maxsize=256)
def _columns(number: str, header: tuple[str, ...]) -> tuple[int | None, ...]:
    taken: set[int] = set()
    out: list[int | None] = []
    titles = [title.lower() for title in header]
    for column in GRIDS[number].columns:
        exact = [i for i, t in enumerate(titles) if t == column.title.lower()]
        loose = [i for i, t in enumerate(titles) if any(word in t for word in column.words)]
        index = next((i for i in (*exact, *loose) if i not in taken), None)
        out.append(index)
        if index is not None:
            taken.add(index)
    return tuple(out)


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


def rows_of(table: Table) -> list[list[Cell]]:
    """The rows that say anything."""
    return [row for row in table.rows if any(c.text for c in row)]


def names(rows: list[Row]) -> dict[str, object]:
    """The args of a problem with rows that are not there."""
    return {
        # A name that is a list itself is not to be taken for several.
        "missing_zh": "、".join(f"“{row.zh}”" if "、" in row.zh else row.zh for row in rows),
        "missing_en": ", ".join(f"'{row.en}'" if "," in row.en else row.en for row in rows),
        "keys": tuple(row.key for row in rows),
        "count": len(rows),
    }


def anchor(document: DesignDocument, number: str) -> tuple[int, int]:
    """What to underline for something a section lacks: its heading."""
    heading = sections(document).get(number)
    if heading is None:
        heading = document.headings[0] if document.headings else None
    return (heading.start, heading.end) if heading is not None else document.source.line_range(0)
