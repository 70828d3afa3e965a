"""The cycle-profile table of ``aclshmemx_get_prof``: a rule, a header, a rule, rows, a rule.

Columns are 10, 10, 15, 15 and 15 wide.  A number that fills its column touches the next one: then the columns decide.
Other programs' lines may stand between the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from opdev.runs.parsers import Fields, Where

_RULE = re.compile(rb"={60}\s*\Z")
_HEADER = re.compile(rb"BlockID\s*FrameID\s*Cycles\s*Count\s*AvgTime\(us\)")
_ROW = re.compile(rb"(\d{1,4})\s+(\d{1,5})\s+(-?\d+)\s+(\d+)\s+(-?\d+\.\d{3})\s*\Z")
_WIDTHS = ((0, 10), (10, 20), (20, 35), (35, 50), (50, 65))
_MOST = 65536


class Parser:
    """A ``profile`` event a table, its rows ``[block, frame, cycles, count, average in us]``."""

    def __init__(self, where: Where) -> None:
        del where
        self._rows: list[list[float]] | None = None
        self._stream = ""

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        if self._rows is None and b"BlockID" not in lines:
            return
        if self._rows is not None and stream != self._stream:
            return
        for line in lines.split(b"\n"):
            if _HEADER.search(line):
                yield from self.close()
                self._rows, self._stream = [], stream
            elif self._rows is not None:
                if self._rows and _RULE.match(line.strip()):
                    yield from self.close()
                elif (row := _row(line)) and len(self._rows) < _MOST:
                    self._rows.append(row)

    def close(self) -> Iterable[Fields]:
        if self._rows:
            yield "profile", {"columns": ["block", "frame", "cycles", "count", "avg_us"], "rows": self._rows}
        self._rows = None


def _row(line: bytes) -> list[float]:
    match = _ROW.match(line)
    cells = list(match.groups()) if match else [line[a:b].strip() for a, b in _WIDTHS]
    try:
        return [int(cells[0]), int(cells[1]), int(cells[2]), int(cells[3]), float(cells[4])]
    except ValueError:
        return []
