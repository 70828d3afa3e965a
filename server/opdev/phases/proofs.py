"""What proves that something was built, ran and passed: one answer for gates and for recovery.

Build, in this order; the first that says anything decides
    1. the newest ``build`` record (see ``records``): by digest where it names its sources, else by time
    2. ``build.log`` or ``logs/build*.log`` or ``build/build*.log`` with an error line, newer than every source
    3. the binary ``build/bin/<op>`` (in SHMEM's own tree also ``<repo>/build/bin/<op>``) newer than every source
    4. a correctness or case-matrix report with a PASS row, newer than every source: what ran was built
    5. an optimisation round's retest in the performance report, which is newer than every source
    A binary or report that is older than a source proves nothing about the source.

2-PE smoke
    1. a ``smoke`` or ``matrix`` record with ``n_pes: 2``
    2. a fresh PASS row on 2 PEs in the correctness or case-matrix report
    3. a log below data/, output/, logs/ with the checker's line for 2 PEs, newer than every source
    4. an optimisation round's retest, as above: it is the whole case matrix
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import Literal

from opdev.phases.evidence import SLACK, Aged, Evidence
from opdev.phases.model import Spot, both
from opdev.phases.records import Record
from opdev.rules.model import Text

Verdict = Literal["ok", "failed", "stale", "missing"]
_ERROR = re.compile(
    rb"^[^\n]*(?:: (?:fatal )?error: |undefined (?:reference|symbol)|cannot find -l|\*\*\* \[|CMake Error|ninja: build stopped)[^\n]*",
    re.M,
)
_AT = re.compile(r"(?P<path>[^\s:][^:\n]*):(?P<line>[1-9]\d{0,6}):(?P<column>\d{1,6}): ")
SIMULATED = b"[SIM] backend=sim"
"""What a log of the CPU stand-in holds."""
STAND_IN = b"opdev_sim"
_MOST_PROGRAM = 64_000_000
_ALL_MATCH = re.compile(rb"^PASS: all (\d+) PE outputs", re.M)


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether something is proven, by what (``text``), and where that stands."""

    verdict: Verdict
    text: Text
    place: Spot | None = None
    simulated: bool = False
    """Whether only the CPU stand-in showed it."""

    @property
    def good(self) -> bool:
        return self.verdict == "ok"


def on_stand_in(text: Text) -> Text:
    """A text that says that it was the CPU stand-in that showed it."""
    return both(f"{text['zh']}（模拟）", f"{text['en']} (simulated)")


def by_time(text: Text) -> Text:
    """A text that says that file times, not contents, were compared."""
    return both(f"{text['zh']}（按文件时间判断）", f"{text['en']} (by file time)")


def fresh(evidence: Evidence, relative: str) -> bool:
    """Whether a file is no older than any source."""
    return not evidence.older(evidence.time(relative), evidence.newest_source)


def stale_text(evidence: Evidence, what: str) -> Text:
    """Why something does not speak for the present sources."""
    newest = evidence.newest_source
    name = newest.path if newest is not None else "?"
    if newest is not None and newest.time > time.time() + SLACK:
        # However often it is built and run: nothing made today is newer.
        return both(
            f"{name} 的文件时间在将来，{what} 永远比它旧：先 touch {name}",
            f"the time of {name} lies in the future, and {what} can only be older: `touch {name}` first",
        )
    return by_time(
        both(
            f"{what} 比 {name} 旧，说的不是现在的代码", f"{what} is older than {name}: it is not about the present code"
        )
    )


def recorded(evidence: Evidence, record: Record, what_zh: str, what_en: str) -> Proof:
    """A record as a proof: by digest where it has them."""
    spot = Spot(record.path, record.line)
    matches = evidence.matches(record)
    if matches is None:
        newest = evidence.newest_source
        current = not evidence.older(record.time, newest)
    else:
        current = matches
    how = both("按内容摘要判断", "by content") if matches is not None else both("按文件时间判断", "by file time")
    if not current:
        return Proof(
            "stale",
            both(
                f"{what_zh}的记录不是现在的代码的（{how['zh']}）",
                f"the {what_en} on record is not of the present code ({how['en']})",
            ),
            spot,
        )
    if record.result == "pass":
        text = both(f"{what_zh}有通过的记录（{how['zh']}）", f"a passing {what_en} is on record ({how['en']})")
        simulated = record.backend == "sim"
        return Proof("ok", on_stand_in(text) if simulated else text, spot, simulated)
    message = f": {record.message}" if record.message else ""
    return Proof(
        "failed",
        both(
            f"{what_zh}的最近一次记录是 {record.result}{message}",
            f"the last {what_en} on record is {record.result}{message}",
        ),
        spot,
    )


def binary(evidence: Evidence) -> str | None:
    """The operator's program, as a path below it (or ``../..`` in SHMEM's tree); None where there is none but an empty file."""
    folder = evidence.root.rsplit("/", 1)[-1]
    names = dict.fromkeys((evidence.name, folder))
    places = ["build/bin", "build"] + (["../../build/bin", "../../build"] if evidence.in_tree else [])
    candidates = [f"{place}/{name}" for place in places for name in names]
    candidates += [f"build/lib/lib{name}_kernel.so" for name in names]
    found = [c for c in candidates if evidence.time(c) is not None and os.path.getsize(evidence.path(c))]
    return max(found, key=lambda c: evidence.time(c) or 0.0, default=None)


def made_for_stand_in(evidence: Evidence, relative: str) -> bool:
    """Whether a program was linked with the CPU stand-in: it names its runtime."""
    try:
        with open(evidence.path(relative), "rb") as stream:
            return STAND_IN in stream.read(_MOST_PROGRAM)
    except OSError:
        return False


def build(evidence: Evidence) -> Proof:
    """Whether the present code builds."""
    record = evidence.record("build")
    newer = binary(evidence)
    if record is not None:
        proof = recorded(evidence, record, "编译", "build")
        if proof.verdict != "stale" or newer is None:
            return proof
    failure = build_failure(evidence)
    if failure is not None and not evidence.older(evidence.time(failure[0]), _aged(evidence, newer)):
        return Proof("failed", failure[1], failure[2])
    if newer is not None and fresh(evidence, newer):
        simulated = made_for_stand_in(evidence, newer)
        text = by_time(both(f"{newer} 比全部源码新", f"{newer} is newer than every source"))
        return Proof("ok", on_stand_in(text) if simulated else text, evidence.at(newer), simulated)
    from opdev.phases.correctness import passing_row, simulated_matrix

    row = passing_row(evidence)
    if row is not None:
        return Proof("ok", row[0], row[1], simulated_matrix(evidence))
    from opdev.phases.perf import retested

    retest = retested(evidence)
    if retest is not None:
        return Proof("ok", *retest)
    if newer is not None:
        return Proof("stale", stale_text(evidence, newer), evidence.at(newer))
    return Proof(
        "missing",
        both("没有编译的痕迹：没有可执行文件、记录或日志", "no trace of a build: no binary, no record, no log"),
    )


def _aged(evidence: Evidence, path: str | None) -> Aged | None:
    time = evidence.time(path) if path is not None else None
    return Aged(path or "", time) if time is not None else None


def build_failure(evidence: Evidence) -> tuple[str, Text, Spot] | None:
    """(log, first error, place) of a build that failed on the present code."""
    for relative in reversed(evidence.logs):
        name = relative.rsplit("/", 1)[-1]
        if not name.startswith("build") or not fresh(evidence, relative):
            continue
        data = evidence.log(relative)
        error = _ERROR.search(data)
        if error:
            line = data.count(b"\n", 0, error.start()) + 1
            shown = error.group().decode("utf-8", "replace").strip()[:200]
            text = both(f"编译失败：{shown}", f"the build fails: {shown}")
            return relative, text, _source_of(evidence, shown) or evidence.at(relative, line)
    return None


def _source_of(evidence: Evidence, error: str) -> Spot | None:
    """The place in the operator's sources that a compiler's message names; None where it names none of them."""
    match = _AT.match(error)
    if match is None:
        return None
    prefix, path = f"{evidence.root}/", match["path"].replace("\\", "/")
    relative = path[len(prefix) :] if path.startswith(prefix) else path.removeprefix("./")
    file = evidence.file(relative) if relative in evidence.sources else None
    if file is None:
        return None
    line = min(int(match["line"]), len(file.source.line_starts))
    return Spot(file.path, line, max(1, int(match["column"])))


def smoke(evidence: Evidence) -> Proof:
    """Whether the present code passed a case on 2 PEs."""
    record = evidence.record("smoke", "matrix", n_pes=2)
    stale: Proof | None = None
    if record is not None:
        proof = recorded(evidence, record, "2 PE 冒烟", "2-PE smoke run")
        if proof.verdict != "stale":
            return proof
        stale = proof
    from opdev.phases.correctness import passing_row, simulated_matrix

    row = passing_row(evidence, n_pes=2)
    if row is not None:
        return Proof("ok", row[0], row[1], simulated_matrix(evidence))
    for relative in evidence.logs:
        match = next((m for m in _ALL_MATCH.finditer(evidence.log(relative)) if m.group(1) == b"2"), None)
        if match is None:
            continue
        line = evidence.log(relative).count(b"\n", 0, match.start()) + 1
        if fresh(evidence, relative):
            simulated = SIMULATED in evidence.log(relative)
            text = by_time(both(f"{relative} 有 2 PE 的 PASS", f"{relative} has a PASS on 2 PEs"))
            return Proof("ok", on_stand_in(text) if simulated else text, evidence.at(relative, line), simulated)
        stale = stale or Proof("stale", stale_text(evidence, relative), evidence.at(relative, line))
    from opdev.phases.perf import retested

    retest = retested(evidence)
    if retest is not None:
        return Proof("ok", *retest)
    return stale or Proof("missing", both("没有 2 PE 通过的痕迹", "no trace of a PASS on 2 PEs"))
