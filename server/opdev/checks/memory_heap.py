"""Symmetric heap: every PE allocates the same, in the same order, and looks at what it got."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.heap_tests import HELPER, is_tested
from opdev.facts.heap_calls import (
    Allocation,
    allocations,
    initial_text,
    is_test,
    name_pattern,
    names_pe,
    singles_out,
)
from opdev.facts.local_values import block_end, function_range, value
from opdev.rules.context import Context
from opdev.rules.model import Applicability, Edit, Fix, Hit, Related
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

# Calls that test the pointer they are given, and containers that keep it for a later test.
_KEEPERS = re.compile(HELPER + r"|(?:push_back|emplace\w*|insert|add|append|make_\w+|(?:unique|shared)_ptr[^(]*)\s*\(")
_BLANKS = re.compile(rb"[ \t]*")
_CLEANUP = re.compile(
    rb"\b(?:aclrtFree\w*|(?:acl)?shmemx?_free|(?:acl)?shmemx?_finalize|aclrtDestroyStream|aclrtResetDevice|aclFinalize)\s*\("
)


def unchecked_allocation(context: Context) -> Iterator[Hit]:
    """An allocation whose result is used without ever being compared with null."""
    if is_test(context):
        return
    for one in allocations(context):
        if one.how in ("returned", "tested") or (one.how == "passed" and _KEEPERS.search(one.holder + "(")):
            continue
        name = one.holder if one.how != "passed" else ""
        if name and is_tested(context, one):
            continue
        args = {"name": name or one.call.name, "call": one.call.name}
        at = one.call.name_node
        message = "default" if name else "nameless"
        yield Hit(at.start_byte, at.end_byte, message, args, _null_test(context, one) if name else None)


def _null_test(context: Context, one: Allocation) -> Fix | None:
    """The test a reader would write after the statement, where what to return is plain."""
    statement = one.statement
    function = ancestor(one.call.node, "function_definition", "lambda_expression")
    if statement.parent is None or statement.parent.type != "compound_statement" or function is None:
        return None
    holder = f"{one.holder}.get()" if one.how == "wrapped" else one.holder
    source = context.file.source
    begin, _ = source.line_range(source.line_of(statement.start_byte))
    indent = _BLANKS.match(context.data, begin).group().decode()  # type: ignore[union-attr]  # matches nothing
    text = f"{one.call.name} failed: {one.holder}"
    torch = "torch-binding" in context.kinds and context.file.memo("heap.torch", lambda: b"TORCH_CHECK" in context.code)
    if torch:
        line = f'\n{indent}TORCH_CHECK({holder} != nullptr, "{text}");'
        return Fix((Edit(statement.end_byte, statement.end_byte, line),), applicability="safe")
    answer = _failure(context, function)
    if answer is None:
        return None
    report = _report(context, text)
    inner = f"{indent}    {report}\n" if report else ""
    block = f"\n{indent}if ({holder} == nullptr) {{\n{inner}{indent}    return {answer};\n{indent}}}"
    releases = context.file.memo("heap.releases", lambda: [m.start() for m in _CLEANUP.finditer(context.code)])
    later = bisect_left(releases, statement.end_byte)
    cleanup = later < len(releases) and releases[later] < function.end_byte
    # Returning past the clean-up leaks what the function holds by then: only the author can say what to release.
    level: Applicability = "suggestion" if cleanup else "safe"
    return Fix((Edit(statement.end_byte, statement.end_byte, block),), applicability=level)


def _failure(context: Context, function: Node) -> str | None:
    if function.type != "function_definition":
        return None
    kind = function.child_by_field_name("type")
    declarator = function.child_by_field_name("declarator")
    if kind is None or declarator is None:
        return None
    if declarator.type == "pointer_declarator":
        return "nullptr"
    return {"int": "-1", "int32_t": "-1", "int64_t": "-1", "bool": "false"}.get(context.text(kind))


def _report(context: Context, text: str) -> str:
    how = context.file.memo("heap.report", lambda: _reporter(context))
    return {
        "log": f'ERROR_LOG("{text}");',
        "stream": f'std::cerr << "{text}" << std::endl;',
        "print": f'fprintf(stderr, "{text}\\n");',
    }.get(how, "")


def _reporter(context: Context) -> str:
    """What the file reports errors with: ``log``, ``stream``, ``print`` or nothing."""
    code = context.code
    if b"ERROR_LOG(" in code:
        return "log"
    if b"<iostream>" in context.nocomment or b"std::cerr" in code or b"std::cout" in code:
        return "stream"
    return "print" if b"printf(" in code else ""


def asymmetric_allocation(context: Context) -> Iterator[Hit]:
    """A size, a branch or an order of allocations that depends on the PE."""
    if is_test(context):
        return
    every = allocations(context)
    for one in every:
        text = one.size_text
        for argument, written in zip(one.call.args, one.call.arg_texts, strict=True):
            if names_pe(written):
                yield Hit(argument.start_byte, argument.end_byte, args={"call": one.call.name, "size": written})
                break
        else:
            if re.fullmatch(r"[A-Za-z_]\w*", text):
                given = initial_text(context, text, one.call.start)
                if names_pe(given) and not re.search(r"(?<!sizeof)(?<!_t)\b(?!sizeof\b)\w+\s*\(", given):
                    index = one.call.arg_texts.index(text)
                    argument = one.call.args[index]
                    args = {"call": one.call.name, "size": f"{text} = {given}"}
                    yield Hit(argument.start_byte, argument.end_byte, args=args)
    yield from _by_branch(context, every)


def _by_branch(context: Context, every: list[Allocation]) -> Iterator[Hit]:
    seen: set[int] = set()
    if b"aclshmemx_instance" in context.code:
        # An instance has PEs of its own: who is outside of it must not allocate.
        return
    for one in every:
        for node in ancestors(one.call.node):
            if node.type == "function_definition":
                break
            if node.type != "if_statement" or node.id in seen:
                continue
            condition = node.child_by_field_name("condition")
            if condition is None or not singles_out(context.text(condition)):
                continue
            seen.add(node.id)
            yield from _branches(context, node, every)


def _branches(context: Context, node: Node, every: list[Allocation]) -> Iterator[Hit]:
    first = _inside(every, node.child_by_field_name("consequence"))
    second = _inside(every, node.child_by_field_name("alternative"))
    condition = node.child_by_field_name("condition")
    shown = context.text(condition).strip("() ") if condition is not None else ""
    if not first or not second:
        for one in first or second:
            at = one.call.name_node
            yield Hit(at.start_byte, at.end_byte, "branch", {"call": one.call.name, "condition": shown})
        return
    mine = [" ".join(a.call.arg_texts) for a in first]
    theirs = [" ".join(a.call.arg_texts) for a in second]
    if mine == theirs:
        return
    index = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), min(len(mine), len(theirs)))
    one = (second if index < len(second) else first)[index]
    partner = first[min(index, len(first) - 1)]
    note = {"zh": "另一个分支里对应的分配", "en": "what the other branch allocates here"}
    related = (Related(partner.call.start, partner.call.end, note),) if partner is not one else ()
    args = {"call": one.call.name, "condition": shown, "number": index + 1}
    yield Hit(one.call.name_node.start_byte, one.call.name_node.end_byte, "order", args, related=related)


def _inside(every: list[Allocation], node: Node | None) -> list[Allocation]:
    if node is None:
        return []
    low, high = (bisect_left(every, at, key=lambda one: one.call.start) for at in (node.start_byte, node.end_byte))
    return every[low:high]


def exhausted_heap(context: Context) -> Iterator[Hit]:
    """Constant allocations of one function that do not fit into a constant heap."""
    sizes = {
        value(context, m[1].decode("utf-8", "replace"), m.start())
        for m in re.finditer(rb"\blocal_mem_size\s*=\s*([^;{}]+);", context.code)
    } - {0}
    sizes.discard(None)
    heap = sizes.pop() if len(sizes) == 1 else None
    if heap is None or heap <= 0:
        return
    held: dict[int, list[tuple[int, int]]] = {}
    for one in allocations(context):
        if any(a.type in ("if_statement", "else_clause") for a in ancestors(one.call.node)):
            continue
        size = value(context, one.size_text, one.call.start)
        if size is None or one.call.name.endswith("_calloc"):
            continue
        start, end = function_range(context, one.call.start)
        stop = min(end, block_end(context, one.call.start))
        mine = held.setdefault(start, [])
        total = size + sum(bytes_held for bytes_held, until in mine if until > one.call.start)
        if total > heap:
            at = one.call.args[1 if one.call.name.endswith("_align") else 0]
            yield Hit(at.start_byte, at.end_byte, args={"total": total, "heap": heap, "call": one.call.name})
            return
        mine.append((size, _freed_at(context, one, stop)))


def _freed_at(context: Context, one: Allocation, stop: int) -> int:
    """Where the allocation is freed first; the file's end if it is not."""
    pattern = (r"\b(?:acl)?shmemx?_free\s*\(\s*" + name_pattern(one.holder)).encode()
    found = re.compile(pattern).search(context.code, one.call.end, stop) if one.holder else None
    return found.start() if found else len(context.data)
