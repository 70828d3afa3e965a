"""The cycle-profile table of ``aclshmemx_get_prof`` (see ``facts.frames``) as it is printed."""

from __future__ import annotations

from collections.abc import Iterable

from opdev.facts.frames import COLUMNS, is_header, is_rule, row
from opdev.runs.parsers import Fields, Where

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
            if is_header(line):
                yield from self.close()
                self._rows, self._stream = [], stream
            elif self._rows is not None:
                if self._rows and is_rule(line):
                    yield from self.close()
                elif (found := row(line)) and len(self._rows) < _MOST:
                    self._rows.append(found)

    def close(self) -> Iterable[Fields]:
        if self._rows:
            yield "profile", {"columns": list(COLUMNS), "rows": self._rows}
        self._rows = None
