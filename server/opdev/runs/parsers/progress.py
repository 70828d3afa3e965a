"""How far a build is: cmake's ``[ 42%] Building …``, ninja's ``[12/340] …``, build.sh's ``===== [1/3] … =====``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opdev.runs.lines import text_of
from opdev.runs.parsers import Fields, Where

_PERCENT = re.compile(rb"^\[ *(\d{1,3})%\] (.+)$", re.M)
_COUNT = re.compile(rb"^(?:=+ )?\[(\d{1,7})/(\d{1,7})\] (.+?)(?: =+)?$", re.M)
_CMAKE = re.compile(rb"^-- (Configuring done|Generating done|Build files have been written to)", re.M)


class Parser:
    """The last state of each piece of output: what a percentage was in between, nobody sees."""

    def __init__(self, where: Where) -> None:
        del where
        self._last: tuple[int, int, str] | None = None

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        found: tuple[int, int, int, bytes] | None = None
        if b"%] " in lines:
            for match in _PERCENT.finditer(lines):
                found = (match.start(), int(match[1]), 100, match[2])
        if b"/" in lines and b"[" in lines:
            for match in _COUNT.finditer(lines):
                if (found is None or match.start() > found[0]) and int(match[1]) <= int(match[2]):
                    found = (match.start(), int(match[1]), int(match[2]), match[3])
        if found is None:
            stage = _CMAKE.search(lines) if b"-- " in lines else None
            if stage is None or self._last is not None:
                return
            found = (stage.start(), 0, 100, stage[1])
        now = (found[1], found[2], text_of(found[3].strip())[:200])
        if now != self._last:
            self._last = now
            yield "progress", {"done": now[0], "total": now[1], "text": now[2]}

    def close(self) -> Iterable[Fields]:
        return ()
