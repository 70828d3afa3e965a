"""What a variable is worth where it is used: file constants, and locals that are set once.

A rule that does arithmetic would be blind without the locals (``uint32_t n = kTotal / 2;``) and wrong
with those that change, so anything assigned twice in its block has no value here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

# Where a name is given a value, changed in place, or its address is taken; the name is read off from there.
_EVENT = re.compile(rb"(?<![=!<>])=(?!=)|(?:<<|>>)=|\+\+|--|[(,=]\s*&(?=\s*[A-Za-z_])")
_NAME_AFTER = re.compile(rb"\s*([A-Za-z_]\w*)")
_NO_TYPE = {b"else", b"return", b"do", b"case", b"goto"}
_WORDCHARS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
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


def function_range(context: View, offset: int) -> tuple[int, int]:
    """The function that holds ``offset``, or the context's whole range."""
    ranges = context.file.memo(
        ("functions.ranges", context.start, context.end),
        lambda: [(f.start_byte, f.end_byte) for f in cpp.functions(context)],
    )
    index = bisect_right(ranges, (offset, 1 << 62)) - 1
    if index >= 0 and ranges[index][0] <= offset < ranges[index][1]:
        return ranges[index]
    return context.start, context.end


_GIVEN = re.compile(rb"(?<![\w.>])(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?=(?P<value>[^;]+);)")


def values_given(file: File, start: int, end: int) -> dict[str, list[tuple[int, str]]]:
    """What each name is given in a range: (offset behind the statement, text of the value), in text order."""

    def collect() -> dict[str, list[tuple[int, str]]]:
        found: dict[str, list[tuple[int, str]]] = {}
        for match in _GIVEN.finditer(file.code, start, end):
            text = match["value"].decode("utf-8", "replace")
            found.setdefault(match["name"].decode(), []).append((match.end("value") + 1, text))
        return found

    return file.memo(("values.given", start, end), collect)


def value(context: View, text: str, at: int, depth: int = 0) -> int | None:
    """A constant expression's value as seen at offset ``at``: file constants, and locals set once."""
    if text.isdigit():
        return int(text)
    if cpp.expression(text) is None:
        return None
    known = cpp.constants(context.file)
    found = cpp.evaluate(text, known)
    if found is not None or depth > 3:
        return found
    names = set(_IDENTIFIER.findall(text))
    local: dict[str, int] = {}
    for name in names:
        if name not in known:
            one = _local(context, name, at, depth)
            if one is not None:
                local[name] = one
    if not local:
        return None
    return cpp.evaluate(text, {**{name: known[name] for name in names if name in known}, **local})


def _local(context: View, name: str, at: int, depth: int) -> int | None:
    """The value of a local variable that is initialised once in the block seen from ``at`` and never changed."""
    start, end = function_range(context, at)
    initial, changed = _assignments(context.code[start:end])
    key = name.encode()
    for index, text in reversed(initial.get(key, [])):
        found = start + index
        stop = block_end(context, found) if found < at else 0
        if at < stop:
            if any(index < other < stop - start for other in changed.get(key, [])):
                return None
            return value(context, text, found, depth + 1)
    return None


_Initial = dict[bytes, list[tuple[int, str]]]


@lru_cache(maxsize=1024)
def _assignments(code: bytes) -> tuple[_Initial, dict[bytes, list[int]]]:
    """Where a function's text declares names with a value, and where it changes names.

    Kept by text: a keystroke changes one function, the others are looked up.
    """
    initial: _Initial = {}
    changed: dict[bytes, list[int]] = {}
    for match in _EVENT.finditer(code):
        event, after = match.group(), match.end()
        if event.endswith(b"&"):
            name = _NAME_AFTER.match(code, after)
            if name is not None:
                changed.setdefault(name[1], []).append(name.start(1))
            continue
        left = code[max(0, match.start() - 120) : match.start()].rstrip(b"+-*/%&|^ \t\r\n")
        before = left.rstrip(_WORDCHARS)
        word = left[len(before) :]
        if not word:
            name = _NAME_AFTER.match(code, after) if event in (b"++", b"--") else None
            word = name[1] if name is not None else b""
        kind = before.rstrip()
        if event != b"=" or kind == before or code[match.start() - 1 : match.start()] in b"+-*/%&|^" or not kind:
            changed.setdefault(word, []).append(match.start())
            continue
        last = kind[len(kind.rstrip(_WORDCHARS)) :]
        if kind.endswith(b">") or (last and last not in _NO_TYPE):
            stop = min(x for x in (code.find(b";", after), code.find(b",", after), len(code)) if x >= 0)
            initial.setdefault(word, []).append((match.start(), code[after:stop].decode("utf-8", "replace").strip()))
        else:
            changed.setdefault(word, []).append(match.start())
    return initial, changed


def block_end(context: View, offset: int) -> int:
    """End of the innermost block around ``offset``."""
    block = ancestor(context.node_at(offset, offset + 1), "compound_statement")
    return block.end_byte if block is not None else context.end
