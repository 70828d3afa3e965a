"""A fence's text line by line, for reading it where the parser cannot."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"[^\n\r]*(?:\r\n|\n|\r|\Z)")


@dataclass(slots=True)
class Line:
    """A line in characters of the text."""

    start: int
    content: int
    """Where the text of the line begins, behind its blanks."""
    end: int
    """Behind the line end."""

    @property
    def indent(self) -> int:
        return self.content - self.start


def lines_of(text: str, start: int, end: int) -> list[Line]:
    """The lines of ``[start, end)``."""
    found: list[Line] = []
    at = start
    while at < end:
        match = _LINE.match(text, at, end)
        stop = match.end() if match and match.end() > at else end
        content = at
        while content < stop and text[content] == " ":
            content += 1
        found.append(Line(at, content, stop))
        at = stop
    return found


def line_end(text: str, at: int, end: int) -> int:
    """Where the line of ``at`` ends, before ``end``."""
    while at < end and text[at] not in "\r\n":
        at += 1
    return at


def open_bracket(text: str, start: int, end: int) -> int:
    """The outermost bracket before ``end`` that is still open there; ``end`` without one."""
    opened: list[int] = []
    quote = ""
    for at in range(start, end):
        ch = text[at]
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "\"'" and text[at - 1 : at] in ("", " ", ",", "[", "{", ":"):
            quote = ch
        elif ch in "[{":
            opened.append(at)
        elif ch in "]}" and opened:
            opened.pop()
    return opened[0] if opened else end
