"""SHMEM's own log lines: warnings and worse, and the stages of its life."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opdev.runs.lines import text_of
from opdev.runs.parsers import Fields, Where

_LINE = re.compile(
    rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}) (debug|info|warn|error|fatal) (\d{1,19}) pid\[(\d{1,19})\] "
    rb"\[SHM_SHMEM ([^:\]\n]+):(\d{1,9})\] (.*)$",
    re.M,
)
_STAGES = (
    (re.compile(rb"bootstrap plugin initialized successfully"), "bootstrap"),
    (re.compile(rb"The ACLSHMEM pe: (\d{1,9}) init success"), "init"),
    (re.compile(rb"The pe: (\d{1,9}) begins to finalize"), "finalize-begin"),
    (re.compile(rb"The pe: (\d{1,9}) finalize success"), "finalize"),
    (re.compile(rb"release_heap success"), "heap-released"),
)
_MOST = 500


class Parser:
    """``shmem-log`` events; a flood is cut after ``_MOST`` of them (the log has all)."""

    def __init__(self, where: Where) -> None:
        del where
        self._left = _MOST

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        if b"[SHM_SHMEM " not in lines:
            return
        for match in _LINE.finditer(lines):
            level, text = match[2].decode(), match[7]
            stage = next(((name, hit) for shape, name in _STAGES if (hit := shape.search(text))), None)
            if (level in ("debug", "info") and stage is None) or self._left <= 0:
                continue
            self._left -= 1
            pe = int(stage[1][1]) if stage is not None and stage[1].lastindex else None
            yield "shmem-log", {
                "level": level, "pid": int(match[4]), "source": text_of(match[5]), "line": int(match[6]),
                "text": text_of(text)[:1000], "stage": stage[0] if stage else None, "pe": pe,
            }  # fmt: skip

    def close(self) -> Iterable[Fields]:
        return ()
