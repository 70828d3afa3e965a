"""What an operator needs to be measured, and what it has without a use for it: perf.sh, the baseline."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.case_lists import design
from opdev.facts.report_tables import layout_of
from opdev.facts.reports import performance_report
from opdev.rules.context import Context
from opdev.rules.model import Hit

_DISTRIBUTED = re.compile(
    rb"(?m)^[ \t]*(?:import[ \t]+torch\.distributed\b|from[ \t]+torch(?:\.distributed)?[ \t]+import[ \t]+(?:\w+[ \t]*,[ \t]*)*(?:distributed|all_\w+|init_process_group)\b|import[ \t]+torch_npu\b)"
)
_MEASURES = re.compile(rb"\b(?:all_reduce|all_gather\w*|all_to_all\w*|reduce_scatter\w*|broadcast|init_process_group)[ \t]*\(")  # fmt: skip


def no_script(context: Context) -> Iterator[Hit]:
    """A performance report of an operator that has no perf.sh to measure it again."""
    project = context.project
    if project is None or performance_report(context.file) is None or project.exists("scripts/perf.sh"):
        return
    document = design(context)
    if document is None or document.text("meta.performance_required").lower() != "true":
        return
    if document.text("meta.build_mode") == "in_tree_example" and any(b"--perf" in f.data for f in project.files("run-script")):  # fmt: skip
        return
    heads = layout_of(context.file).headings
    yield Hit(*((heads[0].start, heads[0].end) if heads else context.file.source.line_range(0)))


def python_baseline(context: Context) -> Iterator[Hit]:
    """A baseline in Python, whose own overhead is measured with it."""
    if "baseline" not in context.place.relative.split("/")[:-1] or not _MEASURES.search(context.code):
        return
    match = _DISTRIBUTED.search(context.code)
    if match is not None:
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        yield Hit(start, match.end())


def unused_baseline(context: Context) -> Iterator[Hit]:
    """A baseline program, though the design compares with none."""
    project = context.project
    document = design(context)
    if project is None or document is None or document.file.path != context.file.path:
        return
    node = document.get("performance.baseline")
    if node is not None and node.said.strip().lower() == "metric_only" and project.exists("baseline/CMakeLists.txt"):
        yield Hit(*node.where)
