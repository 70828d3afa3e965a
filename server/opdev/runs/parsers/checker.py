"""What check_result.py says: statistics and verdict of each PE, the verdict of all; upstream checkers' last words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opdev.facts.logs import check_lines
from opdev.runs.lines import text_of
from opdev.runs.parsers import Fields, Where

_MISMATCH = re.compile(rb"^[ \t]*first mismatch idx=(\d{1,15}) (.*)$", re.M)
_OTHER = re.compile(rb"PRECISION (PASS|ERROR)|^FAIL: (shape mismatch .*|nan/inf detected.*)$|AssertionError: (.*mismatch.*)$", re.M)  # fmt: skip
_FAILED = re.compile(rb"^\[(TIMEOUT|FAIL)\] (.*)$", re.M)


class Parser:
    """``check`` events: ``pe`` is null for all PEs together, ``verdict`` PASS, FAIL or null for statistics."""

    def __init__(self, where: Where) -> None:
        del where

    def feed(self, lines: bytes, stream: str) -> Iterable[Fields]:
        del stream
        found: list[tuple[int, dict[str, object]]] = [
            (line.start, {"pe": line.pe, "verdict": line.result, "dtype": line.dtype, "values": dict(line.values), "text": ""})
            for line in check_lines(lines)
        ]  # fmt: skip
        if b"first mismatch" in lines:
            for match in _MISMATCH.finditer(lines):
                found.append((match.start(), _said("FAIL", text_of(match[0]).strip(), {"idx": float(match[1])})))
        if b"PRECISION" in lines or b"mismatch" in lines or b"nan/inf" in lines:
            for match in _OTHER.finditer(lines):
                verdict = "PASS" if match[1] == b"PASS" else "FAIL"
                found.append((match.start(), _said(verdict, text_of(match[0]).strip())))
        if b"[TIMEOUT]" in lines or b"[FAIL]" in lines:
            for match in _FAILED.finditer(lines):
                found.append((match.start(), _said("FAIL", text_of(match[0]).strip())))
        return [("check", fields) for _, fields in sorted(found, key=lambda one: one[0])]

    def close(self) -> Iterable[Fields]:
        return ()


def _said(verdict: str, text: str, values: dict[str, float] | None = None) -> dict[str, object]:
    return {"pe": None, "verdict": verdict, "dtype": None, "values": values or {}, "text": text[:1000]}
