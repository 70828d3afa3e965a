"""Headings and pipe tables of a Markdown document with their places, fences left out.

A design's other half is tables under numbered headings; a full Markdown tree would cost more than
all the rules that read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from opdev.syntax.fences import after_line, fences, line_end, line_start

_HEADING = re.compile(rb"[ ]{0,3}(#{1,6})[ \t]+([^\r\n]*)")
_NUMBER = re.compile(r"[§第]?\s*(\d+(?:\.\d+)*)\b")
_CHINESE = re.compile(r"第?\s*([一二三四五六七八九])\s*(?:[、.．章节]|$)")
_BOX = re.compile(rb"[ \t]*(?:>[ \t]*)*(?:[-*+]|\d+[.)])[ \t]+\[([ xX])\](?:[ \t]+([^\r\n]*))?(?=[\r\n]|\Z)")
_BAR, _ESCAPE, _TICK = b"|\\`"
_DASHES = re.compile(rb"(?:^|(?<=\r))[ \t]*(?:\|[ \t]*)?:?-[-:| \t]*(?=[\r\n]|\Z)", re.MULTILINE)
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


class Cell(NamedTuple):
    """One cell's text and where it stands, blanks around it left out."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Table:
    """A pipe table: the header's cells, the rows below the dashes, and the heading it is under.

    Cells are told apart when they are first asked for: most tables of a long document never are.
    """

    data: bytes
    start: int
    end: int
    heading: Heading | None
    lines: tuple[tuple[int, int], ...]
    """(start, end) of the header's line and of each row's, from ``base``."""
    base: int = 0
    _cells: list[list[Cell]] | None = None

    @property
    def header(self) -> list[Cell]:
        return self._all()[0]

    @property
    def rows(self) -> list[list[Cell]]:
        """The rows, each as long as it was written."""
        return self._all()[1:]

    def _all(self) -> list[list[Cell]]:
        if self._cells is None:
            by = self.base
            self._cells = [_cells(self.data, by + start, by + end) for start, end in self.lines]
        return self._cells

    def column(self, *names: str) -> int | None:
        """The column whose title holds one of ``names`` (case aside)."""
        for index, cell in enumerate(self.header):
            if any(name.lower() in cell.text.lower() for name in names):
                return index
        return None


def _number(title: str) -> str:
    if found := _NUMBER.match(title):
        return found[1]
    found = _CHINESE.match(title)
    return str("一二三四五六七八九".index(found[1]) + 1) if found else ""


@dataclass(frozen=True, slots=True)
class Box:
    """A task list's item: ``[x] text``; ``start`` and ``end`` are those of the brackets."""

    ticked: bool
    text: str
    start: int
    end: int
    stop: int
    """Where the line ends."""


def stretches(data: bytes, begin: int = 0, cuts: Mapping[int, int] | None = None) -> Iterator[tuple[int, int]]:
    """(start, end) of whole lines outside fences.

    ``cuts`` says where the document goes on inside a fence nobody closed: by the offset the fence's text
    starts at.
    """
    at = begin
    for fence in fences(data, begin, cuts):
        if at < fence.line:
            yield at, fence.line
        at = fence.after
    if at < len(data):
        yield at, len(data)


def _lines_with(data: bytes, mark: bytes) -> Iterator[tuple[int, int]]:
    """(start, end with its line end) of the lines that hold ``mark``."""
    at = 0
    while (found := data.find(mark, at)) >= 0:
        at = after_line(data, found)
        yield line_start(data, found), at


def headings(data: bytes, begin: int = 0, cuts: Mapping[int, int] | None = None) -> list[Heading]:
    """The headings, each with the end of its section (the next heading of its level or above)."""
    return outline(data, begin, cuts)[0]


def tables(data: bytes, begin: int = 0, cuts: Mapping[int, int] | None = None) -> list[Table]:
    """The tables outside fences; a table ends at the first line without a pipe, or at a heading."""
    return outline(data, begin, cuts)[1]


Lines = tuple[tuple[int, int], ...]


def outline(data: bytes, begin: int = 0, cuts: Mapping[int, int] | None = None) -> tuple[list[Heading], list[Table]]:
    """Headings and tables outside fences, part by part: what a keystroke did not touch was read before."""
    heads: list[tuple[int, str, str, int, int]] = []
    found: list[tuple[int, int, int, int, Lines]] = []
    for first, last in stretches(data, begin, cuts):
        at = first
        while at < last:
            stop = data.find(b"\n#", at, last) + 1 or last
            above, inside = _part(data[at:stop])
            before = len(heads)
            heads += [(level, number, title, at + start, at + end) for level, number, title, start, end in above]
            for start, end, lines in inside:
                # The part's own headings that stand before it, and what came before the part.
                index = before + sum(1 for head in above if head[3] <= start) - 1
                found.append((index, at, at + start, at + end, lines))
            at = stop
    stops = stops_of([head[0] for head in heads], [head[3] for head in heads], len(data))
    out = [Heading(*head, stop) for head, stop in zip(heads, stops, strict=True)]
    return out, [
        Table(data, start, end, out[index] if index >= 0 else None, lines, base)
        for index, base, start, end, lines in found
    ]


def stops_of(levels: Sequence[int], starts: Sequence[int], end: int) -> list[int]:
    """Where each section stops: at the next heading of its level or above."""
    stops = [end] * len(levels)
    waiting: list[int] = []
    for index, level in enumerate(levels):
        while waiting and levels[waiting[-1]] >= level:
            stops[waiting.pop()] = starts[index]
        waiting.append(index)
    return stops


# The parts of the text before a keystroke are those of the text after it, but for one.
@lru_cache(maxsize=4096)
def _part(text: bytes) -> tuple[tuple[tuple[int, str, str, int, int], ...], tuple[tuple[int, int, Lines], ...]]:
    """A part's headings as (level, number, title, start, end), and its tables as (start, end, lines)."""
    heads: list[tuple[int, str, str, int, int]] = []
    for start, stop in _lines_with(text, b"#"):
        match = _HEADING.match(text, start, stop)
        if match:
            raw = match.group(2).rstrip().rstrip(b"#").rstrip()
            title = raw.decode("utf-8", "replace")
            heads.append((len(match.group(1)), _number(title), title, start, match.start(2) + len(raw)))
    found: list[tuple[int, int, Lines]] = []
    at = 0
    while dashes := _DASHES.search(text, at):
        start = line_start(text, dashes.start())
        at = after_line(text, dashes.end())
        head = line_start(text, start - 2 if text[start - 2 : start] == b"\r\n" else start - 1)
        line = text[start : line_end(text, start)]
        if start <= 0 or b"|" not in line or not _DELIMITER.fullmatch(line.strip()):
            continue
        if text.find(b"|", head, start) < 0:
            continue
        lines, end = [(head, line_end(text, head))], start + len(line.rstrip())
        while at < len(text) and text.find(b"|", at, line_end(text, at)) >= 0:
            lines.append((at, line_end(text, at)))
            end = at + len(text[at : lines[-1][1]].rstrip())
            at = after_line(text, lines[-1][1])
        found.append((head, end, tuple(lines)))
    return tuple(heads), tuple(found)


def boxes(data: bytes, begin: int, end: int) -> list[Box]:
    """The check boxes of a section, fences left out."""
    found: list[Box] = []
    for first, last in stretches(data[:end], begin):
        for start, stop in _lines_with(data[first:last], b"["):
            match = _BOX.match(data, first + start, first + stop)
            if match:
                text, close = (match[2] or b"").rstrip(), match.end(1) + 1
                ends = match.start(2) + len(text) if text else close
                found.append(Box(match[1] != b" ", text.decode("utf-8", "replace"), close - 3, close, ends))
    return found


def _cells(data: bytes, start: int, end: int) -> list[Cell]:
    return [Cell(text, start + begin, start + stop) for text, begin, stop in _row(data[start:end])]


# The rows of the text before a keystroke are those of the text after it, but for one.
@lru_cache(maxsize=4096)
def _row(line: bytes) -> tuple[tuple[str, int, int], ...]:
    """(text, start, end) of a row's cells; there is always one."""
    end = len(line.rstrip())
    cells: list[tuple[str, int, int]] = []
    # A bar inside code is no border; with an unpaired tick in the line there is no code.
    paired = line.count(b"`") % 2 == 0
    at = 0
    while at <= end:
        stop = at
        code = False
        while stop < end and (code or line[stop] != _BAR):
            if line[stop] == _ESCAPE:
                stop += 1
            elif paired and line[stop] == _TICK:
                code = not code
            stop += 1
        stop = min(stop, end)
        raw = line[at:stop]
        text = raw.strip()
        begin = at + (len(raw) - len(raw.lstrip()) if text else 0)
        cells.append((text.decode("utf-8", "replace"), begin, begin + len(text)))
        at = stop + 1
    whole = line.strip()
    if whole.startswith(b"|"):
        cells = cells[1:]
    if whole.endswith(b"|") and cells and not cells[-1][0]:
        cells = cells[:-1]
    return tuple(cells) or (("", end, end),)
