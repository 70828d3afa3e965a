"""A fence's text in characters, as the YAML parser counts, and back to bytes of the Markdown."""

from __future__ import annotations

import re

from opdev.syntax.file import File

_STEP = 256
# What no YAML text may hold; a byte order mark inside would shift every place behind it.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


_CONTROLS = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n\r")
_C1 = re.compile(rb"\xc2[\x80-\x84\x86-\x9f]")
_RARE = (b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf")


def _surely_printable(data: bytes) -> bool:
    """Whether none of _UNPRINTABLE is there, told at the speed of a copy."""
    if len(data.translate(None, _CONTROLS)) != len(data) or any(rare in data for rare in _RARE):
        return False
    if b"\xc2" in data and _C1.search(data):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class FenceText:
    """``text`` has one character for each of the fence's (odd bytes and control characters are '?').

    ``stop`` cuts the fence off early, in bytes of its own text.
    """

    def __init__(self, file: File, stop: int | None = None) -> None:
        self.file = file
        data = file.data if stop is None else file.data[:stop]
        raw = data.decode("utf-8", "surrogateescape")
        self.unprintable = [] if _surely_printable(data) else [m.start() for m in _UNPRINTABLE.finditer(raw)]
        self.text = _UNPRINTABLE.sub("?", raw) if self.unprintable else raw
        region = file.region
        self.straight = not self.unprintable and (region is None or not region.prefix)
        """Whether equal texts have equal bytes, and no line begins with something else."""
        self._marks: list[int] | None = None
        self._raw = raw
        if not data.isascii():
            self._marks = [0]
            for at in range(0, len(raw), _STEP):
                size = len(raw[at : at + _STEP].encode("utf-8", "surrogateescape"))
                self._marks.append(self._marks[-1] + size)

    def inner(self, index: int) -> int:
        """The byte of the fence's text at a character."""
        if self._marks is None:
            return index
        block = min(index // _STEP, len(self._marks) - 1)
        rest = self._raw[block * _STEP : index]
        return self._marks[block] + (len(rest) if rest.isascii() else len(rest.encode("utf-8", "surrogateescape")))

    def host(self, index: int) -> int:
        """The byte of the Markdown at a character."""
        inner = self.inner(index)
        region = self.file.region
        return region.to_host(inner) if region is not None else inner

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range in the Markdown; it ends behind its last character, never behind a line's prefix."""
        begin = self.host(start)
        if end <= start:
            return begin, begin
        inner = self.inner(end)
        region = self.file.region
        return begin, (region.to_host(inner - 1) + 1 if region is not None else inner)
