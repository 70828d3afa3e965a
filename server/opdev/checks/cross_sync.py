"""What only the operator as a whole shows: signals nobody sends, allocations behind a branch in another function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.designed import note
from opdev.facts.calls import Signal, signals
from opdev.facts.heap_calls import ALLOCATORS, allocations, is_test, pe_branch, singles_out
from opdev.rules.context import Context, Project
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestors
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

# Ways to write a flag that are no signal: a plain store, a value put, a notify of another engine, host memory set.
_OTHER_WRITERS = re.compile(
    rb"_p\s*\(|_atomic_(?:add|inc|set|swap|fetch)|SetValue\s*\(|_put(?:mem)?\w*_?(?:nbi)?\s*\([^;]*(?:flag|signal|sync)|notify_record"
    rb"|\*\s*\w*(?:flag|signal|sync)\w*\s*=(?!=)"
)


def signal_never_sent(context: Context) -> Iterator[Hit]:
    """A wait for a value that no signal anywhere in the operator ever has."""
    project = context.project
    if project is None:
        return
    waits = [s for s in signals(context.file) if s.how == "wait" and s.number is not None and s.call.device]
    if not waits:
        return
    sources = list(project.files("cpp"))
    sent = [(f, s) for f in sources for s in signals(f) if s.how != "wait"]
    numbers = {s.number for _, s in sent}
    if not sent or None in numbers or any(s.how == "add" for _, s in sent):
        return
    if any(_OTHER_WRITERS.search(f.code) for f in sources):
        return
    known = sorted(n for n in numbers if n is not None)
    for wait in waits:
        if wait.number is None or wait.number == 0 or _met(wait, known) or _in_one_function(context.file, wait, sent):
            continue
        file, first = sent[0]
        related = (
            Related(first.call.start, first.call.end, note("信号在这里发出", "a signal is sent here"), file.path),
        )
        args = {"wait": wait.value, "number": wait.number, "sent": ", ".join(map(str, known)), "compare": wait.compare}
        yield Hit(wait.call.start, wait.call.end, args=args, related=related)


def _met(wait: Signal, known: list[int]) -> bool:
    value = wait.number or 0
    test = {
        "EQ": value in known, "GE": known[-1] >= value, "GT": known[-1] > value,
    }  # fmt: skip
    return test.get(wait.compare, True)


def _in_one_function(file: File, wait: Signal, sent: list[tuple[File, Signal]]) -> bool:
    """Whether signal-value-mismatch sees both sides: they stand in one function and speak of one address."""
    here = cpp.function_at(file, wait.call.start)
    return any(
        other.path == file.path and s.address == wait.address and cpp.function_at(file, s.call.start) == here
        for other, s in sent
    )


def allocation_behind_branch(context: Context) -> Iterator[Hit]:
    """A function that allocates symmetric memory, called where only some PEs come by."""
    project, view = context.project, View(context.file, 0, len(context.data))
    if project is None or is_test(view) or b"aclshmemx_instance" in context.code:
        return
    for name, (file, call_start, call_end) in _allocating(project).items():
        for call in cpp.calls(context, name):
            branch = _branch(view, call.node)
            if branch is None or _in_both(view, branch, name):
                continue
            condition = branch.child_by_field_name("condition")
            shown = view.text(condition).strip("() ") if condition is not None else ""
            words = note(f"{name} 在这里分配对称内存", f"{name} allocates symmetric memory here")
            related = (Related(call_start, call_end, words, file.path),)
            args = {"function": name, "condition": shown}
            yield Hit(call.name_node.start_byte, call.name_node.end_byte, args=args, related=related)


def _allocating(project: Project) -> dict[str, tuple[File, int, int]]:
    """Functions that allocate whenever they are called: name → the allocation."""
    found: dict[str, tuple[File, int, int]] = {}
    for file in project.files("cpp"):
        if not any(word.encode() in file.words for word in ALLOCATORS):
            continue
        view = View(file, 0, len(file.data))
        for one in allocations(view):
            function = one.call.function
            if function is None or pe_branch(view, one) is not None:
                continue
            name = cpp.function_name(file, function)
            if name and name != "main":
                found.setdefault(name, (file, one.call.name_node.start_byte, one.call.name_node.end_byte))
    return found


def _branch(view: View, node: Node) -> Node | None:
    for above in ancestors(node):
        if above.type in ("function_definition", "lambda_expression"):
            return None
        condition = above.child_by_field_name("condition") if above.type == "if_statement" else None
        if condition is None or condition.start_byte <= node.start_byte < condition.end_byte:
            continue
        if singles_out(view.text(condition)):
            return above
    return None


def _in_both(view: View, branch: Node, name: str) -> bool:
    """Whether the other branch makes the same call: then all PEs do."""
    needle = re.compile(rb"\b%s\s*\(" % re.escape(name.encode()))
    parts = [branch.child_by_field_name("consequence"), branch.child_by_field_name("alternative")]
    return all(p is not None and needle.search(view.code, p.start_byte, p.end_byte) for p in parts)
