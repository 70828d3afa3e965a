"""A file's bytes and the places in them.

Everything in the core works on byte offsets into UTF-8 data; lines and columns exist only at the
edges, in the unit the reader counts in.  Line ends are exactly those of the Language Server
Protocol (``\\n``, ``\\r\\n``, ``\\r``): a form feed or U+2028 never starts a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Literal

Unit = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM8 = b"\xef\xbb\xbf"


class Source:
    """Text of one file as UTF-8 ``data``, with the encoding it came in.

    ``data`` never holds the byte order mark.  Bytes that are neither UTF-8, UTF-16 with a mark nor
    GB18030 are kept as they are, so that a fix elsewhere in the file changes nothing else.
    """

    __slots__ = ("__dict__", "data", "encoding", "path")

    def __init__(self, path: str, data: bytes, encoding: str = "utf-8") -> None:
        self.path = path
        self.data = data
        self.encoding = encoding

    @classmethod
    def from_disk(cls, path: str, raw: bytes) -> Source:
        """Decode ``raw`` as found on disk; never fails."""
        if raw.startswith(_BOM8):
            return cls(path, raw[3:], "utf-8-sig")
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            codec = "utf-16-le" if raw[:2] == b"\xff\xfe" else "utf-16-be"
            try:
                return cls(path, raw[2:].decode(codec).encode(), codec)
            except UnicodeDecodeError:
                return cls(path, raw, "bytes")
        try:
            if not raw.isascii():
                raw.decode()
        except UnicodeDecodeError:
            try:
                return cls(path, raw.decode("gb18030").encode(), "gb18030")
            except UnicodeDecodeError:
                return cls(path, raw, "bytes")
        return cls(path, raw)

    def to_disk(self, data: bytes) -> bytes:
        """``data`` (UTF-8) in the encoding this file had; raises UnicodeEncodeError if it cannot."""
        if self.encoding == "utf-8-sig":
            return _BOM8 + data
        if self.encoding in ("utf-16-le", "utf-16-be"):
            mark = b"\xff\xfe" if self.encoding == "utf-16-le" else b"\xfe\xff"
            return mark + data.decode().encode(self.encoding)
        if self.encoding == "gb18030":
            return data.decode().encode("gb18030")
        return data

    def disk_offset(self, offset: int) -> int:
        """Offset in the file on disk of an offset in ``data``."""
        if self.encoding in ("utf-8", "bytes"):
            return offset
        return len(self.to_disk(self.data[:offset]))

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset at which each line begins; the first is 0."""
        return [0, *(m.end() for m in _LINE_END.finditer(self.data))]

    @cached_property
    def newline(self) -> str:
        """The line end this file uses (that of its first line)."""
        found = _LINE_END.search(self.data)
        return found.group().decode() if found else "\n"

    def line_of(self, offset: int) -> int:
        """0-based line that holds ``offset``."""
        return bisect_right(self.line_starts, offset) - 1

    def line_range(self, line: int) -> tuple[int, int]:
        """Byte range of a 0-based line without its line end."""
        starts = self.line_starts
        begin = starts[line]
        end = starts[line + 1] if line + 1 < len(starts) else len(self.data)
        if line + 1 < len(starts):
            end -= 2 if self.data[end - 2 : end] == b"\r\n" and end - 2 >= begin else 1
        return begin, end

    def line_bytes(self, line: int) -> bytes:
        """Bytes of a 0-based line without its line end."""
        begin, end = self.line_range(line)
        return self.data[begin:end]

    def position(self, offset: int, unit: Unit = "utf-32") -> tuple[int, int]:
        """0-based (line, column) of a byte offset, the column counted in ``unit``.

        An offset inside a character counts as its beginning; one past the end as the end.
        """
        offset = max(0, min(offset, len(self.data)))
        line = self.line_of(offset)
        begin = self.line_starts[line]
        return line, units(self.data[begin:offset], unit)

    def offset(self, line: int, column: int, unit: Unit = "utf-32") -> int:
        """Byte offset of a 0-based position; clamped to the line, and to the file."""
        if line < 0:
            return 0
        if line >= len(self.line_starts):
            return len(self.data)
        begin, end = self.line_range(line)
        if column <= 0:
            return begin
        return begin + take_units(self.data[begin:end], column, unit)

    def spliced(self, start: int, end: int, text: bytes) -> Source:
        """This source after ``data[start:end]`` became ``text``; lines elsewhere are not looked for again."""
        new = Source(self.path, self.data[:start] + text + self.data[end:], self.encoding)
        starts = self.line_starts
        # A `\r` or `\n` next to the edit may join or leave a pair, so its lines count as touched.
        first = self.line_of(max(start - 1, 0))
        after = bisect_right(starts, end + 1)
        shift = len(text) - (end - start)
        stop = starts[after] + shift if after < len(starts) else len(new.data)
        found = [m.end() for m in _LINE_END.finditer(new.data, starts[first], stop)]
        new.__dict__["line_starts"] = [*starts[: first + 1], *found, *[s + shift for s in starts[after + 1 :]]]
        return new

    def text(self, start: int, end: int) -> str:
        """The text between two byte offsets, undecodable bytes replaced."""
        return self.data[start:end].decode("utf-8", "replace")


def units(data: bytes, unit: Unit) -> int:
    """Length of UTF-8 ``data`` in ``unit``; a cut-off last character does not count."""
    if unit == "utf-8":
        return len(data)
    if data.isascii():
        return len(data)
    text = data.decode("utf-8", "ignore")
    if unit == "utf-32":
        return len(text)
    return len(text) + sum(ch > "\uffff" for ch in text)


def take_units(data: bytes, count: int, unit: Unit) -> int:
    """Bytes taken up by the first ``count`` units of ``data``, all of it at most."""
    if data.isascii():
        return min(count, len(data))
    if unit == "utf-8":
        count = min(count, len(data))
        while 0 < count < len(data) and data[count] & 0xC0 == 0x80:
            count -= 1
        return count
    text = data.decode("utf-8", "surrogateescape")
    taken = 0
    for index, ch in enumerate(text):
        taken += 2 if unit == "utf-16" and ch > "\uffff" else 1
        if taken > count:
            return len(text[:index].encode("utf-8", "surrogateescape"))
    return len(data)
