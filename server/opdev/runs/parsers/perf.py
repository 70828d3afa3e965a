"""``[PERF]`` and ``[BASELINE_PERF]`` lines as they are printed."""

from __future__ import annotations

from collections.abc import Iterable

from opdev.facts.logs import perf_lines
from opdev.runs.parsers import Fields, Where


class Parser:
    """``perf`` events: numbers by today's names, every value as written in ``texts``."""

    def __init__(self, where: Where) -> None:
        del where

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        for line in perf_lines(lines):
            yield "perf", {"baseline": line.baseline, "pe": line.pe, "values": dict(line.values), "texts": dict(line.texts)}  # fmt: skip

    def close(self) -> Iterable[Fields]:
        return ()
