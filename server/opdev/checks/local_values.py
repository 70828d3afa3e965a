"""What a variable is worth where it is used: file constants, and locals that are set once.

A rule that does arithmetic would be blind without the locals (``uint32_t n = kTotal / 2;``) and wrong
with those that change, so anything assigned twice in its block has no value here.
"""

from __future__ import annotations

import re

from opdev.rules.context import Context
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor

_COMPOUND = re.compile(rb"[-+*/%&|^]=|<<=|>>=")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def closing(code: bytes, at: int) -> int:
    """Offset of the parenthesis that closes the one at ``at``; -1 if it is never closed."""
    depth = 0
    for index in range(at, min(len(code), at + 4000)):
        if code[index] == 40:
            depth += 1
        elif code[index] == 41:
            depth -= 1
            if depth == 0:
                return index
    return -1


def function_range(context: Context, offset: int) -> tuple[int, int]:
    """The function that holds ``offset``, or the context's whole range."""
    for function in cpp.functions(context):
        if function.start_byte <= offset < function.end_byte:
            return function.start_byte, function.end_byte
    return context.start, context.end


def value(context: Context, text: str, at: int, depth: int = 0) -> int | None:
    """A constant expression's value as seen at offset ``at``: file constants, and locals set once."""
    if text.isdigit():
        return int(text)
    known = cpp.constants(context.file)
    found = cpp.evaluate(text, known)
    if found is not None or depth > 3:
        return found
    local: dict[str, int] = {}
    for name in set(_IDENTIFIER.findall(text)) - known.keys():
        one = _local(context, name, at, depth)
        if one is not None:
            local[name] = one
    return cpp.evaluate(text, {**known, **local}) if local else None


def _local(context: Context, name: str, at: int, depth: int) -> int | None:
    """The value of a local variable that is initialised once in the block seen from ``at`` and never changed."""
    start, end = function_range(context, at)
    code = context.code
    initial: list[tuple[int, str]] = []
    changed: list[int] = []
    for found in context.find(name):
        if not start <= found < end:
            continue
        after = code[found + len(name) : found + len(name) + 200].lstrip()
        before = code[max(start, found - 60) : found].rstrip()
        if after[:1] == b"=" and after[:2] != b"==":
            if found < at and re.search(rb"[A-Za-z_][\w:]*[\s>]$", code[max(start, found - 60) : found]):
                text = after[1:].split(b";", 1)[0].split(b",", 1)[0].decode("utf-8", "replace").strip()
                initial.append((found, text))
            else:
                changed.append(found)
        elif (
            after[:2] in (b"++", b"--")
            or before[-2:] in (b"++", b"--")
            or _COMPOUND.match(after)
            or (before[-1:] == b"&" and before[-2:] != b"&&")
        ):
            changed.append(found)
    for found, text in reversed(initial):
        stop = block_end(context, found)
        if at < stop:
            if any(found < other < stop for other in changed):
                return None
            return value(context, text, found, depth + 1)
    return None


def block_end(context: Context, offset: int) -> int:
    """End of the innermost block around ``offset``."""
    block = ancestor(context.node_at(offset, offset + 1), "compound_statement")
    return block.end_byte if block is not None else context.end
