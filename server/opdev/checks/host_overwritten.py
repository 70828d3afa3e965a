"""A status that is stored and lost: overwritten by the next call, or never looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.checks.host_results import RELEASES, is_int_query, next_use, overwrites, returns_status
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related, Severity
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node


_STORED = re.compile(
    rb"(?<![\w.>])(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<call>(?:acl(?:Init|Finalize)|aclrt[A-Z]\w*|(?:acl)?shmemx?_\w+))(?=\s*\()"
)


def overwritten_result(context: Context) -> Iterator[Hit]:
    """A status stored and overwritten, or never looked at; several in a row are told once."""
    rows: list[_Row] = []
    for match in _STORED.finditer(context.code, context.start, context.end):
        called = match["call"].decode()
        if is_int_query(called) or not returns_status(called):
            continue
        node = context.node_at(match.start("name"), match.end("name"))
        # In a check macro or a condition the assignment's value is what is looked at.
        stored = node.parent if node is not None else None
        statement = stored.parent if stored is not None else None
        if statement is None or statement.type not in ("expression_statement", "declaration"):
            continue
        function = ancestor(node, "function_definition")
        if function is None or ancestor(node, "lambda_expression") is not None:
            continue
        if statement.type == "declaration" and b"&" in context.code[statement.start_byte : match.start("name")]:
            continue
        name = match["name"].decode()
        if not _is_own(context, function, name):
            continue
        again = next_use(context, statement, name)
        if again is None:
            if not _in_loop(statement, function) and not _seen_after(context, statement, function, name):
                grade: Severity | None = "warning" if RELEASES.fullmatch(called) else None
                args = {"name": name, "call": called}
                yield Hit(match.start("name"), match.end("call"), "unused", args, severity=grade)
        elif overwrites(context, again, name):
            row = next((r for r in rows if r.again == statement and r.name == name), None)
            if row is None:
                rows.append(_Row(match.start("name"), match.end("call"), name, [called], again))
            else:
                row.calls.append(called)
                row.again = again
    for row in rows:
        related = (Related(row.again.start_byte, row.again.end_byte, {"zh": "在这里被覆盖", "en": "overwritten here"}),)
        message = "several" if len(row.calls) > 1 else "default"
        args = {"name": row.name, "call": row.calls[0], "count": str(len(row.calls))}
        grade = "warning" if all(RELEASES.fullmatch(c) for c in row.calls) else None
        yield Hit(row.start, row.end, message, args, severity=grade, related=related)


@dataclass
class _Row:
    """Statuses stored one over the other: where the first stands, and what overwrites the last."""

    start: int
    end: int
    name: str
    calls: list[str]
    again: Node


def _is_own(context: Context, function: Node, name: str) -> bool:
    """Whether a variable is the function's own: declared in it, or a parameter by value; never a reference."""
    body = function.child_by_field_name("body")
    if body is None:
        return False
    for kind, parameter in cpp.parameters(context.file, function):
        if parameter == name:
            return "&" not in kind and "*" not in kind
    # Handed out by address or captured, somebody else may read it.
    if re.search(rb"&\s*" + re.escape(name.encode()) + rb"\b(?!\s*&)", context.code[body.start_byte : body.end_byte]):
        return False
    declared = rb"\b(?:int|int32_t|int64_t|auto|aclError|uint32_t)\s+(?:[A-Za-z_]\w*\s*(?:=[^;,]*)?,\s*)*" + re.escape(name.encode()) + rb"\s*[=;{]"  # fmt: skip
    match = re.search(declared, context.code[body.start_byte : body.end_byte])
    return match is not None and b"static" not in match.group()


def _in_loop(statement: Node, function: Node) -> bool:
    return any(
        a.type in ("for_statement", "while_statement", "do_statement", "for_range_loop")
        for a in ancestors(statement)
        if a.start_byte > function.start_byte
    )


def _seen_after(context: Context, statement: Node, function: Node, name: str) -> bool:
    word = re.compile(rb"(?<![\w.>])" + re.escape(name.encode()) + rb"\b")
    goes = re.compile(rb"\bgoto\b").search(context.code, function.start_byte, function.end_byte) is not None
    return goes or word.search(context.code, statement.end_byte, function.end_byte) is not None
