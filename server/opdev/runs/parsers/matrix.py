"""The cases of a matrix as they end, and the counts at its end."""

from __future__ import annotations

from collections.abc import Iterable

from opdev.facts.logs import matrix_lines
from opdev.runs.parsers import Fields, Where, plain


class Parser:
    """``case`` events a ``[CASE]`` line, a ``matrix`` event for ``[MATRIX]``."""

    def __init__(self, where: Where) -> None:
        del where

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        for line in matrix_lines(lines):
            if line.case is None:
                counts = {name: line.count(name) for name in ("total", "passed", "failed", "blocked")}
                yield "matrix", {k: v for k, v in counts.items() if v is not None}
            else:
                yield "case", {"case": line.case, "verdict": line.result, "values": plain(line.texts, "id", "case_id", "result")}  # fmt: skip

    def close(self) -> Iterable[Fields]:
        return ()
