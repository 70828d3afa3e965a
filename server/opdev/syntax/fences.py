"""Where the fenced blocks of a Markdown text begin and end, for whoever reads what is in them and what is around them.

Ticks are found by a search and a line is looked at only where some stand: documents have thousands of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_OPENING = re.compile(
    rb"(?P<prefix>[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n]*)"
)


class Fence(NamedTuple):
    """A block: the line that opens it, the text in it, and where the document goes on behind the line that closes it.

    A fence in a quoted block ends with the block; one nobody closes at the end of the document.
    """

    line: int
    prefix: bytes
    """What stands before the ticks: blanks, quote marks, list markers."""
    info: bytes
    begin: int
    stop: int
    after: int


def fences(data: bytes, begin: int = 0, cuts: Mapping[int, int] | None = None) -> Iterator[Fence]:
    """The blocks of a document from ``begin`` on, in text order.

    ``cuts`` says where the document goes on inside a fence nobody closed: by the offset the fence's text starts at.
    """
    seen = begin
    while (tick := next_ticks(data, seen)) >= 0:
        line = line_start(data, tick, begin)
        seen = after_line(data, tick)
        found = _OPENING.match(data, line, seen)
        if found is None or found.start("ticks") != tick or (found["ticks"][:1] == b"`" and b"`" in found["info"]):
            continue
        first = seen
        cut = (cuts or {}).get(first)
        stop, seen = (cut, cut) if cut is not None else _close(data, first, found["ticks"], found["prefix"].count(b">"))
        yield Fence(line, found["prefix"], found["info"], first, stop, seen)


def next_ticks(data: bytes, at: int) -> int:
    """Where the next three ticks or tildes stand, -1 without any: what a fence's line has to have."""
    ticks, tildes = data.find(b"```", at), data.find(b"~~~", at)
    return min(ticks, tildes) if ticks >= 0 and tildes >= 0 else max(ticks, tildes)


def _close(data: bytes, begin: int, ticks: bytes, quotes: int) -> tuple[int, int]:
    """Where a fence's text stops, and where the text after the fence goes on."""
    closing = re.compile(rb"[ \t]*" + re.escape(ticks[:1]) + b"{%d,}[ \t]*(?=[\r\n]|\\Z)" % len(ticks))
    at = begin
    while at < len(data):
        line = at
        if not quotes:
            tick = data.find(ticks, at)
            if tick < 0:
                break
            line = line_start(data, tick, begin)
            at = after_line(data, tick)
            if closing.match(data, line):
                return line, at
            continue
        at = after_line(data, line)
        after = past_quotes(data, line, quotes)
        if after is None:
            return line, line
        if closing.match(data, after):
            return line, at
    return len(data), len(data)


def past_quotes(data: bytes, at: int, quotes: int) -> int | None:
    """The offset behind ``quotes`` quote marks at the start of a line; None where they are not."""
    for _ in range(quotes):
        while data[at : at + 1] in (b" ", b"\t"):
            at += 1
        if data[at : at + 1] != b">":
            return None
        at += 1
    return at


def line_start(data: bytes, offset: int, begin: int = 0) -> int:
    """Where the line of ``offset`` begins."""
    newline = data.rfind(b"\n", begin, offset) + 1 or begin
    return data.rfind(b"\r", newline, offset) + 1 or newline


def line_end(data: bytes, offset: int) -> int:
    """Where the line of ``offset`` ends, its line end left out."""
    newline = data.find(b"\n", offset)
    newline = len(data) if newline < 0 else newline
    carriage = data.find(b"\r", offset, newline)
    return newline if carriage < 0 else carriage


def after_line(data: bytes, offset: int) -> int:
    """Where the next line begins."""
    end = line_end(data, offset)
    return end + (2 if data.startswith(b"\r\n", end) else 1 if end < len(data) else 0)
