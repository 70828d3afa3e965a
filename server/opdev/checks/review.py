"""The review report against itself and the files: who and what was reviewed, twelve checks, honest verdicts, deliverables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.case_lists import design
from opdev.facts.report_performance import metric_of
from opdev.facts.report_review import FIELDS, Consistency, Deliverable, ReviewReport
from opdev.facts.report_tables import empty, plain
from opdev.facts.reports import review_correctness, review_report
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit, Related

LATER = "待 Phase 6 性能采集后补齐"
CHECKS = (
    ("CMake 构建模式与 design 一致", "P0"), ("跨 PE 搬运使用 SHMEM 数据面接口", "P0"), ("Transport API 与 design 一致", "P0"),
    ("Signal/Wait 配对正确", "P0"), ("Phase 边界同步与 design 一致", "P1"), ("Block dim 与 design core_partition 一致", "P0"),
    ("Tile/Chunk/Tail 处理正确", "P1"), ("main.cpp 不含复杂逻辑", "P1"), ("e2e 计时口径正确", "P0"), ("无多余 GM scratch 中转", "P2"),
    ("Symmetric allocation 顺序和大小所有 PE 一致", "P0"), ("代码风格符合 code-style.md", "P2"),
)  # fmt: skip
"""The checks of section 1 and how severe each is."""
_PASSES = re.compile(r"可进入|可交付")
_NAMED = re.compile(r"([\w.<>-]+\.(?:md|py|json|cpp|h|sh|txt|log))")
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_FOLDER_OF = {".md": "docs", ".py": "scripts", ".json": "scripts", ".sh": "scripts", ".cpp": "src", ".h": "src"}
_KINDS = (("算子代码", "src"), ("测试脚本", "scripts"), ("源码", "src"), ("baseline", "baseline"))
_BUILT = re.compile(r"\.so\b|\bbuild/|\blib/")


def information(context: Context) -> Iterator[Hit]:
    """A field of the information table that is missing, blank, or a mode nobody knows."""
    report = review_report(context.file)
    if report is None:
        return
    if report.information is None:
        source = context.file.source
        yield Hit(*source.line_range(0), "absent")
        return
    lacking = [name for name in FIELDS if name not in report.fields]
    if lacking:
        yield Hit(
            *report.information.header, "missing", {"missing": ", ".join(lacking)}, _inserted(context, report, lacking)
        )
    for name, field in report.fields.items():
        if empty(field.text):
            yield Hit(field.start, field.end, "empty", {"name": name})
    mode = report.fields.get("报告模式")
    if mode is not None and report.mode is None and not empty(mode.text):
        yield Hit(mode.start, mode.end, "mode", {"value": mode.text})


def _inserted(context: Context, report: ReviewReport, lacking: list[str]) -> Fix | None:
    if report.information is None:
        return None
    document = design(context)
    known = {"design.md": "docs/design.md", "报告模式": "interim"}
    if document is not None:
        known |= {"算子名称": document.text("meta.op_name"), "代码目录": document.text("meta.op_root")}
        known["SoC"] = ", ".join(n.said for n in document.items("meta.target_soc"))
    newline = context.file.source.newline
    at = _line_end(context, report.information.end)
    return Fix((Edit(at, at, "".join(f"{newline}| {name} | {known.get(name, '')} |" for name in lacking)),))


def _line_end(context: Context, at: int) -> int:
    source = context.file.source
    return source.line_range(source.line_of(max(0, at - 1)))[1]


def consistency(context: Context) -> Iterator[Hit]:
    """Twelve rows, each PASS or FAIL."""
    report = review_report(context.file)
    if report is None:
        return
    table = report.consistency_table
    if table is None:
        yield Hit(*context.file.source.line_range(0), "absent")
        return
    count = len(report.consistency)
    if count != len(CHECKS):
        message = "count" if count < len(CHECKS) else "more"
        yield Hit(*table.header, message, {"count": count}, _rows(context, report))
    for row in report.consistency:
        said = row.result or ""
        if said in ("PASS", "FAIL"):
            continue
        place = row.places.get("result") or row.places.get("name") or (row.start, row.end)
        if re.match(r"不适用|n/?a\b", said, re.IGNORECASE):
            severity = "warning" if not empty(row.note or "") or len(said) > 6 else None
            yield Hit(*place, "unfit", {"name": row.name}, None, severity)  # type: ignore[arg-type]  # one of two literals
        else:
            yield Hit(*place, "result" if said else "none", {"name": row.name, "value": said})


def _rows(context: Context, report: ReviewReport) -> Fix | None:
    """The missing checks behind the last row, without a result: giving one is the reviewer's part."""
    table = report.consistency_table
    there = {plain(row.name) for row in report.consistency}
    lacking = [(i, *check) for i, check in enumerate(CHECKS, 1) if plain(check[0]) not in there]
    if table is None or len(report.consistency) + len(lacking) != len(CHECKS):
        return None
    by_index = {index: name for name, index in table.columns.items()}
    newline = context.file.source.newline
    text = ""
    for number, name, priority in lacking:
        cells = {"number": str(number), "name": name, "priority": priority}
        text += newline + "| " + " | ".join(cells.get(by_index.get(i, ""), "") for i in range(len(table.titles))) + " |"
    at = _line_end(context, table.end)
    return Fix((Edit(at, at, text),))


def verdict(context: Context) -> Iterator[Hit]:
    """A conclusion that passes over a failed P0 check or a failed case."""
    report = review_report(context.file)
    if report is None:
        return
    failed = [row for row in report.consistency if row.result == "FAIL" and (row.priority or "").upper() == "P0"]
    cases = review_correctness(context.file)
    wrong = [row for row in cases.rows if row.result == "FAIL"] if cases is not None else []
    first: Consistency | None = failed[0] if failed else None
    for key, verdict_ in report.verdicts.items():
        if not verdict_.chosen:
            continue
        passes = verdict_.text.upper().startswith("PASS") or bool(_PASSES.search(verdict_.text))
        if not passes:
            continue
        right = "**需修复**" if key == "overall" else "FAIL"
        fix = Fix((Edit(verdict_.start, verdict_.end, right),))
        if first is not None and key in ("design", "overall"):
            note = {"zh": "没有通过的 P0 项", "en": "the P0 check that failed"}
            related = (Related(*(first.places.get("result") or (first.start, first.end)), note),)
            yield Hit(
                verdict_.start,
                verdict_.end,
                "default",
                {"value": verdict_.text, "name": first.name, "right": right},
                fix,
                None,
                related,
            )
        elif wrong and key in ("correctness", "overall"):
            note = {"zh": "失败的用例", "en": "the case that failed"}
            related = (Related(*wrong[0].place("result"), note),)
            yield Hit(
                verdict_.start,
                verdict_.end,
                "case",
                {"value": verdict_.text, "name": wrong[0].id, "right": right},
                fix,
                None,
                related,
            )


def interim_numbers(context: Context) -> Iterator[Hit]:
    """Numbers of performance in a review written before anything was measured."""
    report = review_report(context.file)
    if report is None or report.mode != "interim":
        return
    for name, cell in report.performance_cells:
        said = re.sub(r"Phase\s*6(?:\.5)?|performance_report\.md|(?<!\d)/\s*5", "", cell.text)
        if re.search(r"\d", said):
            yield Hit(
                cell.start,
                cell.end,
                "default",
                {"name": name, "value": cell.text},
                Fix((Edit(cell.start, cell.end, LATER),)),
            )


def deliverables(context: Context) -> Iterator[Hit]:
    """A deliverable marked as there that is not, or the other way round."""
    report, project = review_report(context.file), context.project
    if report is None or project is None:
        return
    for one in report.deliverables:
        if one.mark not in ("present", "absent"):
            continue
        candidates = _candidates(project, one)
        if not candidates:
            continue
        there = any(_there(project, path) for path in candidates)
        if there != (one.mark == "present"):
            message, right = ("default", "❌") if not there else ("there", "✅")
            mark = context.file.source.text(one.start, one.end)
            text = re.sub(r"[✅✔☑❌✗✘]\ufe0f?", right, mark, count=1) if re.search(r"[✅✔☑❌✗✘]", mark) else right
            fix = Fix((Edit(one.start, one.end, text),))
            yield Hit(one.start, one.end, message, {"name": one.name, "path": candidates[0], "right": right}, fix)


def _there(project: Project, path: str) -> bool:
    """Whether a file, or a folder with anything of ours in it, is there."""
    below = f"{project.root}/{path}/"
    return project.exists(path) or any(f.path.startswith(below) for f in project.files())


def _candidates(project: Project, one: Deliverable) -> list[str]:
    """Where a deliverable would be, below the operator; nothing for what a build makes."""
    path = one.path
    link = _LINK.search(path)
    path = (link.group(1) if link else path).strip("` ").removeprefix("./")
    if _BUILT.search(path) or _BUILT.search(one.name):
        return []
    for root in (f"custom-ops/{project.name}/", f"examples/{project.name}/", f"{project.name}/"):
        path = path.rpartition(root)[2] if root in path else path
    if path.startswith(("/", "$", "..", "~")):
        return []
    named = _NAMED.search(path) or _NAMED.search(one.name)
    if named is None:
        folder = next((f for word, f in _KINDS if word in one.name), "")
        return (
            [folder]
            if folder
            else [path.rstrip("/")]
            if path.rstrip("/") in ("src", "scripts", "docs", "baseline")
            else []
        )
    name = named.group(1).replace("<op>", project.name).replace("<op_name>", project.name)
    if "<" in name:
        return []
    if "/" in path and _NAMED.search(path):
        return [path.replace("<op>", project.name).replace("<op_name>", project.name)]
    folder = path.strip("/") or _FOLDER_OF.get(name[name.rfind(".") :], "")
    return [
        f"{folder}/{name}" if folder and not _NAMED.search(folder) else name,
        name,
        f"docs/{name}",
        f"scripts/{name}",
    ]


_FOUR = ("e2e_us", "kernel_us", "algo_bandwidth_GBps", "kernel_bus_bandwidth_GBps")


def final_numbers(context: Context) -> Iterator[Hit]:
    """A final review whose section 3 names no performance report, or not all four metrics."""
    report = review_report(context.file)
    if report is None or report.mode != "final" or report.section3 is None:
        return
    document = design(context)
    if document is None or document.text("meta.performance_required").lower() != "true":
        return
    start, stop = report.section3
    text = context.data[start:stop].decode("utf-8", "replace")
    there = {metric_of(name) for name, cell in report.performance_cells if re.search(r"\d", cell.text)}
    line = context.file.source.line_range(context.file.source.line_of(max(0, start - 1)))
    if "performance_report.md" not in text:
        yield Hit(*line)
    lacking = [metric for metric in _FOUR if metric not in there]
    if lacking:
        yield Hit(*line, "metrics", {"missing": "、".join(lacking)})
