"""Optimisation rounds in docs/performance_report.md: each with its own subsection, all that belongs in it, its line in section 5.

What stands in a block that `opdev` wrote and nobody changed names its run itself and is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.case_lists import design, scale_of
from opdev.checks.report_columns import written
from opdev.design.markdown import Cell, Heading, Table
from opdev.facts.cases import matrix_of
from opdev.facts.report_performance import PerformanceReport, Round, metric_of
from opdev.facts.report_tables import bare, empty, layout_of, plain, within
from opdev.facts.reports import performance_report
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

PARTS = (
    ("机制改动", ("机制改动", "机制变更")), ("瓶颈假设", ("瓶颈假设",)), ("正确性复测", ("正确性复测",)), ("性能验证", ("性能验证",)),
    ("Device Frame", ("device frame", "deviceframe")), ("本轮最优配置", ("本轮最优配置", "最优配置")), ("决策", ("决策",)),
)  # fmt: skip
ROUNDS = 5
_ROUND = re.compile(r"(?:round|r|第)\s*(\d{1,3})(?:\s*轮)?\Z", re.IGNORECASE)
_CONCRETE = re.compile(r"\d|→|->|=>|↑|↓|[A-Za-z_]\w*_\w+|[a-z]+[A-Z]\w*")
_NOT_YET = ("未测", "未执行", "待测", "待补", "待复测")
_FIGURES = ("e2e_us", "kernel_us", "algo_bandwidth_GBps", "kernel_bus_bandwidth_GBps")
_OPEN = re.compile(r"未测|未执行|待|进行中|\bTBD\b|\bTODO\b", re.IGNORECASE)
_SCALES = ("规模", "scale", "档位", "档")
_MOST = 20


def _own(context: Context) -> PerformanceReport | None:
    """The performance report; None for other documents."""
    return performance_report(context.file)


def _section(report: PerformanceReport, number: str) -> Heading | None:
    return next((h for h in report.headings if h.number == number), None)


def incomplete(context: Context) -> Iterator[Hit]:
    """An executed round without one of the parts that a round has."""
    report = _own(context)
    for one in report.rounds if report is not None else ():
        if one.number == 0 or not one.executed or written(context, one.start):
            continue
        body = plain(context.data[one.end : one.stop].decode("utf-8", "replace"))
        lacking = [name for name, words in PARTS if not any(plain(word) in body for word in words)]
        if not one.steps:
            lacking.insert(min(len(lacking), 3), "Step 表")
        if lacking:
            yield Hit(one.start, one.end, args={"round": str(one.number), "missing": "、".join(lacking)})


def vague_changes(context: Context) -> Iterator[Hit]:
    """A step whose change names neither a value nor anything in the code."""
    for cell, round_, step in _cells(context, "变更"):
        if not empty(cell.text) and not _CONCRETE.search(cell.text):
            yield Hit(cell.start, cell.end, args={"change": bare(cell.text), "step": step, "round": str(round_)})


def _cells(context: Context, title: str) -> Iterator[tuple[Cell, int, str]]:
    report = _own(context)
    for one in report.rounds if report is not None else ():
        for step in one.steps if one.executed else ():
            cell = next((c for name, c in step.cells.items() if plain(name) == plain(title)), None)
            if cell is not None and not written(context, step.start):
                yield cell, one.number, step.name


def blank_figures(context: Context) -> Iterator[Hit]:
    """A metric of a step that passed, or of a measured case, that is blank or a text."""
    report = _own(context)
    if report is None:
        return
    told = 0
    for table, rows in _measured(context, report):
        columns = [(i, m) for i, cell in enumerate(table.header) if (m := metric_of(cell.text)) in _FIGURES]
        for cells in rows:
            for index, metric in columns:
                cell = cells[index] if index < len(cells) else None
                text = bare(cell.text) if cell is not None else ""
                if cell is None or any(c.isdigit() for c in text) or text.startswith(_NOT_YET):
                    continue
                place = (cell.start, cell.end) if cell.end > cell.start else (cells[0].start, cells[0].end)
                args = {"metric": metric or "", "row": bare(cells[0].text), "value": text}
                yield Hit(*place, "default" if not text or empty(text) else "text", args)
                told += 1
                if told >= _MOST:
                    return


def _measured(context: Context, report: PerformanceReport) -> Iterator[tuple[Table, list[list[Cell]]]]:
    """Tables of cases and of steps, with the rows whose figures are there to be read."""
    heading = _section(report, "3.1")
    rounds = [one for one in report.rounds if one.executed]
    for table in layout_of(context.file).tables:
        first = plain(table.header[0].text) if table.header else ""
        if within(heading, table) and first in ("caseid", "用例"):
            yield table, [cells for cells in table.rows if cells and not written(context, cells[0].start)]
        elif first == "step" and any(one.start <= table.start < one.stop for one in rounds):
            verdict = table.column("Correctness")
            rows = [c for c in table.rows if c and not written(context, c[0].start)]
            if verdict is not None:
                # Of a step that is wrong nothing is measured.
                rows = [c for c in rows if verdict < len(c) and bare(c[verdict].text).upper() == "PASS"]
            yield table, rows


def overview(context: Context) -> Iterator[Hit]:
    """Section 5 against the rounds of section 4: a line for each, and a subsection for each line."""
    report = _own(context)
    fifth = _section(report, "5") if report is not None else None
    if report is None or fifth is None:
        return
    table = next((t for t in layout_of(context.file).tables if within(fifth, t) and t.header), None)
    if table is None or written(context, table.start):
        return
    listed: dict[int, Cell] = {}
    for cells in table.rows:
        number = _number(cells[0].text) if cells else None
        if number is not None:
            listed.setdefault(number, cells[0])
    known = {one.number: one for one in report.rounds}
    wanted = [one.number for one in report.rounds if one.executed and one.number > 0]
    lacking = [n for n in (0, *wanted) if n not in listed]
    if listed and lacking:
        names = ", ".join(f"Round {n}" for n in lacking)
        related = tuple(_related(known[n]) for n in lacking if n in known)
        yield Hit(table.header[0].start, table.header[-1].end, args={"rounds": names}, related=related)


def without_subsection(context: Context) -> Iterator[Hit]:
    """A round that has a line in a table and no subsection of its own."""
    report = _own(context)
    if report is None:
        return
    known = {one.number for one in report.rounds}
    fourth, fifth = _section(report, "4"), _section(report, "5")
    for table in layout_of(context.file).tables:
        inside = any(one.start <= table.start < one.stop for one in report.rounds)
        if inside or not (within(fourth, table) or within(fifth, table)) or written(context, table.start):
            continue
        if not table.header or plain(table.header[0].text) not in ("round", "轮次", "step"):
            continue
        for cells in table.rows:
            number = _number(cells[0].text) if cells else None
            if number is None or number == 0 or number in known:
                continue
            if any("未执行" in cell.text for cell in cells):
                continue
            known.add(number)
            yield Hit(cells[0].start, cells[0].end, args={"round": str(number)})


def _number(text: str) -> int | None:
    said = bare(text)
    match = _ROUND.match(said) or re.match(r"(\d{1,3})(?:\.\d{1,3})?\Z", said)
    return int(match[1]) if match else None


def _related(one: Round) -> Related:
    return Related(one.start, one.end, {"zh": "这一轮在这里", "en": "the round"})


def too_few(context: Context) -> Iterator[Hit]:
    """A finished report whose rounds end before the fifth, and nobody says why the others were not run."""
    report = _own(context)
    numbers = {one.number for one in report.rounds if one.number > 0} if report is not None else set()
    if report is None or not numbers:
        return
    for one in report.rounds:
        if not one.executed and not _reasoned(one.reason) and not written(context, one.start):
            yield Hit(one.start, one.end, "reason", {"round": str(one.number)})
    said = report.conclusion
    if said is None or not said.text or _OPEN.search(said.text) or written(context, said.start):
        return
    document = design(context)
    if document is not None and document.text("performance.performance_auto_optim").lower() == "false":
        return
    asked = document.text("performance.max_opt_rounds") if document is not None else ""
    wanted = int(asked) if asked.isdecimal() and len(asked) < 3 else ROUNDS
    lacking = [n for n in range(1, wanted + 1) if n not in numbers]
    if not lacking:
        return
    last = max(report.rounds, key=lambda one: one.start)
    newline = context.file.source.newline
    at = len(context.data[: last.stop].rstrip())
    skeleton = "".join(f"{newline * 2}### Round {n}: 未执行{newline * 2}- 未执行：" for n in lacking)
    args = {"rounds": ", ".join(f"Round {n}" for n in lacking), "wanted": str(wanted)}
    yield Hit(said.start, said.end, "default", args, Fix((Edit(at, at, skeleton),)))


def _reasoned(reason: str) -> bool:
    return bool(reason.strip(" -#*|")) and not reason.startswith("未执行")


def small_case(context: Context) -> Iterator[Hit]:
    """A case of scale S in section 4, where rounds are compared on L alone."""
    report = _own(context)
    fourth = _section(report, "4") if report is not None else None
    if fourth is None:
        return
    matrix = matrix_of(context.project) if context.project is not None else None
    small = {case.id for case in matrix.cases if case.id and scale_of(case) == "S"} if matrix is not None else set()
    for table in layout_of(context.file).tables:
        if not within(fourth, table):
            continue
        scale = next((i for i, c in enumerate(table.header) if plain(c.text) in _SCALES), None)
        for cells in table.rows:
            for index, cell in enumerate(cells):
                said = bare(cell.text)
                if said in small or (index == scale and said.upper().rstrip("档规模 ") == "S"):
                    yield Hit(cell.start, cell.end, args={"value": said})
                    break
