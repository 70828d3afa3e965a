"""What the runs of an operator say of each case of its matrix: a verdict with its run and the line it stands in.

Only what a run recorded for the present sources counts.  A result of older sources, or of the stand-in where hardware
ran the same sources, is no result of a case any more: the case then has none, and it is said why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opdev.facts.cases import Case, matrix_of
from opdev.facts.logs import LARGEST, matrix_lines
from opdev.phases.evidence import Evidence
from opdev.phases.model import NOTHING, both
from opdev.phases.records import Record
from opdev.reporting.judged import Judged, judged
from opdev.rules.model import Text
from opdev.runs.events import Event
from opdev.runs.reader import replay
from opdev.runs.store import LOGS, Run, runs

_NEWEST = 50
"""Runs that are looked through."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a run's raw log, or of a log the operator's script left (``run`` empty); 1-based."""

    run: str
    log: str
    line: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a ``[CASE]`` line said.  ``texts`` holds its values as printed."""

    case: str
    verdict: str
    texts: Mapping[str, str]
    place: Place
    simulated: bool
    ended: float
    """When its matrix ended: seconds since 1970."""
    judged: Judged | None = None
    """What the precision engine made of the outputs this case left; None where it did not look."""

    @property
    def doubted(self) -> bool:
        """Whether the engine does not bear out what the checker let pass."""
        return self.verdict == "PASS" and self.judged is not None and self.judged.verdict in ("fail", "error")

    def text(self, name: str) -> str:
        """A value as printed; empty for one that was not measured."""
        said = self.texts.get(name, "")
        return "" if said.lower() in ("nan", "-") else said


@dataclass(frozen=True, slots=True)
class Row:
    """A case of the matrix with its outcome; without one, ``why`` says what is known."""

    case: Case
    outcome: Outcome | None
    why: Text = field(default_factory=lambda: NOTHING)

    @property
    def verdict(self) -> str:
        return self.outcome.verdict if self.outcome is not None else "BLOCKED"


@dataclass(frozen=True, slots=True)
class Results:
    """The rows of the whole matrix, in its order; ``unknown`` are outcomes of cases the matrix does not have."""

    rows: Sequence[Row]
    unknown: Sequence[Outcome]
    ran: bool
    """Whether any run went through a matrix at all."""

    @property
    def simulated(self) -> bool:
        """Whether anything shown is of the stand-in."""
        return any(row.outcome is not None and row.outcome.simulated for row in self.rows)

    def count(self, verdict: str) -> int:
        return sum(row.verdict == verdict for row in self.rows)


def results(evidence: Evidence) -> Results:
    """Every case of the matrix with what the runs say of it."""
    matrix = matrix_of(evidence.project)
    current: dict[str, Outcome] = {}
    old: dict[str, Outcome] = {}
    ran = False
    found = [one for run in runs(evidence.root)[-_NEWEST:] for one in _matrices(run)]
    fitting = [evidence.matches(record) is True for record, _ in found]
    hardware = any(fits and not record.backend for (record, _), fits in zip(found, fitting, strict=True))
    for (_, outcomes), fits in zip(found, fitting, strict=True):
        ran = True
        for one in outcomes:
            into = current if fits and not (hardware and one.simulated) else old
            into[one.case] = one
    cases = [case for case in matrix.cases if case.id] if matrix is not None else []
    known = {case.id for case in cases}
    rows = [Row(case, current.get(case.id), _why(old.get(case.id), hardware, ran=ran)) for case in cases]
    return Results(rows, [one for name, one in current.items() if name not in known], ran)


def _why(old: Outcome | None, hardware: bool, *, ran: bool) -> Text:
    """Why a case without a present outcome has none."""
    if old is not None:
        run, line = old.place.run, old.place.line
        zh, en = f"{old.verdict}，run {run} 第 {line} 行", f"{old.verdict}, run {run} line {line}"
        if hardware and old.simulated:
            return both(
                f"未执行：NPU 上没有跑；模拟结果不计（{zh}）",
                f"not run on an NPU; the stand-in's result does not count ({en})",
            )
        return both(f"未执行：代码改过以后没有重跑（改动前 {zh}）", f"not run since the code changed (before: {en})")
    if ran:
        return both("未执行：矩阵运行没有跑到这个用例", "not run: no run of the matrix came to it")
    return both("未执行：没有矩阵的运行记录", "not run: there is no run of the matrix")


def _matrices(run: Run) -> Iterator[tuple[Record, list[Outcome]]]:
    """The matrices of a run that ended, with the cases that ended in each; a stopped one's cases are whole, too."""
    events = replay(run)
    found = judged(events)
    for event in events:
        if event["type"] != "step-ended" or event.get("step") != "matrix":
            continue
        sources = event.get("sources")
        time = event.get("time")
        record = Record(
            "matrix", str(event.get("result")), float(time) if isinstance(time, (int, float)) else 0.0, run.events, 0,
            sources={str(k): str(v) for k, v in sources.items()} if isinstance(sources, dict) else {},
            backend="sim" if event.get("backend") == "sim" else "",
        )  # fmt: skip
        task = event.get("task")
        yield record, [replace(one, judged=found.get((task, one.case))) for one in _outcomes(run, event, record)]


def _outcomes(run: Run, event: Event, record: Record) -> Iterator[Outcome]:
    name = f"{LOGS}/{event.get('task')}.stdout.log"
    try:
        with open(f"{run.folder}/{name}", "rb") as stream:
            data = stream.read(LARGEST)
    except OSError:
        return
    at, line = 0, 1
    for found in matrix_lines(data):
        line += data.count(b"\n", at, found.start)
        at = found.start
        if found.case:
            simulated = record.backend == "sim" or found.texts.get("backend") == "sim"
            verdict = (found.result or "").upper() or "BLOCKED"
            yield Outcome(found.case, verdict, dict(found.texts), Place(run.id, name, line), simulated, record.time)
