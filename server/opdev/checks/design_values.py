"""What stands at a DSL's keys: placeholders, keys it does not have, values of another kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import expected_zh, overwrite
from opdev.checks.design_problems import design, fix_of, parent_of, problems
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.fences import line_start

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.problems import Problem

_PROMPT = re.compile(r"\[[^\[\]\r\n]*[\u4e00-\u9fff][^\[\]\r\n]*\]")
_MAYBE = re.compile(rb"\[|replace_me|pass/fail|yes/no")
_PROMPT_LINE = re.compile(rb"\[[^\[\]\r\n]+\](?=[ \t]*(?:[\r\n]|\Z))")
_MARGIN = re.compile(rb"[ \t]*(?:>[ \t]*)*")


def placeholders(context: Context) -> Iterator[Hit]:
    """What the template has where the author's word belongs: in the DSL and in the text around it."""
    from opdev.design.frame_find import is_prompt
    from opdev.design.problems import short

    document = design(context)
    for problem in problems(context, "placeholder"):
        yield Hit(problem.start, problem.end, args={"key": problem.path}, fix=_derived(document, problem))
    for heading in document.headings:
        found = _PROMPT.search(heading.title)
        if found is not None and not heading.title[found.end() :].startswith("("):
            yield Hit(
                *_within(context.data, heading.start, heading.end, found.group()), "prompt", {"text": found.group()}
            )
    for table in document.tables:
        # Most tables have none, and telling the cells of all apart is what a keystroke would wait for.
        for row in table.rows if _MAYBE.search(context.data, table.start, table.end) else ():
            for cell in row:
                if is_prompt(cell.text):
                    yield Hit(cell.start, cell.end, "prompt", {"text": short(cell.text)})
    fences = [(fence.start, fence.end) for fence in document.fences]
    for match in _PROMPT_LINE.finditer(context.data):
        text = match.group().decode("utf-8", "replace")
        if not _PROMPT.fullmatch(text) or any(start <= match.start() < end for start, end in fences):
            continue
        margin = context.data[line_start(context.data, match.start()) : match.start()]
        if _MARGIN.fullmatch(margin):
            yield Hit(*match.span(), "prompt", {"text": short(text)})


def _derived(document: DesignDocument, problem: Problem) -> Fix | None:
    """op_root follows from what was already filled in."""
    from opdev.design.changes import replace

    node = document.get(problem.path)
    root = expected_root(document) if problem.path == "meta.op_root" else ""
    return fix_of(replace(node, root), title="derived") if node is not None and root else None


def expected_root(document: DesignDocument) -> str:
    """The folder that build mode and name come to; empty while either is unknown."""
    from opdev.design.problems import said_text

    folder = {"independent_project": "custom-ops", "in_tree_example": "examples"}
    name, mode = said_text(document, "meta.op_name"), said_text(document, "meta.build_mode")
    return f"{folder[mode]}/{name}" if name and mode in folder and re.fullmatch(r"[a-z][a-z0-9_]*", name) else ""


def _within(data: bytes, start: int, end: int, text: str) -> tuple[int, int]:
    begin = data.find(text.encode(), start, end)
    return (begin, begin + len(text.encode())) if begin >= 0 else (start, end)


def unknown_keys(context: Context) -> Iterator[Hit]:
    """Keys the DSL does not have; one that looks like a known one was meant to be it."""
    document = design(context)
    for problem in problems(context, "unknown-key"):
        if problem.under("schedule.phases[]"):
            continue
        parent, near = parent_of(problem.path), problem.args["nearest"]
        above = document.get(parent) if parent else document.root
        args = {**problem.args, "in": parent or "DSL"}
        if near and above is not None and above.get(str(near)) is None:
            rename = Fix((Edit(problem.start, problem.end, str(near)),))
            # The key that is meant is missing: what misses it is told here.
            serious = problem.args.get("misspelt") and not problem.under("interface.attrs")
            yield Hit(problem.start, problem.end, "near", args, rename, "error" if serious else "warning")
        else:
            yield Hit(problem.start, problem.end, args=args)


# Where other rules judge what kind of value it is.
_ELSEWHERE = ("topology", "schedule", "correctness", "performance", "compile")
_HERE = ("schedule.core_partition", "schedule.notes", "compile.build_mode", "compile.notes")
_FLAGS = ("torch_required", "performance_required", "performance_auto_optim", "docker_exec_required")


def kinds_of_value(context: Context) -> Iterator[Hit]:
    """A text where a list belongs, a list where a text belongs, and the like."""
    document = design(context)
    for problem in problems(context, "wrong-type"):
        if problem.path == "dsl_version" or problem.path.rpartition(".")[2] in _FLAGS:
            continue
        own = problem.under(*_ELSEWHERE) and problem.path not in _ELSEWHERE and not problem.under(*_HERE)
        if own:
            continue
        expected = str(problem.args["expected"])
        args = {**problem.args, "key": problem.path, "expected_zh": expected_zh(expected)}
        yield Hit(problem.start, problem.end, args=args, fix=_as_list(document, problem, expected))
    for problem in problems(context, "empty-value"):
        if problem.under("interface.shape_relations[]"):
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path})


def _as_list(document: DesignDocument, problem: Problem, expected: str) -> Fix | None:
    """One value as a list of one, where the list's items are single values."""
    node = document.get(problem.path)
    single = problem.path in (
        "meta.target_soc",
        "source.user_confirmations.dtypes",
        "source.references",
        "interface.shape_relations",
    )
    if expected != "list" or not single or node is None or node.kind != "scalar" or node.style in ("literal", "folded"):
        return None
    written = document.data[node.start : node.end].decode("utf-8", "replace")
    if node.style == "plain" and re.search(r"[\[\]{}#]", written):
        return None
    items = (
        re.split(r"\s*[,、/]\s*", written)
        if node.style == "plain" and problem.path.endswith(("target_soc", "dtypes"))
        else [written]
    )
    return overwrite(node, "[" + ", ".join(items) + "]")
