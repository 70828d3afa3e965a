"""Headings and pipe tables of a Markdown document with their places, fences left out.

A design's other half is tables under numbered headings; a full Markdown tree would cost more than
all the rules that read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(rb"[^\n\r]*(?:\r\n|\n|\r|\Z)")
_TICKS = re.compile(rb"[ \t]*(?:>[ \t]*)*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(rb"[ ]{0,3}(#{1,6})[ \t]+([^\r\n]*)")
_NUMBER = re.compile(r"[§第]?\s*(\d+(?:\.\d+)*)\b")
_DELIMITER = re.compile(rb"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")


@dataclass(frozen=True, slots=True)
class Heading:
    """``## 6.1 Compile Contract``: level 2, number ``6.1``, its line, and where its section stops."""

    level: int
    number: str
    title: str
    start: int
    end: int
    stop: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell's text and where it stands, blanks around it left out."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Table:
    """A pipe table: the header's cells, the rows below the dashes, and the heading it is under."""

    header: list[Cell]
    start: int
    end: int
    heading: Heading | None = None
    rows: list[list[Cell]] = field(default_factory=list)

    def column(self, *names: str) -> int | None:
        """The column whose title holds one of ``names`` (case aside)."""
        for index, cell in enumerate(self.header):
            if any(name.lower() in cell.text.lower() for name in names):
                return index
        return None


def prose(data: bytes, begin: int = 0) -> Iterator[tuple[int, int]]:
    """(start, end) of each line outside fences, line end included."""
    at, ticks = begin, b""
    while at < len(data):
        match = _LINE.match(data, at)
        stop = match.end() if match and match.end() > at else len(data)
        found = _TICKS.match(data, at, stop)
        if ticks:
            if found and found.group(1).startswith(ticks) and not found.group(2).strip():
                ticks = b""
        elif found and not (found.group(1)[:1] == b"`" and b"`" in found.group(2)):
            ticks = found.group(1)
        else:
            yield at, stop
        at = stop


def headings(data: bytes, begin: int = 0) -> list[Heading]:
    """The headings, each with the end of its section (the next heading of its level or above)."""
    found: list[tuple[int, str, int, int]] = []
    for start, stop in prose(data, begin):
        match = _HEADING.match(data, start, stop)
        if match:
            title = match.group(2).rstrip().rstrip(b"#").rstrip()
            end = match.start(2) + len(title)
            found.append((len(match.group(1)), title.decode("utf-8", "replace"), start, end))
    out: list[Heading] = []
    after: dict[int, int] = {}
    for level, title, start, end in reversed(found):
        stop = min((at for lv, at in after.items() if lv <= level), default=len(data))
        after = {lv: at for lv, at in after.items() if lv < level}
        after[level] = start
        number = _NUMBER.match(title)
        out.append(Heading(level, number.group(1) if number else "", title, start, end, stop))
    return out[::-1]


@dataclass(slots=True)
class _Growing(Table):
    end_of_line: int = 0


def tables(data: bytes, under: list[Heading]) -> list[Table]:
    """The tables outside fences; a table ends at the first line without a pipe."""
    found: list[Table] = []
    current: _Growing | None = None
    before: tuple[int, int] | None = None
    passed = 0
    for start, stop in prose(data):
        line = data[start:stop].rstrip()
        end = start + len(line)
        while passed < len(under) and under[passed].start <= start:
            passed += 1
        if b"|" not in line or (current is not None and start != current.end_of_line):
            current = None
        if current is not None:
            current.rows.append(_cells(data, start, end))
            current.end, current.end_of_line = end, stop
        elif before is not None and before[1] == start and b"|" in line and _DELIMITER.fullmatch(line.strip()):
            header = _cells(data, before[0], before[0] + len(data[before[0] : before[1]].rstrip()))
            current = _Growing(header, before[0], end, under[passed - 1] if passed else None)
            current.end_of_line = stop
            found.append(current)
        before = (start, stop) if b"|" in line else None
    return found


def _cells(data: bytes, start: int, end: int) -> list[Cell]:
    cells: list[Cell] = []
    # A bar inside code is no border; with an unpaired tick in the line there is no code.
    paired = data.count(b"`", start, end) % 2 == 0
    at = start
    while at <= end:
        stop = at
        code = False
        while stop < end and (code or data[stop : stop + 1] != b"|"):
            if data[stop : stop + 1] == b"\\":
                stop += 1
            elif paired and data[stop : stop + 1] == b"`":
                code = not code
            stop += 1
        stop = min(stop, end)
        raw = data[at:stop]
        text = raw.strip()
        begin = at + (len(raw) - len(raw.lstrip()) if text else 0)
        cells.append(Cell(text.decode("utf-8", "replace"), begin, begin + len(text)))
        at = stop + 1
    line = data[start:end].strip()
    if line.startswith(b"|"):
        cells = cells[1:]
    if line.endswith(b"|") and cells and not cells[-1].text:
        cells = cells[:-1]
    return cells
