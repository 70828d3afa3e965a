"""docs/performance_report.md against its own numbers: sections, rounds, ratios, verdicts, and the logs behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opdev.checks import perf_logs
from opdev.design.document import document_of
from opdev.design.markdown import Heading
from opdev.facts.logs import PerfLine
from opdev.facts.report_performance import FinalRow, PerformanceReport, Step
from opdev.facts.report_tables import empty, layout_of, plain, within
from opdev.facts.reports import performance_report
from opdev.perf.model import Problem
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax.file import File

SECTIONS = ("算子信息", "Baseline 详细信息", "基线数据", "优化记录", "轮次总览", "最终对比", "结论")
TYPES = ("hccl", "aclnn", "stitched", "metric_only")
_BUS = "kernel_bus_bandwidth_GBps"
_BANDWIDTHS = (_BUS, "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps")
_LINE, _FLOOR = 80.0, 20.0
_HALF = 0.5
"""Points that a percentage may be off."""
_MEANT = {
    "PASS": ("通过", "ok", "passed", "pass", "成功", "✓", "√"),
    "FAIL": ("失败", "failed", "fail", "不通过", "未通过", "error"),
}
_NOT_YET = ("none", "未测", "未执行", "待测", "待复测")
_DECISIONS = {
    "keep": ("保留", "kept", "采用", "keep"),
    "revert": ("回退", "撤销", "reverted", "放弃", "revert", "rollback"),
}
_OPEN = ("进行中", "未执行", "待定", "open")
_STEP = re.compile(r"(\d{1,4})\.(\d{1,4})\Z")
_ASKED = re.compile(
    r"用户.{0,8}(?:要求|指定|请求)|应.{0,6}要求|(?:asked|requested) (?:by|for)|user asked", re.IGNORECASE
)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_OWN = re.compile(r"\A(?:round\s*\d+|r\d+|shmem.*)\Z", re.IGNORECASE)
_MOST = 20


def sections(context: Context) -> Iterator[Hit]:
    """The seven level-2 headings: gaps, wrong order, or more than these.  Those after the last are not written yet."""
    report = performance_report(context.file)
    if report is None:
        return
    top = [h for h in report.headings if h.level == 2]
    found = [(h, _section_of(h)) for h in top]
    there = [number for _, number in found if number is not None]
    if not there:
        return
    lacking = [f"{n}. {SECTIONS[n - 1]}" for n in range(1, max(there)) if n not in there]
    if lacking:
        first = report.headings[0]
        yield Hit(first.start, first.end, "default", {"missing": "、".join(lacking)})
    last = 0
    for heading, number in found:
        if number is None:
            yield Hit(heading.start, heading.end, "more", {"title": heading.title}, None, "warning")
        elif number < last:
            yield Hit(heading.start, heading.end, "order", {"title": heading.title})
        else:
            last = number


def _section_of(heading: Heading) -> int | None:
    title = plain(heading.title)
    return next((n for n, name in enumerate(SECTIONS, 1) if plain(name) in title), None)


def baseline_type(context: Context) -> Iterator[Hit]:
    """§2 Type that is none of the four."""
    report = performance_report(context.file)
    said = report.baseline_type if report is not None else None
    if said is None or said.text.lower().strip("`") in TYPES:
        return
    if "|" in said.text or said.text.count("/") > 1:
        return  # The template's list of choices: nothing is said yet.
    near = [t for t in TYPES if t in said.text.lower()]
    if not said.text:
        yield Hit(said.start, said.start, "none")
    elif len(near) == 1:
        fix = Fix((Edit(said.start, said.end, near[0]),))
        yield Hit(said.start, said.end, "default", {"value": said.text, "right": near[0]}, fix)
    else:
        yield Hit(said.start, said.end, "default", {"value": said.text})


def steps(context: Context) -> Iterator[Hit]:
    """A step whose id is not that of its round."""
    report = performance_report(context.file)
    for one in report.rounds if report is not None else ():
        for step in one.steps:
            match = _STEP.match(step.name)
            if step.name and not empty(step.name) and (match is None or int(match[1]) != one.number):
                place = _cell(step, "step") or (step.start, step.end)
                yield Hit(*place, args={"step": step.name, "round": str(one.number)})


def round_words(context: Context) -> Iterator[Hit]:
    """A step's correctness that is neither PASS nor FAIL; a decision that is neither keep nor revert."""
    report = performance_report(context.file)
    for one in report.rounds if report is not None else ():
        for step in one.steps:
            word = step.correctness or ""
            if word in ("PASS", "FAIL") or empty(word) or word.lower().startswith(_NOT_YET):
                continue
            place = _cell(step, "correctness")
            if place is not None:
                args = {"value": word, "step": step.name}
                yield Hit(*place, "default", *_meant(word, place, _MEANT, args))
        said = one.decision
        if said is None or not said.text or empty(said.text) or not one.executed:
            continue
        # The template's choice: keep / revert.
        words = re.split(r"[（(，,：:]", said.text, maxsplit=1)[0].strip()
        if words.lower() in ("keep", "revert") or words.startswith(_OPEN) or ("keep" in words and "revert" in words):
            continue
        end = said.start + len(words.encode())
        args = {"value": words, "round": str(one.number)}
        yield Hit(said.start, end, "decision", *_meant(words, (said.start, end), _DECISIONS, args))


def _cell(step: Step, title: str) -> tuple[int, int] | None:
    cell = next((c for name, c in step.cells.items() if plain(name) == title), None)
    return (cell.start, cell.end) if cell is not None and cell.end > cell.start else None


def _meant(
    word: str, place: tuple[int, int], known: Mapping[str, tuple[str, ...]], args: Mapping[str, str]
) -> tuple[Mapping[str, str], Fix | None]:
    """A hit's arguments, and the fix where the right word is known."""
    right = next((r for r, words in known.items() if word.lower().strip(" *`") in words), None)
    return ({**args, "right": right}, Fix((Edit(*place, right),))) if right is not None else (args, None)


def unasked(context: Context) -> Iterator[Hit]:
    """A sixth round or a later one that nobody is said to have asked for."""
    report = performance_report(context.file)
    more = [one for one in report.rounds if one.number > 5 and one.executed] if report is not None else []
    if more and not _ASKED.search(context.data.decode("utf-8", "replace")):
        yield Hit(more[0].start, more[0].end, args={"round": str(more[0].number)})


def own_baseline(context: Context) -> Iterator[Hit]:
    """A final comparison whose baseline column is a round of the operator itself."""
    report = performance_report(context.file)
    sixth = next((h for h in report.headings if h.level == 2 and h.number == "6"), None) if report is not None else None
    for table in layout_of(context.file).tables if sixth is not None else ():
        if within(sixth, table) and len(table.header) > 3 and _OWN.match(table.header[2].text.strip(" *`")):
            cell = table.header[2]
            yield Hit(cell.start, cell.end, args={"name": cell.text.strip()})


def ratios(context: Context) -> Iterator[Hit]:
    """A ratio of the final comparison that is not SHMEM over baseline."""
    report = performance_report(context.file)
    for row in report.final if report is not None else ():
        shown = row.ratio
        right = _ratio(row)
        if row.metric not in _BANDWIDTHS or shown is None or shown.value is None or right is None:
            continue
        # As a share (1.05), too.
        noise = _HALF + _rounding(row, right)
        if all(abs(shown.value * scale - right) > noise + 0.5 * scale * 10.0**-shown.digits for scale in (1.0, 100.0)):
            yield Hit(shown.start, shown.end, args={"shown": shown.text, "right": f"{right:.1f}", "metric": row.metric})


def _ratio(row: FinalRow) -> float | None:
    ours, theirs = row.shmem.value, row.baseline.value if row.baseline is not None else None
    return ours / theirs * 100 if ours is not None and theirs else None


def _rounding(row: FinalRow, ratio: float) -> float:
    """Points by which a ratio may be off because its figures are shown with few digits."""
    both = [f for f in (row.shmem, row.baseline) if f is not None and f.value]
    return ratio * sum(0.5 * 10.0**-f.digits / abs(f.value or 1.0) for f in both)


def verdicts(context: Context) -> Iterator[Hit]:
    """PASS or FAIL of the final comparison that its numbers do not bear out, or that stands in a row of end-to-end time."""
    report = performance_report(context.file)
    if report is None:
        return
    line, floor = _lines(context, report)
    used = {row.section: row.shmem.value for row in report.final if row.metric == "bandwidth_utilization_pct"}
    for row in report.final:
        said = row.verdict
        word = said.text.upper() if said is not None else ""
        if said is None or word not in ("PASS", "FAIL"):
            continue
        if row.metric in ("e2e_us", "e2e_bus_bandwidth_GBps"):
            yield Hit(said.start, said.end, "e2e", {"metric": row.metric, "said": word})
            continue
        if row.metric != _BUS:
            continue
        ratio = _ratio(row)
        alone = report.baseline_type is not None and report.baseline_type.text.lower() == "metric_only"
        value, wanted = (ratio, line) if ratio is not None else (used.get(row.section) if alone else None, floor)
        if (
            value is None
            or abs(value - wanted) <= _HALF + (_rounding(row, ratio) if ratio is not None else 0.0)
            or (value >= wanted) == (word == "PASS")
        ):
            continue
        key = "default" if ratio is not None else "floor"
        yield Hit(said.start, said.end, key, {"said": word, "value": f"{value:.1f}", "line": f"{wanted:g}"})


def _lines(context: Context, report: PerformanceReport) -> tuple[float, float]:
    """The lines to meet, in percent: the design's own where it names one."""
    del report
    for file in context.project.files("design-doc") if context.project is not None else ():
        match = _PERCENT.search(document_of(file).text("performance.baseline_target"))
        if match is not None:
            return float(match[1]), float(match[1]) if float(match[1]) < _LINE else _FLOOR
    return _LINE, _FLOOR


def inconsistent(context: Context) -> Iterator[Hit]:
    """Lines of data/perf whose derived fields do not follow from what they are derived from, told at the report's figures."""
    if context.file.language == "log":
        yield from perf_logs.inconsistent(context)
        return
    report = performance_report(context.file)
    if report is None or context.project is None:
        return
    told = 0
    note = {"zh": "这一行日志", "en": "the line of the log"}
    for log in context.project.files("perf-log"):
        if "/data/perf/" not in log.path:
            continue
        for line, problem in _wrong(log):
            metric = problem.args["field"]
            place = _figure(report, metric, line.values.get(metric)) or context.file.source.line_range(0)
            args = {"metric": metric, "shown": problem.args["shown"], "right": problem.args["right"], "log": log.path.rpartition("/")[2], "line": str(problem.line)}  # fmt: skip
            yield Hit(*place, args=args, related=(Related(line.start, line.end, note, log.path),))
            told += 1
            if told >= _MOST:
                return


def _figure(report: PerformanceReport, metric: str, value: float | None) -> tuple[int, int] | None:
    """Where the report shows that value of the metric."""
    for one in report.measured:
        shown = one.figure
        if (
            value is not None
            and one.metric == metric
            and shown.value is not None
            and abs(shown.value - value) <= 0.5 * 10.0**-shown.digits
        ):
            return shown.start, shown.end
    return None


def _wrong(log: File) -> Iterator[tuple[PerfLine, Problem]]:
    """Derived fields that do not follow from the others; lines that were cut are passed over."""
    for one in perf_logs.lines_of(log):
        if one.line is not None and one.line.whole and not one.line.repeated:
            yield from ((one.line, p) for p in one.problems if p.key in perf_logs.DERIVED)
