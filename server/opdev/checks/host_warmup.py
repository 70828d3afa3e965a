"""Measured loops that include the first launches, which load the kernel and fill caches."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.tree import walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_STAMP = re.compile(rb"\bnow\s*\(\s*\)|\b(?:aclrtRecordEvent|gettimeofday|clock_gettime)\s*\(")
_LAUNCH = re.compile(rb"\b(?P<name>[A-Za-z_]\w*)\s*(?:<[^<>;]*>)?\s*(?:<<<|\((?=[^;{}]*\bstream\w*\b))")
_WARM = re.compile(b"(?i)warm|" + "热身|预热".encode())
_NO_LAUNCH = re.compile(rb"aclrt\w+|\w*(?:sync|Sync|CHECK|barrier)\w*|for|while|if|switch")


def missing_warm_up(context: Context) -> Iterator[Hit]:
    """A timed loop of launches with no launch before it, in an operator that never speaks of warming up."""
    project = context.project
    if project is None or b"[PERF]" not in context.nocomment or _WARM.search(context.data):
        return
    if any(_WARM.search(f.data) for f in project.files("host")):
        return
    for function in cpp.functions(context):
        yield from _measured(context, function)


def _measured(context: Context, function: Node) -> Iterator[Hit]:
    stamps = [m.start() for m in _STAMP.finditer(context.code, function.start_byte, function.end_byte)]
    if len(stamps) < 2 or _called_again(context, function):
        return
    earlier = _all_launched(context, function.start_byte, stamps[0])
    for loop in walk(function):
        body = loop.child_by_field_name("body") if loop.type in ("for_statement", "while_statement") else None
        if body is None:
            continue
        before, inside = bisect_left(stamps, loop.start_byte), bisect_left(stamps, loop.end_byte)
        if not 0 < before == inside < len(stamps):
            continue
        launched = _launched(context, body.start_byte, body.end_byte)
        if launched is None or launched in earlier:
            continue
        end = loop.start_byte + len(context.data[loop.start_byte : body.start_byte].rstrip())
        note = {"zh": "计时从这里开始", "en": "time is taken from here"}
        related = (Related(stamps[before - 1], stamps[before - 1] + 3, note),)
        yield Hit(loop.start_byte, end, args={"kernel": launched.decode()}, related=related)
        return


def _all_launched(context: Context, start: int, end: int) -> set[bytes]:
    return {m["name"] for m in _LAUNCH.finditer(context.code, start, end) if not _NO_LAUNCH.fullmatch(m["name"])}


def _launched(context: Context, start: int, end: int) -> bytes | None:
    return next(
        (m["name"] for m in _LAUNCH.finditer(context.code, start, end) if not _NO_LAUNCH.fullmatch(m["name"])), None
    )


def _called_again(context: Context, function: Node) -> bool:
    """Whether the function runs several times: then its first run warms up the others."""
    name = cpp.function_name(context.file, function)
    return not name or context.file.memo(("host_warmup.again", name), lambda: _runs_again(context, name))


def _runs_again(context: Context, name: str) -> bool:
    view = View(context.file, 0, len(context.data))
    called = cpp.calls(view, name)
    return len(called) > 1 or any(_in_loop(c.node) for c in called)


def _in_loop(node: Node) -> bool:
    here = node.parent
    while here is not None and here.type != "function_definition":
        if here.type in ("for_statement", "while_statement", "do_statement", "for_range_loop"):
            return True
        here = here.parent
    return False
