"""Measurements where they were printed, against what the operator is: its collective, its PEs, its other logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.checks.case_lists import scale_of
from opdev.checks.designed import stated_engines
from opdev.checks.perf_logs import lines_of, simulated, token, told
from opdev.design.cross_schedule import placement
from opdev.design.derived import Collective, collective_of, telling_name
from opdev.design.document import document_of
from opdev.design.dtypes import fold_dtype
from opdev.facts.cases import matrix_of
from opdev.facts.reports import performance_report
from opdev.perf.consistency import JITTER
from opdev.perf.reader import Judged
from opdev.perf.tiers import WANTED, tier_of
from opdev.rules.context import Context, Project
from opdev.rules.model import Hit, Related
from opdev.syntax.file import File

_NAME = re.compile(r"(shmem|baseline)_(\d{1,12})_([A-Za-z][A-Za-z0-9]*)(\w*)\.log\Z")
_EXCUSED = re.compile(
    r"(?:超过|超出|高于|大于)\s*(?:理论)?\s*(?:峰值|100\s*%)|above (?:the )?peak|(?:over|above|more than|exceeds?) 100\s*%|>\s*100\s*%",
    re.IGNORECASE,
)
_UNEVEN = re.compile(r"不均|uneven|实测.{0,12}(?:远端|比例)|measured.{0,20}remote", re.IGNORECASE)
_DIES = re.compile(r"910C|SIO|910_93", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Name:
    """What a log's name says: whose, how many elements, of which dtype, and what is appended (a round, a repeat)."""

    side: str
    count: int
    dtype: str
    more: str


def name_of(path: str) -> Name | None:
    """``shmem_<BASE_COUNT>_<DTYPE>.log`` and ``baseline_…``; None for other names."""
    match = _NAME.search(path.rpartition("/")[2])
    return Name(match[1], int(match[2]), fold_dtype(match[3]) or match[3], match[4]) if match else None


def collective(project: Project) -> Collective | None:
    """What the operator does, by its name or by the HCCL call its design compares with."""
    baseline = next((document_of(f).text("performance.baseline") for f in project.files("design-doc")), "")
    return collective_of(telling_name(project.name, baseline))


def pes(file: File) -> set[int]:
    """The PEs that told of a measurement."""
    return {m.pe for one in lines_of(file) if (m := one.measurement) is not None and m.pe is not None}


def expected(project: Project, file: File) -> set[int]:
    """How many PEs the cases with a log's elements and dtype have."""
    name, matrix = name_of(file.path), matrix_of(project)
    if name is None or matrix is None:
        return set()
    return {
        c.n_pes for c in matrix.cases if c.n_pes and c.elements == name.count and fold_dtype(c.dtype or "") == name.dtype
    }  # fmt: skip


def n_pes_of(project: Project, file: File) -> int | None:
    """The PEs of a run, as far as it can be told from its log and the case matrix."""
    cases, told = expected(project, file), pes(file)
    if len(cases) == 1:
        return next(iter(cases))
    whole = len(told) > 1 and told == set(range(len(told)))
    return len(told) if whole and (not cases or len(told) in cases) else None


def factor(context: Context) -> Iterator[Hit]:
    """A bus factor that is not that of the collective."""
    project = context.project
    n_pes = n_pes_of(project, context.file) if project is not None else None
    if project is None or n_pes is None:
        return
    kind = collective(project)
    if kind == "dispatch" and _says(project, _UNEVEN):
        return
    for one, problem in told(context, "odd-factor", n_pes=n_pes, kind=kind):
        key = "default" if kind is not None else "unknown"
        args = {**problem.args, "kind": kind or ""}
        yield Hit(*token(context.file, one, "bus_factor"), key, args, severity=None if problem.severity == "error" else "warning")  # fmt: skip


def peak(context: Context) -> Iterator[Hit]:
    """A peak that no pattern of links has."""
    project = context.project
    if project is None or _says(project, _DIES):
        return
    n_pes, kind = n_pes_of(project, context.file), collective(project)
    seen: set[str] = set()
    for one, problem in told(context, "odd-peak", n_pes=n_pes, kind=kind):
        shown = problem.args["shown"]
        if shown not in seen:
            seen.add(shown)
            yield Hit(*token(context.file, one, "peak_bandwidth_GBps"), args=dict(problem.args))


def above_peak(context: Context) -> Iterator[Hit]:
    """A utilisation above 100 %, and no report that explains it."""
    project = context.project
    if project is None or simulated(context.file) or _says(project, _EXCUSED):
        return
    for one, problem in told(context, "above-peak"):
        yield Hit(*token(context.file, one, "bandwidth_utilization_pct"), args=dict(problem.args))
        return


def _says(project: Project, pattern: re.Pattern[str]) -> bool:
    files = project.files("report", "design-doc")
    return any(pattern.search(file.data.decode("utf-8", "replace")) for file in files)


def missing_pes(context: Context) -> Iterator[Hit]:
    """A log in which some PEs of the run told nothing, or one told that the run does not have."""
    project = context.project
    cases = expected(project, context.file) if project is not None else set()
    if len(cases) != 1:
        return
    n_pes = next(iter(cases))
    there = pes(context.file)
    for one in lines_of(context.file):
        pe = one.measurement.pe if one.measurement is not None else None
        if pe is not None and pe >= n_pes:
            yield Hit(*token(context.file, one, "pe"), "extra", {"pe": str(pe), "n_pes": str(n_pes)})
            return
    silent = sorted(set(range(n_pes)) - there)
    # PE 0 alone tells for all: so do the programs that print once.
    if silent and len(there) > 1:
        first = next(one for one in lines_of(context.file) if one.measurement is not None)
        shown = ", ".join(map(str, silent[:16])) + (", …" if len(silent) > 16 else "")
        yield Hit(first.start, first.end, args={"pes": shown, "n_pes": str(n_pes)})


def payload(context: Context) -> Iterator[Hit]:
    """Bytes that differ in a log, or between logs that are held against each other."""
    own = _payloads(context.file)
    if not own:
        return
    field = "payload_bytes"
    first = own[0]
    for one, value in own[1:]:
        if _same_side(one, first[0]) and not _equal(value, first[1]):
            note = {"zh": "前面量的是这么多", "en": "what was measured before"}
            args = {"value": _text(one, field), "other": _text(first[0], field)}
            related = (Related(*token(context.file, first[0], field), note),)
            yield Hit(*token(context.file, one, field), "default", args, related=related)
            return
    yield from _other_log(context, *first)


def _other_log(context: Context, mine: Judged, value: float) -> Iterator[Hit]:
    name = name_of(context.file.path)
    if name is None or context.project is None:
        return
    for log in context.project.files("perf-log"):
        other = name_of(log.path)
        if other is None or log.path == context.file.path or (other.count, other.dtype) != (name.count, name.dtype):
            continue
        # The one that was there first is right: SHMEM's before the baseline's, without a suffix before one with it.
        if (other.side != "shmem", other.more) >= (name.side != "shmem", name.more) or simulated(log) != simulated(context.file):  # fmt: skip
            continue
        theirs = _payloads(log)
        if not theirs:
            continue
        args = {"log": log.path.rpartition("/")[2], "value": _text(mine, "payload_bytes"), "other": _text(theirs[0][0], "payload_bytes")}  # fmt: skip
        note = {"zh": "与之对比的日志", "en": "the log it is held against"}
        related = (Related(*token(log, theirs[0][0], "payload_bytes"), note, log.path),)
        if not _equal(value, theirs[0][1]):
            key = "baseline" if name.side == "baseline" else "round"
            yield Hit(*token(context.file, mine, "payload_bytes"), key, args, related=related)
            return
        here, there = len(pes(context.file)), len(pes(log))
        if here > 1 and there > 1 and here != there:
            args = {**args, "value": str(here), "other": str(there)}
            yield Hit(*token(context.file, mine, "pe"), "pes", args, related=related)
            return


def _payloads(file: File) -> list[tuple[Judged, float]]:
    found = [(one, one.measurement["payload_bytes"]) for one in lines_of(file) if one.measurement is not None]
    return [(one, value) for one, value in found if value is not None]


def _same_side(one: Judged, other: Judged) -> bool:
    return one.line is not None and other.line is not None and one.line.baseline == other.line.baseline


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-5 * max(abs(one), abs(other))


def _text(one: Judged, field: str) -> str:
    return one.line.texts.get(field, "") if one.line is not None else ""


def missing_scale(context: Context) -> Iterator[Hit]:
    """A performance report of an operator that was measured at one scale alone."""
    report = performance_report(context.file)
    if report is None or context.project is None:
        return
    logs = [f for f in context.project.files("perf-log") if "/data/perf/" in f.path and not simulated(f)]
    found = [scale for log in logs if (scale := _scale(context.project, log)) is not None]
    lacking = [scale for scale in WANTED if scale not in found]
    heading = next((h for h in report.headings if h.number in ("3", "6")), None)
    if not found or not lacking or heading is None:
        return
    there = ", ".join(dict.fromkeys(found))
    yield Hit(heading.start, heading.end, args={"missing": "、".join(lacking), "there": there})


def _scale(project: Project, log: File) -> str | None:
    """The scale of what a log of SHMEM measured: that of the case, else of the payload."""
    mine = [(one, value) for one, value in _payloads(log) if one.line is not None and not one.line.baseline]
    if not mine:
        return None
    name, matrix = name_of(log.path), matrix_of(project)
    for case in matrix.cases if matrix is not None and name is not None else ():
        if name is not None and case.elements == name.count and fold_dtype(case.dtype or "") == name.dtype:
            scale = scale_of(case)
            if scale is not None:
                return scale
    return tier_of(mine[0][1])


def no_copy_counted(context: Context) -> Iterator[Hit]:
    """RDMA or placement B, where the copy into symmetric memory belongs to the end-to-end time, and none is in it."""
    project = context.project
    if project is None or simulated(context.file):
        return
    design = next((d for f in project.files("design-doc") if (d := document_of(f)).root is not None), None)
    if design is None:
        return
    engines, (placed, letter) = stated_engines(design), placement(design)
    where = placed if letter == "B" else engines[1] if engines is not None and set(engines[0]) == {"RDMA"} else None
    if where is None:
        return
    for one in lines_of(context.file):
        found = one.measurement
        if found is None or found.side != "shmem":
            continue
        e2e, kernel = found["e2e_us"], found["kernel_us"]
        if e2e is not None and kernel is not None and kernel <= e2e * JITTER and e2e <= kernel:
            note = {"zh": "设计要先拷贝", "en": "the design copies first"}
            related = (Related(*where.where, note, design.file.path),)
            args = {"e2e": f"{e2e:g}", "kernel": f"{kernel:g}"}
            yield Hit(*token(context.file, one, "e2e_us"), args=args, related=related)
            return
