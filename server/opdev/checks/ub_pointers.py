"""UB as a kernel lays it out by hand: pointers made from numbers, and what is moved through them.

AscendC has no allocator behind ``__ubuf__`` pointers: a number becomes an address, and only the sizes
passed to the copies say how far a buffer reaches.  Both are read here once for all rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.facts.local_values import block_end, closing, function_range, value
from opdev.rules.context import Context
from opdev.syntax import cpp
from opdev.syntax.cpp import Call

if TYPE_CHECKING:
    from tree_sitter import Node

UB_BYTES = 192 * 1024
LARGE_UB_BYTES = 256 * 1024
"""UB of the generation that has UDMA and SIMT."""

SIZES = {
    "int8_t": 1, "uint8_t": 1, "char": 1, "bool": 1, "half": 2, "float16_t": 2, "bfloat16_t": 2, "int16_t": 2,
    "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int": 4, "float": 4, "int64_t": 8, "uint64_t": 8, "double": 8,
}  # fmt: skip
"""Bytes of the element types a kernel names outright."""

ENGINE_CALLS = ("aclshmemx_mte_put_nbi", "aclshmemx_mte_get_nbi", "aclshmemx_sdma_put_nbi", "aclshmemx_sdma_get_nbi")
_CAST = re.compile(
    rb"reinterpret_cast\s*<\s*__ubuf__\s+(?P<cpp>[\w:]+)\s*\*\s*>\s*(?=\()|\(\s*__ubuf__\s+(?P<c>[\w:]+)\s*\*\s*\)\s*"
)
_NAMED = re.compile(rb"(?:[*\s&])(?P<name>[A-Za-z_]\w*)\s*=\s*$")
_WORD = re.compile(rb"[A-Za-z_]\w*|\d[\w']*")
_ALIAS = re.compile(
    rb"\*\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?:[^;=?]*(?:==)?[^;=?]*\?\s*(?P<a>\w+)\s*:\s*(?P<b>\w+)|(?P<one>[A-Za-z_]\w*))\s*;"
)


@dataclass(frozen=True, slots=True)
class UbPointer:
    """A cast to a ``__ubuf__`` pointer.  Ranges are byte offsets into the file."""

    start: int
    """Where the cast begins."""
    operand: tuple[int, int]
    """What is cast, without the outer parentheses."""
    text: str
    offset: int | None
    """Bytes from the start of UB; None where it cannot be computed, or more is added to the pointer."""
    type: str
    name: str
    """The variable it becomes; empty for a cast used in place."""


@dataclass(frozen=True, slots=True)
class UbUse:
    """A transfer through a buffer: it may touch ``size`` bytes from the pointer on."""

    pointer: UbPointer
    call: Call
    size: int
    argument: Node
    """The argument that sets the size."""


def pointers(context: Context) -> list[UbPointer]:
    """Casts to ``__ubuf__`` pointers in the context's range, in text order."""

    def collect() -> list[UbPointer]:
        return [p for m in _CAST.finditer(context.code, context.start, context.end) if (p := _pointer(context, m))]

    return context.file.memo(("ub.pointers", context.start, context.end), collect)


def label(pointer: UbPointer) -> str:
    """How to name a pointer to a reader."""
    return pointer.name or f"UB + {pointer.text}"


def _pointer(context: Context, match: re.Match[bytes]) -> UbPointer | None:
    code = context.code
    at = match.end()
    if code[at : at + 1] == b"(":
        close = closing(code, at)
        if close < 0:
            return None
        start, end = at + 1, close
        after = close + 1
    else:
        word = _WORD.match(code, at)
        if word is None:
            return None
        start, end = word.span()
        after = end
    rest = code[after : after + 40].lstrip()
    # `(__ubuf__ T *)x.GetPhyAddr()` and `(__ubuf__ T *)(32) + i * 16` start elsewhere than their operand.
    plain = rest[:1] in (b";", b",", b")", b"}", b"") or rest.startswith(b"?")
    if rest[:1] in (b"(", b"{") and not plain:
        return None
    text = code[start:end].decode("utf-8", "replace").strip()
    line = code[max(context.start, match.start() - 120) : match.start()]
    named = _NAMED.search(line)
    kind = (match["cpp"] or match["c"]).decode("utf-8", "replace").rpartition("::")[2]
    offset = value(context, text, match.start()) if plain else None
    name = named["name"].decode("utf-8", "replace") if named else ""
    return UbPointer(match.start(), (start, end), text, offset, kind, name)


def uses(context: Context) -> list[UbUse]:
    """Engine calls through pointers of known offset, with the bytes they may touch."""

    def collect() -> list[UbUse]:
        found = []
        for call in engine_calls(context):
            found += _uses(context, call)
        return found

    return context.file.memo(("ub.uses", context.start, context.end), collect)


def engine_calls(context: Context) -> list[Call]:
    """MTE and SDMA calls that take their UB buffer as an argument."""
    return context.file.memo(("ub.calls", context.start, context.end), lambda: cpp.calls(context, *ENGINE_CALLS))


def _uses(context: Context, call: Call) -> list[UbUse]:
    args, texts = call.args, call.arg_texts
    if len(args) < 5:
        return []
    if len(args) == 5:
        where, amount = (1 if "_put_" in call.name else 0), args[2]
        limit = None
    else:
        where, amount = 2, args[4]
        limit = value(context, texts[3], call.start)
    found = []
    for pointer in resolve(context, args[where], call.start):
        count = value(context, context.text(amount), call.start)
        each = element_bytes(call, pointer)
        moved = count * each if count is not None and each is not None else None
        if limit is not None and (moved is None or moved >= limit):
            found.append(UbUse(pointer, call, limit, args[3]))
        elif moved is not None and moved >= 0:
            found.append(UbUse(pointer, call, moved, amount))
    return found


def element_bytes(call: Call, pointer: UbPointer | None) -> int | None:
    """Bytes of one element of a call: its template argument, else the buffer's type."""
    if call.targs:
        return SIZES.get(call.targs[0].rpartition("::")[2].strip())
    return SIZES.get(pointer.type) if pointer is not None else None


def resolve(context: Context, argument: Node, at: int) -> list[UbPointer]:
    """The UB pointers an argument may be: a cast in place, a variable, a variable that is one of two."""
    every = pointers(context)
    for pointer in every:
        if argument.start_byte <= pointer.start < argument.end_byte:
            if re.fullmatch(r"[A-Za-z_]\w*", pointer.text) and pointer.offset is None:
                return _named(context, pointer.text, at)
            return [pointer]
    text = context.text(argument)
    return _named(context, text, at) if re.fullmatch(r"[A-Za-z_]\w*", text) else []


def _named(context: Context, name: str, at: int) -> list[UbPointer]:
    start, end = function_range(context, at)
    every = pointers(context)
    mine = [p for p in every if p.name == name and start <= p.start < at and visible(context, p, at)]
    if mine:
        return mine[-1:]
    found: list[UbPointer] = []
    for match in _ALIAS.finditer(context.code, start, min(end, at)):
        if match["name"].decode() == name:
            names = {n.decode() for n in (match["a"], match["b"], match["one"]) if n}
            found = [p for p in every if p.name in names and start <= p.start < at and visible(context, p, at)]
    return found


def visible(context: Context, pointer: UbPointer, at: int) -> bool:
    """Whether a pointer's block still holds ``at``."""
    return pointer.start <= at < scope_end(context, pointer)


def scope_end(context: Context, pointer: UbPointer) -> int:
    """End of the block a pointer is declared in."""
    return block_end(context, pointer.start)
