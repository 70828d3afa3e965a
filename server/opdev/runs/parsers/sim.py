"""The stand-in's faults: ``[SIM] fault=<kind> pe=<n> block=<n> file=<f> line=<n> text=…``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from opdev.runs.lines import text_of
from opdev.runs.parsers import Fields, Where

_FAULT = re.compile(rb"\[SIM\] fault=(\S+)((?: +(?:pe|block|file|line)=\S*)*)(?: +text=(.*))?$", re.M)
_PAIR = re.compile(rb"(pe|block|file|line)=(\S*)")
_MOST = 200


class Parser:
    """``fault`` events, with the place in the user's code where the stand-in knows it."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._left = _MOST

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        if b"[SIM] fault=" not in lines:
            return
        for match in _FAULT.finditer(lines):
            if self._left <= 0:
                return
            self._left -= 1
            pairs = {k: v for k, v in _PAIR.findall(match[2]) if v}
            yield "fault", {
                "fault": text_of(match[1]), "pe": _number(pairs.get(b"pe")), "block": _number(pairs.get(b"block")),
                "path": self._path(pairs.get(b"file")), "line": _number(pairs.get(b"line")),
                "text": text_of(match[3] or b"").strip()[:1000],
            }  # fmt: skip

    def close(self) -> Iterable[Fields]:
        return ()

    def _path(self, name: bytes | None) -> str | None:
        if not name:
            return None
        path = text_of(name)
        for folder in ("", self._where.cwd, *self._where.folders):
            full = self._where.outward(os.path.normpath(os.path.join(folder, path)))
            if os.path.isabs(full) and os.path.exists(full):
                return full
        return path


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.isdigit() and len(text) < 10 else None
