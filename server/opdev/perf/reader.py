"""Logs to measurements: of one PE or of many at once, whole, cut off, mixed, in any encoding, of any size.

A number is believed only where something ended it: eight PEs that write one pipe break into each other's lines, and a
run that was killed leaves half of one.  What cannot be believed becomes a problem with its line, never a measurement
that a verdict rests on.  Time is linear in the log; of a huge one the first ``LARGEST`` bytes are read.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opdev.design.derived import Collective
from opdev.facts.frames import is_header, is_rule, row
from opdev.facts.logs import ALIASES, PerfLine, perf_lines
from opdev.perf.consistency import disagreements, odd_payloads
from opdev.perf.model import BASELINE_FIELDS, FIELDS, Backend, Log, Measurement, Problem

LARGEST = 64_000_000
"""Bytes of a log that are read."""
SIMULATED = b"[SIM] backend=sim"
"""What a log of the CPU stand-in holds: its times say nothing of an NPU."""
_PIECE = 1_000_000
_MOST = 20_000
_MOST_PROBLEMS = 500
_MOST_ROWS = 65_536
_TAG = re.compile(rb"\[(?:BASELINE_)?PERF\]")
_NAME = re.compile(r"(?:shmem|baseline)_(\d{1,12})_([A-Za-z]\w*)\.log\Z", re.ASCII)
_PE = re.compile(r"\d{1,6}\Z", re.ASCII)
_DIGITS = re.compile(r"[+-]?\d*\.?(\d*)(?:[eE]([+-]?\d{1,4}))?\Z", re.ASCII)
_TAGS = (b"[PERF]", b"[BASELINE_PERF]")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class _Where:
    name: str
    run: str
    n_pes: int | None
    kind: Collective | None
    sim: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A tag ``[start, end)``, the values behind it (None: there are none), what they measure, what is wrong with them."""

    start: int
    end: int
    line: PerfLine | None
    measurement: Measurement | None
    problems: list[Problem]


def read_file(path: str, name: str = "") -> Log:
    """A log on disk; OSError where it cannot be read.  Count and dtype are what its name says."""
    with open(path, "rb") as stream:
        data = stream.read(LARGEST + 1)
    named = _NAME.search(os.path.basename(path))
    count, dtype = (int(named[1]), named[2]) if named else (None, "")
    return read(data, name or path, count=count, dtype=dtype)


def read(
    data: bytes, name: str, *, run: str = "", backend: Backend | None = None, n_pes: int | None = None,
    dtype: str = "", count: int | None = None, kind: Collective | None = None,
) -> Log:  # fmt: skip
    """What a log says; never raises.  A log that says itself that it is the stand-in's is never hardware's.

    ``run``, ``n_pes``, ``dtype`` and ``count`` are what is known of the run, ``kind`` what the operator does.
    """
    problems: list[Problem] = []
    lost = 0
    if len(data) > LARGEST:
        # What was not read may hold any number of launches.
        lost = _MOST
        problems.append(Problem("too-large", "warning", name, 1, {"bytes": str(LARGEST)}, run))
        data = data[: data.rfind(b"\n", 0, LARGEST) + 1]
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            data = data.decode(encoding, "replace").encode()
            break
    simulated = backend == "sim" or SIMULATED in data
    where = _Where(name, run, n_pes, kind, simulated)
    found: list[Measurement] = []
    tables: list[tuple[int, tuple[tuple[float, ...], ...]]] = []
    first = 1
    for piece in _pieces(data):
        if len(found) < _MOST and b"PERF]" in piece:
            for one in _judged(piece, first, where):
                problems += one.problems
                if one.measurement is not None:
                    found.append(one.measurement)
        first += piece.count(b"\n")
    if b"BlockID" in data:
        tables = list(_tables(data))
    if len(found) >= _MOST:
        lost = _MOST
    problems += odd_payloads(found, n_pes, kind, dtype, count)
    if _ends_in_tag(data):
        lost += 1
        problems.append(Problem("ends-early", "warning", name, first, {}, run))
    if len({m.side for m in found}) > 1:
        line = next(m.line for m in found if m.side != found[0].side)
        problems.append(Problem("both-sides", "error", name, line, {}, run))
        found = [_without_use(m) for m in found]
    del problems[_MOST_PROBLEMS:]
    return Log(
        name, "sim" if simulated else "hardware", tuple(found[:_MOST]), tuple(problems), tuple(tables), run,
        n_pes, dtype, count, lost,
    )  # fmt: skip


def _without_use(found: Measurement) -> Measurement:
    return Measurement(
        found.side, found.log, found.line, found.pe, found.values, found.steps, found.api, False, found.run
    )


def _ends_in_tag(data: bytes) -> bool:
    """Whether a log ends within a tag, or behind one that no value follows: its writer was cut short."""
    last = data[data.rfind(b"\n") + 1 :][-200:]
    at = last.rfind(b"[")
    if at < 0:
        return False
    rest = last[at:]
    return any(tag.startswith(rest) or rest.startswith(tag) for tag in _TAGS) and not perf_lines(rest)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Pieces of about a megabyte, cut at line ends; a line longer than that is cut before a bracket, not within a tag."""
    at = 0
    while at < len(data):
        end = data.rfind(b"\n", at, at + _PIECE) + 1 if at + _PIECE < len(data) else len(data)
        end = end or max(data.rfind(b"[", at + 1, at + _PIECE), 0) or at + _PIECE
        yield data[at:end]
        at = end


def judged(
    data: bytes, name: str, *, n_pes: int | None = None, kind: Collective | None = None, lines: Iterable[PerfLine] | None = None
) -> Iterator[Judged]:  # fmt: skip
    """Each measurement of a log's text with its place and what is wrong with it; ``lines`` where they are known."""
    known = tuple(perf_lines(data)) if lines is None else tuple(lines)
    return _judged(data, 1, _Where(name, "", n_pes, kind, SIMULATED in data), known)


def _judged(piece: bytes, first: int, where: _Where, known: Iterable[PerfLine] | None = None) -> Iterator[Judged]:
    lines = {line.start: line for line in (perf_lines(piece) if known is None else known)}
    number, at = first, 0
    for tag in _TAG.finditer(piece):
        number += piece.count(b"\n", at, tag.start())
        at = tag.start()
        line = lines.get(tag.start())
        if line is None:
            yield Judged(*tag.span(), None, None, [Problem("no-values", "error", where.name, number, {}, where.run)])
        else:
            yield Judged(*tag.span(), line, *_measurement(line, number, where))


def _measurement(line: PerfLine, number: int, where: _Where) -> tuple[Measurement, list[Problem]]:
    told: list[Problem] = []

    def tell(key: str, severity: str = "error", **args: str) -> None:
        shown = {k: "".join(c if c.isprintable() else "?" for c in v[:200]) for k, v in args.items()}
        told.append(Problem(key, "error" if severity == "error" else "warning", where.name, number, shown, where.run))

    texts = dict(line.texts)
    if not line.whole and texts:
        last = next(reversed(texts))
        del texts[last]
        tell("cut", "error" if ALIASES.get(last, last) in (*FIELDS, "pe") else "warning", field=last)
    values: dict[str, float] = {}
    steps: dict[str, float] = {}
    for field, text in texts.items():
        now = ALIASES.get(field, field)
        if field in line.repeated:
            tell("repeated", field=field)
            continue
        if now != field:
            tell("old-name", "warning", field=field, now=now)
        if now not in line.values or now == "pe":
            if now in FIELDS:
                tell("no-number", field=field, text=text)
            continue
        if now in FIELDS and line.values[now] <= 0:
            tell("not-positive", field=field, text=text)
            continue
        values[now], steps[now] = line.values[now], step_of(text)
    pe = int(texts["pe"]) if _PE.match(texts.get("pe", "")) and "pe" not in line.repeated else None
    if pe is None:
        tell("no-pe", "error" if "pe" in line.texts else "warning", text=line.texts.get("pe", ""))
    wanted = BASELINE_FIELDS if line.baseline else FIELDS
    lacking = [f for f in wanted if f not in values and f not in line.texts and f not in line.repeated]
    if lacking:
        tell("lacking", fields=", ".join(lacking))
    api = texts.get("api", "")[:100]
    if line.baseline and not api:
        tell("lacking", "warning", fields="api")
    draft = Measurement(
        "baseline" if line.baseline else "shmem", where.name, number, pe, values, steps, api, True, where.run
    )
    told += disagreements(draft, where.n_pes, where.kind, sim=where.sim)
    usable = not any(p.severity == "error" for p in told)
    return (draft if usable else _without_use(draft)), told


def step_of(text: str) -> float:
    """The worth of a number's last printed digit: 0.01 for ``1.25``, 1000 for ``1.34218e+08``."""
    match = _DIGITS.match(text)
    if match is None:
        return 0.0
    try:
        return 10.0 ** (int(match[2] or 0) - len(match[1]))
    except OverflowError:
        return 0.0


def _tables(data: bytes) -> Iterator[tuple[int, tuple[tuple[float, ...], ...]]]:
    """Cycle-profile tables with the line their head stands on."""
    head, left = 0, _MOST_ROWS
    rows: list[tuple[float, ...]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.rstrip(b"\r")
        if is_header(line):
            if head and rows:
                yield head, tuple(rows)
            head, rows = number, []
        elif head:
            if rows and is_rule(line):
                yield head, tuple(rows)
                head, rows = 0, []
            elif left > 0 and (cells := row(line)):
                rows.append(tuple(cells))
                left -= 1
    if head and rows:
        yield head, tuple(rows)
