"""Numbers in reports and READMEs against the logs they claim to come from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from opdev.checks import perf_logs
from opdev.checks.report_columns import written
from opdev.facts.logs import PerfLine, perf_of
from opdev.facts.report_performance import metric_of
from opdev.facts.report_tables import Figure, empty, figure, layout_of, plain
from opdev.facts.reports import performance_report, report_name, review_report
from opdev.rules.context import Context, Project
from opdev.rules.model import Hit, Related
from opdev.syntax.file import File

_JUDGED = {
    "e2e_us", "kernel_us", "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps",
    "bandwidth_utilization_pct",
}  # fmt: skip

_MOST = 40
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*(GB/s|GBps|us\b|μs|µs|微秒|%)", re.IGNORECASE)
_LATER = re.compile(r"Phase\s*6", re.IGNORECASE)
"""The fixed text of a value that is still to be measured: 待 Phase 6 性能采集后补齐."""
_SIMULATED = re.compile("模拟|仿真".encode() + rb"|simulat|stand-in|backend\W{0,3}sim|\[SIM\]", re.IGNORECASE)
_TELLING = 3
"""Digits from which on a number is unlikely to agree with a log by chance."""
_LINE = re.compile(rb"[^\r\n]+")
_NOT_MEASURED = re.compile(
    r"峰值|理论|peak|链路|link|达标|目标|不低于|不超过|至少|以上|target|at least|≥|≤|>=|<=|<|>|默认|default|预期|期望|expect|单条|阈值",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Known:
    """Values of one metric: (value, log, line), what several PEs come to included."""

    values: list[tuple[float, File, PerfLine]] = field(default_factory=list)

    def holds(self, shown: Figure) -> bool:
        """Whether a value rounds, or is cut off, to what is shown."""
        step, wanted = 10.0**-shown.digits, shown.value or 0.0
        noise = abs(wanted) * 1e-9 + step * 1e-6
        return any(-step / 2 - noise <= value - wanted < step + noise for value, _, _ in self.values)

    def nearest(self, shown: Figure) -> tuple[float, File, PerfLine]:
        return min(self.values, key=lambda one: abs(one[0] - (shown.value or 0.0)))


def _known(logs: Iterable[File], *, baseline: bool) -> dict[str, _Known]:
    found: dict[str, _Known] = {}
    for log in logs:
        named = log.path.rpartition("/")[2].startswith("baseline")
        lines = [line for line in perf_of(log) if (line.baseline or named) == baseline]
        for run in _runs(lines):
            for metric in _JUDGED:
                have = [(line.values[metric], line) for line in run if metric in line.values]
                if not have:
                    continue
                into = found.setdefault(metric, _Known()).values
                into += [(value, log, line) for value, line in have]
                if len(have) > 1:
                    into.append((sum(v for v, _ in have) / len(have), log, have[0][1]))
    return found


def _runs(lines: list[PerfLine]) -> Iterator[list[PerfLine]]:
    """Lines of one launch each: PEs differ in it."""
    run: list[PerfLine] = []
    for line in lines:
        if any(line.pe == other.pe for other in run):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _logs(project: Project) -> list[File]:
    return [f for f in project.files("log") if "/data/perf/" in f.path and perf_of(f)]


def unlogged(context: Context) -> Iterator[Hit]:
    """A number of the report that no log has."""
    if context.project is None:
        return
    shown = list(_shown(context))
    if not shown:
        return
    logs = _logs(context.project)
    if not logs:
        metric, _, first = shown[0]
        yield Hit(first.start, first.end, "nolog", {"value": first.text, "metric": metric}, None, "warning")
        return
    sides: Mapping[bool, dict[str, _Known]] = {b: _known(logs, baseline=b) for b in (False, True)}
    note = {"zh": "日志里最接近的值", "en": "the nearest value in a log"}
    told = 0
    for metric, baseline, one in shown:
        known = sides[baseline].get(metric)
        if known is None or known.holds(one):
            continue
        value, log, line = known.nearest(one)
        args = {"value": one.text, "metric": metric, "nearest": f"{value:g}", "log": log.path.rpartition("/")[2]}
        yield Hit(one.start, one.end, "default", args, None, None, (Related(line.start, line.end, note, log.path),))
        told += 1
        if told >= _MOST:
            return


def _shown(context: Context) -> Iterator[tuple[str, bool, Figure]]:
    """(metric, whether the baseline's, number) for the tables a log still speaks of.

    perf.sh writes a log anew each time, so once rounds were run those before the last are only in the report.  A block
    that `opdev report` made and nobody changed names run and line itself, and has medians of several launches.
    """
    report = performance_report(context.file)
    if report is not None:
        rounds = any(r.executed for r in report.rounds)
        for one in report.measured:
            top = one.section.partition(".")[0]
            if one.metric not in _JUDGED or one.figure.value is None:
                continue
            if written(context, one.figure.start):
                continue
            if top == "6" or (top == "3" and (one.who == "baseline" or not rounds)):
                yield one.metric, one.who == "baseline", one.figure
        return
    review = review_report(context.file)
    if review is None or review.section3 is None:
        return
    for table in layout_of(context.file).tables:
        if not review.section3[0] <= table.start < review.section3[1]:
            continue
        titles = [plain(cell.text) for cell in table.header]
        for cells in table.rows:
            metric = metric_of(cells[0].text) if cells else None
            for index, cell in enumerate(cells[1:3], 1):
                if metric in _JUDGED and index < len(titles) and "/" not in titles[index] and titles[index] != "达标":
                    value = figure(cell)
                    if written(context, cell.start):
                        continue
                    if value.value is not None and not empty(cell.text) and not _LATER.search(cell.text):
                        yield metric, index > 1 and "shmem" not in titles[index], value


def simulated(context: Context) -> Iterator[Hit]:
    """A number that the CPU stand-in alone has, in a section that does not say so."""
    if context.project is None:
        return
    logs = _logs(context.project)
    sims = [log for log in logs if perf_logs.simulated(log)]
    if not sims:
        return
    real = [log for log in logs if log not in sims]
    theirs = [_known(sims, baseline=b) for b in (False, True)]
    ours = [_known(real, baseline=b) for b in (False, True)]
    note = {"zh": "这份日志来自 CPU 模拟", "en": "this log is of the CPU stand-in"}
    told = 0
    for metric, one in _claimed(context):
        if len(one.text.replace(".", "").strip("0,-+")) < _TELLING:
            continue
        holding = next((k for known in theirs for k in _of(known, metric) if k.holds(one)), None)
        if holding is None or any(k.holds(one) for known in ours for k in _of(known, metric)):
            continue
        if _marked(context, one.start):
            continue
        _, log, line = holding.nearest(one)
        args = {"value": one.text, "log": log.path.rpartition("/")[2]}
        yield Hit(one.start, one.end, args=args, related=(Related(line.start, line.end, note, log.path),))
        told += 1
        if told >= _MOST:
            return


def _of(known: Mapping[str, _Known], metric: str) -> list[_Known]:
    """The values of a metric; of all where none is named."""
    return [k for name, k in known.items() if metric in ("", name)]


def _claimed(context: Context) -> Iterator[tuple[str, Figure]]:
    """(metric, number) that a report or a README gives as measured; the metric is empty where no column names it."""
    report = performance_report(context.file)
    if report is not None:
        for one in report.measured:
            if not written(context, one.figure.start) and one.metric in _JUDGED and one.figure.value is not None:
                yield one.metric, one.figure
    elif review_report(context.file) is not None:
        yield from ((metric, shown) for metric, _, shown in _shown(context))
    elif "readme" in context.kinds:
        for line in _LINE.finditer(context.data):
            text = line.group().decode("utf-8", "replace")[:2000]
            for match in _NUMBER.finditer(text):
                start = line.start() + len(text[: match.start(1)].encode())
                digits = len(match[1].partition(".")[2])
                yield "", Figure(match[1], start, start + len(match[1]), float(match[1]), digits)


def _marked(context: Context, at: int) -> bool:
    """Whether the section around ``at`` says that its numbers are simulated."""
    heads = [h for h in layout_of(context.file).headings if h.level <= 3]
    inner = [h for h in heads if h.start <= at < h.stop]
    start, stop = (inner[-1].start, inner[-1].stop) if inner else (0, len(context.data))
    return context.file.memo(
        ("report.simulated", start), lambda: _SIMULATED.search(context.data, start, stop) is not None
    )


def unmeasured(context: Context) -> Iterator[Hit]:
    """A README's performance numbers, though nothing was ever measured."""
    if context.project is None or context.place.relative.lower() not in (
        "readme.md",
        "readme.zh-cn.md",
        "readme_zh.md",
    ):
        return
    from opdev.design.markdown import stretches

    sections = [
        h
        for h in layout_of(context.file).headings
        if re.search(r"性能|performance|带宽|bandwidth", h.title, re.IGNORECASE)
    ]
    if not sections or _logs(context.project):
        return
    reports = [f.data for f in context.project.files("report") if report_name(f) == "performance_report"]
    lines = (m.span() for a, b in stretches(context.data) for m in _LINE.finditer(context.data, a, b))
    # Sections are in text order; one inside another reaches no further than it.
    ends = [h.end for h in sections]
    reach = list(accumulate((h.stop for h in sections), max))
    for start, end in lines:
        index = bisect_right(ends, start) - 1
        if index < 0 or start >= reach[index]:
            continue
        text = context.data[start:end].decode("utf-8", "replace")
        for match in _NUMBER.finditer(text[:2000]):
            before = text[max(0, match.start() - 30) : match.start()]
            if _NOT_MEASURED.search(before) or any(match.group(1).encode() in data for data in reports):
                continue
            at = start + len(text[: match.start()].encode())
            yield Hit(at, at + len(match.group().encode()), args={"value": match.group()})
