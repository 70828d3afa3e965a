"""The lines operators and their checkers print: measurements, verdicts of each PE, cases of the matrix.

Several PEs write at once, with colours and other programs' noise between: a tag is looked for anywhere, and
a line that another breaks into ends there.  Time is linear in the log, and what is read of it is bounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev.kinds import LOG_HEAD
from opdev.syntax.file import File

LARGEST = LOG_HEAD
"""Bytes of a log that are read."""
_MOST = 20_000
ALIASES = {
    "algo_bw": "algo_bandwidth_GBps", "bus_bw": "kernel_bus_bandwidth_GBps",
    "steady_bus_bandwidth_GBps": "kernel_bus_bandwidth_GBps", "bus_bandwidth_GBps": "kernel_bus_bandwidth_GBps",
}  # fmt: skip
"""Names of old samples, and what they are called now."""
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_PAIR = re.compile(rb"([A-Za-z_]\w*)=([^\s\[]+)")
_PAIRS = rb"((?:[ \t]+[A-Za-z_]\w*=[^\s\[]+)+)"
_PERF = re.compile(rb"\[(BASELINE_)?PERF\]" + _PAIRS)
_CASE = re.compile(rb"\[(CASE|MATRIX)\]" + _PAIRS)
_ENDS = frozenset({b" ", b"\t", b"\n", b"\r"})
# Digits of a console, not those of other scripts and of full width, which no program prints.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z", re.ASCII)
_COUNT = re.compile(r"([0-9]{1,9})(?!\w|\.\d)")
_STATISTICS = re.compile(rb"\bPE (\d{1,6}): dtype=(\S+)" + _PAIRS)
_VERDICT = re.compile(rb"\bPE (\d{1,6}): (PASS|FAIL)\b")
_TOTAL = re.compile(rb"\b(PASS|FAIL): (?:all )?(\d{1,6})(?:/(\d{1,6}))? PE outputs")


@dataclass(frozen=True, slots=True)
class PerfLine:
    """A ``[PERF]`` or ``[BASELINE_PERF]`` line; ``values`` by today's names, numbers only.

    ``texts`` holds every value as written, by the name as written.  ``pe`` is 0 where the line has none.
    ``whole`` is False where nothing ends the last value: another PE's line or the end of the log may have cut it.
    ``repeated`` are names that stand in the line twice, or of which an old one means the same.
    """

    baseline: bool
    pe: int
    values: Mapping[str, float]
    texts: Mapping[str, str]
    start: int
    end: int
    whole: bool = True
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckLine:
    """What a checker says of one PE, or of all (``pe`` None).  ``result`` is PASS, FAIL or None for statistics."""

    pe: int | None
    result: str | None
    values: Mapping[str, float]
    start: int
    end: int
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """A ``[CASE]`` line, or the ``[MATRIX]`` line of counts, for which ``case`` is None."""

    case: str | None
    result: str | None
    texts: Mapping[str, str] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    def count(self, name: str) -> int | None:
        """``total``, ``passed``, ``failed`` or ``blocked`` of the last line."""
        match = _COUNT.match(self.texts.get(name, ""))
        return int(match[1]) if match else None


def perf_lines(data: bytes) -> tuple[PerfLine, ...]:
    """The measurements of a log, in text order."""
    if b"PERF]" not in data:
        return ()
    found: list[PerfLine] = []
    data = cleared(data)
    for match in _PERF.finditer(data):
        texts = _texts(match.group(2))
        values = {ALIASES.get(k, k): n for k, v in texts.items() if (n := number(v)) is not None}
        pe = values.get("pe", 0.0)
        whole = data[match.end() : match.end() + 1] in _ENDS
        found.append(
            PerfLine(
                baseline=match.group(1) is not None,
                pe=int(pe) if 0 <= pe < 1e6 else 0,
                values=values,
                texts=texts,
                start=match.start(),
                end=match.end(),
                whole=whole,
                repeated=(*_repeated(match.group(2), len(texts)), *_named_twice(texts)),
            )
        )
        if len(found) >= _MOST:
            break
    return tuple(found)


def check_lines(data: bytes) -> tuple[CheckLine, ...]:
    """What check_result.py printed: statistics, verdicts of each PE, the verdict of all."""
    if b"PE " not in data:
        return ()
    data = cleared(data)
    found: list[CheckLine] = []
    for match in _STATISTICS.finditer(data):
        values = {k: n for k, v in _texts(match.group(3)).items() if (n := number(v)) is not None}
        found.append(
            CheckLine(
                int(match.group(1)), None, values, match.start(), match.end(), match.group(2).decode("utf-8", "replace")
            )
        )
        if len(found) >= _MOST:
            break
    for match in _VERDICT.finditer(data):
        found.append(CheckLine(int(match.group(1)), match.group(2).decode(), {}, match.start(), match.end()))
        if len(found) >= 2 * _MOST:
            break
    for match in _TOTAL.finditer(data):
        first, second = int(match.group(2)), match.group(3)
        wrong = first if match.group(1) == b"FAIL" else 0
        values = {"pes": float(int(second) if second else first), "mismatched": float(wrong)}
        found.append(CheckLine(None, match.group(1).decode(), values, match.start(), match.end()))
        if len(found) >= 3 * _MOST:
            break
    return tuple(sorted(found, key=lambda line: line.start))


def matrix_lines(data: bytes) -> tuple[MatrixLine, ...]:
    """What run_case_matrix.py printed, in text order."""
    if b"[CASE]" not in data and b"[MATRIX]" not in data:
        return ()
    found: list[MatrixLine] = []
    for match in _CASE.finditer(cleared(data)):
        texts = _texts(match.group(2))
        case = texts.get("id", texts.get("case_id", "")) if match.group(1) == b"CASE" else None
        # Two results, or two cases, on one line: nobody knows which is whose.
        mixed = {"id", "case_id", "result"} & set(_repeated(match.group(2), len(texts)))
        found.append(MatrixLine(case, None if mixed else texts.get("result"), texts, match.start(), match.end()))
        if len(found) >= _MOST:
            break
    return tuple(found)


def perf_of(file: File) -> tuple[PerfLine, ...]:
    """The measurements of a log file, read once."""
    return file.memo("facts.perf", lambda: perf_lines(file.data))


def number(text: str) -> float | None:
    """A number as logs write it; None for nan, inf and anything else."""
    if len(text) > 60 or not _NUMBER.match(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def head(data: bytes) -> bytes:
    """The part of a log that is read, to a line's end: half a line looks like one that another PE broke into."""
    return data if len(data) <= LARGEST else data[: data.rfind(b"\n", 0, LARGEST) + 1 or LARGEST]


def cleared(data: bytes) -> bytes:
    """The part that is read, colours blanked out, every byte in its place."""
    data = head(data)
    return _ANSI.sub(lambda m: b" " * len(m.group()), data) if b"\x1b" in data else data


def _repeated(pairs: bytes, names: int) -> tuple[str, ...]:
    if pairs.count(b"=") == names:
        return ()
    counts = Counter(name.decode() for name, _ in _PAIR.findall(pairs))
    return tuple(sorted(name for name, count in counts.items() if count > 1))


def _named_twice(texts: Mapping[str, str]) -> tuple[str, ...]:
    """Old names beside today's, or beside another old one of the same field: nobody knows which number is right."""
    if ALIASES.keys().isdisjoint(texts):
        return ()
    counts = Counter(ALIASES.get(name, name) for name in texts)
    return tuple(sorted(name for name in texts if counts[ALIASES.get(name, name)] > 1))


def _texts(pairs: bytes) -> dict[str, str]:
    return {k.decode(): _text(v) for k, v in _PAIR.findall(pairs)}


def _text(value: bytes) -> str:
    """UTF-8, else what a Chinese console writes (a case may have a Chinese id), else with what cannot be read replaced."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return value.decode(encoding)
        except UnicodeDecodeError:
            continue
    return value.decode("utf-8", "replace")
