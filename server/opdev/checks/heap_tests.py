"""Whether what an allocation returned is ever compared with null.

A file may allocate hundreds of times, so its text is read once a name: the statements that test the
name are kept, and an allocation only asks whether one of them lies where it counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from opdev.facts.heap_calls import Allocation, allocations, member_like, name_pattern
from opdev.facts.local_values import function_range
from opdev.rules.context import Context
from opdev.syntax import cpp

_NULL = r"(?:nullptr|NULL|0)\b"
HELPER = r"\b\w*(?i:check|assert|expect|require|verify|valid|null|throw|ensure|enforce)\w*\s*\(\s*(?:[^(;]*,\s*)?"
_CAST = r"(?:\(\s*[\w\s:]+\*?\s*\)\s*|\w+_cast\s*<[^<>]*>\s*\(\s*)?"
_WORD = re.compile(rb"[A-Za-z_]\w*")
# A list its mentions may be tested in: `for (void *p : {a, b}) if (p == nullptr) …`.
_LIST = re.compile(rb"(?::|(?:vector|array|initializer_list)\s*<[^;{]*)\s*\{[^{}]*\}")
_THIS = re.compile(rb"(?<![\w.>])this\s*->\s*\Z")


@dataclass(frozen=True, slots=True)
class _Tests:
    """Where a file looks at a pointer of one name."""

    forms: tuple[re.Pattern[str], ...]
    statements: list[int]
    """Where the statements begin (behind the semicolon before) that compare it with null or hand it to a checker."""
    listed: list[tuple[int, int]]
    """(begin of the list, mention) of what is tested as one of a list."""

    def found_in(self, text: bytes) -> bool:
        shown = text.decode("utf-8", "replace")
        return any(form.search(shown) for form in self.forms)


def is_tested(context: Context, one: Allocation) -> bool:
    """Whether the holder is tested: behind the call in its function, anywhere for what outlives the function."""
    code, call = context.code, one.call
    begin, end = function_range(context, call.start)
    tests = context.file.memo(("heap.tests", one.holder), lambda: _tests(context, one.holder))
    after = _statement_end(code, call.end)
    if member_like(one.holder) or _is_parameter(context, one.holder, begin):
        low = code.rfind(b";", 0, call.start) + 1
        own = bisect_right(tests.statements, low) - bisect_left(tests.statements, low)
        inside = _place(tests.listed, call.end) - _place(tests.listed, call.start)
        return (
            len(tests.statements) > own
            or len(tests.listed) > inside
            or tests.found_in(code[low : call.start] + b";")
            or tests.found_in(code[call.end : after])
        )
    last = code.rfind(b";", 0, end) + 1
    statement = bisect_left(tests.statements, after)
    listed = bisect_left(tests.listed, (call.end, 0))
    return (
        (statement < len(tests.statements) and tests.statements[statement] < last)
        or (listed < len(tests.listed) and tests.listed[listed][1] < end)
        or tests.found_in(code[call.end : min(after, end)])
        or tests.found_in(code[max(last, after) : end])
    )


def _place(listed: list[tuple[int, int]], offset: int) -> int:
    return bisect_left(listed, offset, key=lambda one: one[1])


def _tests(context: Context, holder: str) -> _Tests:
    code, name = context.code, name_pattern(holder)
    pointer = name + r"\s*(?:\.\s*get\s*\(\s*\))?"
    forms = (
        rf"{pointer}\s*[!=]=\s*{_NULL}|\b{_NULL}\s*[!=]=\s*{pointer}",
        rf"!\s*{pointer}\s*(?!\s*(?:->|\.|\[|\())",
        rf"(?:\b(?:if|while|return)\s*\(|&&|\|\||\()\s*{pointer}\s*(?:\)|&&|\|\|)\s*(?:\{{|&&|\|\||\?|return|goto|\w+\s*=)",
        rf"&&\s*{pointer}\s*[);&|]|{pointer}\s*(?:\?|&&)",
        rf"{HELPER}{_CAST}&?{pointer}\s*[,)=!]",
    )
    tests = _Tests(tuple(re.compile(form) for form in forms), [], [])
    lists = context.file.memo("heap.lists", lambda: [match.span() for match in _LIST.finditer(code)])
    written, end = re.compile(name.encode()), -1
    for at in _mentions(context).get(_first_word(holder), ()):
        index = bisect_right(lists, (at, 0)) - 1
        if index >= 0 and at < lists[index][1]:
            this = _THIS.search(code, max(0, at - 40), at)
            if written.match(code, this.start() if this is not None else at):
                tests.listed.append((lists[index][0], at))
        if at >= end:
            begin, end = code.rfind(b";", 0, at) + 1, _statement_end(code, at)
            if tests.found_in(code[begin:end]):
                tests.statements.append(begin)
    return tests


def _statement_end(code: bytes, offset: int) -> int:
    """Behind the next semicolon."""
    return code.find(b";", offset) + 1 or len(code)


def _first_word(holder: str) -> bytes:
    match = _WORD.search(holder.encode())
    return match.group() if match is not None else b""


def _mentions(context: Context) -> dict[bytes, list[int]]:
    """Where the code mentions what any allocation is held in (of ``ctx->buf`` the ``ctx``)."""

    def collect() -> dict[bytes, list[int]]:
        places: dict[bytes, list[int]] = {_first_word(one.holder): [] for one in allocations(context)}
        for match in _WORD.finditer(context.code):
            found = places.get(match.group())
            if found is not None:
                found.append(match.start())
        return places

    return context.file.memo(("heap.mentions", context.start, context.end), collect)


def _is_parameter(context: Context, name: str, function_start: int) -> bool:
    functions = context.file.memo(
        ("heap.functions", context.start, context.end), lambda: {f.start_byte: f for f in cpp.functions(context)}
    )
    function = functions.get(function_start)
    if function is None:
        return False
    known = context.file.memo(
        ("heap.parameters", function_start), lambda: {p for _, p in cpp.parameters(context.file, function)}
    )
    return name in known
