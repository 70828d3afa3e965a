"""docs/performance_report.md: the baseline's type, the measured tables, the rounds, the final comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from opdev.design.markdown import Cell, Heading, Table
from opdev.facts.report_tables import Figure, Layout, bare, empty, figure, layout_of, plain, within
from opdev.syntax.file import File

# A metric's names, ours first; with blanks and emphasis gone and in lower case.
METRICS: dict[str, tuple[str, ...]] = {
    "e2e_us": ("e2e_us", "e2e_latency_us", "shmem e2e", "最优 e2e_us"),
    "kernel_us": ("kernel_us", "kernel_latency_us", "shmem kernel"),
    "algo_bandwidth_GBps": ("algo_bandwidth_gbps", "algo_gbps", "algo"),
    "e2e_bus_bandwidth_GBps": ("e2e_bus_bandwidth_gbps", "e2e_bus"),
    "kernel_bus_bandwidth_GBps": (
        "kernel_bus_bandwidth_gbps", "shmem kernel_bus_bandwidth_gbps", "最优 kernel_bus_bandwidth_gbps", "kernel_bus",
    ),
    "bandwidth_utilization_pct": ("bandwidth_utilization_pct", "bandwidth_utilization%", "utilization%"),
    "compute_utilization_pct": ("compute_utilization_pct", "compute_utilization%"),
    "payload_bytes": ("payload_bytes", "logical_payload_bytes"),
    "bus_factor": ("bus_factor",),
    "peak_bandwidth_GBps": ("peak_bandwidth_gbps",),
}  # fmt: skip
_METRIC_OF = {plain(spelling): metric for metric, names in METRICS.items() for spelling in names}
_BASELINE_METRIC = {plain("Baseline kernel_bus_bandwidth_GBps"): "kernel_bus_bandwidth_GBps"}
_TYPE = re.compile(rb"[ \t]*[-*+]?[ \t]*\**Type\**[ \t]*(?:\xef\xbc\x9a|:)\**[ \t]*([^\r\n]*)", re.IGNORECASE)
_ROUND = re.compile(r"Round\s*(\d+)", re.IGNORECASE)
_DECISION = re.compile(rb"\*{0,2}\xe5\x86\xb3\xe7\xad\x96\*{0,2}[ \t]*(?:\xef\xbc\x9a|:)\*{0,2}[ \t]*([^\r\n]*)")
_STATUS = re.compile(
    rb"[ \t]*(?:[-*+][ \t]+)?\*{0,2}\xe8\xbe\xbe\xe6\xa0\x87\xe7\x8a\xb6\xe6\x80\x81\*{0,2}[ \t]*(?:\xef\xbc\x9a|:)\*{0,2}[ \t]*([^\r\n]*)"
)
_NOT_RUN = re.compile(r"未执行")


@dataclass(frozen=True, slots=True)
class Said:
    """A text with its place."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A number of one metric.  ``who`` says whose: shmem, or baseline; ``case`` is the row's case id, if it has one."""

    metric: str
    who: str
    case: str | None
    section: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Step:
    """A row of a round's step table."""

    name: str
    change: str | None
    correctness: str | None
    start: int
    end: int
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round:
    """``### Round N``; ``executed`` is False where it says 未执行, ``reason`` then is what is said behind it."""

    number: int
    start: int
    end: int
    stop: int
    steps: tuple[Step, ...]
    decision: Said | None
    executed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class FinalRow:
    """A metric's row of section 6.1 (L) or 6.2 (S)."""

    section: str
    metric: str
    shmem: Figure
    baseline: Figure | None
    ratio: Figure | None
    verdict: Said | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PerformanceReport:
    """What a performance report says."""

    path: str
    headings: tuple[Heading, ...]
    baseline_type: Said | None
    measured: tuple[Measured, ...]
    rounds: tuple[Round, ...]
    final: tuple[FinalRow, ...]
    conclusion: Said | None


def read_performance(file: File) -> PerformanceReport:
    """The performance report a file is."""
    layout = layout_of(file)
    top = [h for h in layout.headings if h.level == 2]
    by_number = {h.number: h for h in reversed(top)}
    sixth = by_number.get("6")
    return PerformanceReport(
        file.path,
        tuple(layout.headings),
        _said(file, _TYPE, by_number.get("2")),
        tuple(_measured(layout)),
        _rounds(file, layout),
        tuple(_final(layout, sixth)),
        _said(file, _STATUS, by_number.get("7")),
    )


def _said(file: File, pattern: re.Pattern[bytes], heading: Heading | None) -> Said | None:
    if heading is None:
        return None
    for line in re.finditer(rb"[^\r\n]+", file.data[heading.end : heading.stop]):
        match = pattern.match(line.group())
        if match:
            raw = match.group(1).rstrip()
            start = heading.end + line.start() + match.start(1)
            return Said(bare(raw.decode("utf-8", "replace")), start, start + len(raw))
    return None


def metric_of(title: str) -> str | None:
    """The metric a column or row is about; None for others."""
    return _METRIC_OF.get(plain(title))


def _section(table: Table) -> str:
    return table.heading.number or table.heading.title if table.heading is not None else ""


def _measured(layout: Layout) -> Iterator[Measured]:
    """Numbers by column (a row a case or step) and by row (a metric each)."""
    for table in layout.tables:
        titles = [cell.text for cell in table.header]
        columns = {i: m for i, title in enumerate(titles) if (m := metric_of(title)) is not None}
        theirs = {i: m for i, t in enumerate(titles) if (m := _BASELINE_METRIC.get(plain(t))) is not None}
        first = plain(titles[0]) if titles else ""
        by_case = first in ("caseid", "step", "round", "用例")
        section = _section(table)
        for cells in table.rows:
            name = bare(cells[0].text) if cells else ""
            if by_case or first == "metric":
                case = name if first in ("caseid", "用例") else None
                for index, cell in enumerate(cells):
                    whose = "shmem" if index in columns else "baseline"
                    metric = columns.get(index) or theirs.get(index)
                    if metric is not None and not empty(cell.text):
                        yield Measured(metric, whose, case, section, figure(cell))
            elif (metric := metric_of(name)) is not None:
                for index, cell in enumerate(cells[1:3], 1):
                    if index < len(titles) and not empty(cell.text) and not re.search(r"[/Δ%]|达标", titles[index]):
                        shmem = "shmem" in titles[index].lower() or "round" in titles[index].lower()
                        yield Measured(metric, "shmem" if shmem else "baseline", None, section, figure(cell))


def _rounds(file: File, layout: Layout) -> tuple[Round, ...]:
    found: list[Round] = []
    for heading in layout.headings:
        match = _ROUND.match(heading.title) if heading.level == 3 else None
        if match is None or len(match.group(1)) > 4:
            continue
        body = file.data[heading.end : heading.stop].decode("utf-8", "replace")
        skipped = _NOT_RUN.search(heading.title) or _NOT_RUN.search(body)
        reason = ""
        if skipped:
            reason = _reason(heading.title) or _reason(body) or _first_line(body)
        decision = None
        for line in re.finditer(rb"[^\r\n]+", file.data[heading.end : heading.stop]):
            one = _DECISION.search(line.group())
            if one:
                raw = one.group(1).rstrip()
                start = heading.end + line.start() + one.start(1)
                decision = Said(bare(raw.decode("utf-8", "replace")), start, start + len(raw))
                break
        steps = tuple(s for table in layout.tables if within(heading, table) for s in _steps(table))
        executed = not (skipped and not steps)
        found.append(
            Round(int(match.group(1)), heading.start, heading.end, heading.stop, steps, decision, executed, reason)
        )
    return tuple(found)


def _reason(text: str) -> str:
    """What is said behind 未执行."""
    found = _NOT_RUN.search(text)
    return _first_line(text[found.end() :]) if found is not None else ""


def _first_line(text: str) -> str:
    said = text.strip(" \t\r\n:：，,（(+-—").partition("\n")[0].strip(" )）")
    return "" if _NOT_RUN.match(said) else said


def _steps(table: Table) -> Iterator[Step]:
    titles = [plain(cell.text) for cell in table.header]
    if not titles or titles[0] != "step":
        return
    for cells in table.rows:
        known = dict(zip([cell.text.strip() for cell in table.header], cells, strict=False))
        by = dict(zip(titles, cells, strict=False))
        change, verdict = by.get("变更"), by.get("correctness")
        yield Step(
            bare(cells[0].text),
            bare(change.text) if change is not None else None,
            bare(verdict.text) if verdict is not None else None,
            cells[0].start,
            cells[-1].end,
            known,
        )


def _final(layout: Layout, sixth: Heading | None) -> Iterator[FinalRow]:
    for table in layout.tables:
        if not within(sixth, table):
            continue
        titles = [plain(cell.text) for cell in table.header]
        passes = next((i for i, t in enumerate(titles) if t == "达标"), None)
        ratio = next((i for i, t in enumerate(titles) if "/" in t), None)
        for cells in table.rows:
            metric = metric_of(bare(cells[0].text)) if cells else None
            if metric is None or len(cells) < 2:
                continue
            verdict = cells[passes] if passes is not None and passes < len(cells) else None
            baseline = cells[2] if len(cells) > 2 and ratio != 2 and passes != 2 else None
            yield FinalRow(
                _section(table),
                metric,
                figure(cells[1]),
                figure(baseline) if baseline is not None else None,
                figure(cells[ratio]) if ratio is not None and ratio < len(cells) else None,
                Said(bare(verdict.text), verdict.start, verdict.end) if verdict is not None else None,
                cells[0].start,
                cells[-1].end,
            )


__all__ = [
    "METRICS",
    "FinalRow",
    "Measured",
    "PerformanceReport",
    "Round",
    "Said",
    "Step",
    "metric_of",
    "read_performance",
]
