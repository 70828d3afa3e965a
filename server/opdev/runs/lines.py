"""Bytes of a pipe to whole lines, and bytes of a line to text.

Pieces arrive cut anywhere: within a line, a colour, a character.  Lines are cut at line ends only, which neither
UTF-8 nor GBK has inside a character, so nothing is decoded before it is whole.  Different programs of one step may
write different encodings: every line is decoded by itself.
"""

from __future__ import annotations

import re

LONGEST = 1 << 20
"""Bytes of one line; a longer one is cut."""
_ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class LineBuffer:
    """Whole lines out of the pieces of one stream: colours gone, every line ended by one ``\\n``."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> bytes:
        """The lines that are whole by now; empty where none is."""
        cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
        if not cut:
            self._rest.append(data)
            self._size += len(data)
            return self.close() if self._size > LONGEST else b""
        whole = b"".join([*self._rest, data[:cut]])
        self._rest = [data[cut:]]
        self._size = len(data) - cut
        return cleaned(whole)

    def close(self) -> bytes:
        """What is left, as a line."""
        rest = b"".join(self._rest)
        self._rest, self._size = [], 0
        return cleaned(rest + b"\n") if rest else b""


def cleaned(data: bytes) -> bytes:
    """Without colours and carriage returns (a lone one ends a line)."""
    if b"\x1b" in data:
        data = _ANSI.sub(b"", data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def text_of(line: bytes) -> str:
    """A line as text: UTF-8 where it is, else GBK where it is, else with what cannot be read replaced."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return line.decode("gb18030")
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")
