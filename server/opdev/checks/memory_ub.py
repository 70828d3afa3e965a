"""UB arithmetic: 192 KB, 32-byte blocks, and buffers that only numbers keep apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from opdev.checks.ub_pointers import (
    LARGE_UB_BYTES,
    UB_BYTES,
    UbPointer,
    UbUse,
    element_bytes,
    engine_calls,
    label,
    pointers,
    resolve,
    scope_end,
    uses,
)
from opdev.facts.local_values import value
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_LIBRARY_FROM = 188 * 1024
_FENCE = re.compile(rb"PipeBarrier\s*<\s*PIPE_ALL|\bSyncAll\b|barrier_all|\bpipe_barrier\s*\(\s*PIPE_ALL")
_CONFIG = ("aclshmemx_set_mte_config", "aclshmemx_set_sdma_config", "aclshmemx_set_rdma_config",
           "aclshmemx_set_udma_config")  # fmt: skip
_WHERE = {"zh": "{name} 在这里取得 UB 地址", "en": "{name} gets its UB address here"}


def _limit(context: Context) -> int:
    """Bytes of UB the file can count on; files for the UDMA/SIMT generation have more."""
    return LARGE_UB_BYTES if cpp.has_large_ub(context.file) else UB_BYTES


def _where(pointer: UbPointer) -> tuple[Related, ...]:
    note = {lang: text.format(name=label(pointer)) for lang, text in _WHERE.items()}
    return (Related(*pointer.operand, note),)


def ub_overflow(context: Context) -> Iterator[Hit]:
    """A buffer, a queue or a configured scratch area that ends beyond UB."""
    limit = _limit(context)
    for pointer in pointers(context):
        if pointer.offset is not None and pointer.offset >= limit:
            args = {"name": label(pointer), "offset": pointer.offset, "limit": limit}
            yield Hit(*pointer.operand, "offset", args)
    seen: set[int] = set()
    for use in uses(context):
        begin = use.pointer.offset
        if begin is None or begin >= limit:
            continue
        end = begin + use.size
        if end > limit and use.argument.start_byte not in seen:
            seen.add(use.argument.start_byte)
            args = {"name": label(use.pointer), "offset": begin, "size": use.size, "over": end - limit, "limit": limit}
            yield Hit(use.argument.start_byte, use.argument.end_byte, args=args, related=_where(use.pointer))
    for call in engine_calls(context):
        if len(call.args) >= 7 and call.args[3].start_byte not in seen:
            size = value(context, call.arg_texts[3], call.start)
            if size is not None and size > limit:
                args = {"size": size, "limit": limit}
                yield Hit(call.args[3].start_byte, call.args[3].end_byte, "size", args)
    yield from _queues(context, limit)
    for call in cpp.calls(context, *_CONFIG):
        if len(call.args) == 3:
            begin, size = (value(context, text, call.start) for text in call.arg_texts[:2])
            if begin is not None and size is not None and begin + size > limit:
                args = {"name": call.name, "end": begin + size, "limit": limit}
                yield Hit(call.args[0].start_byte, call.args[1].end_byte, "config", args)


def _queues(context: Context, limit: int) -> Iterator[Hit]:
    """``InitBuffer`` calls of one function that together ask for more than UB."""
    totals: dict[tuple[int, str], int] = {}
    for call in cpp.calls(context, "InitBuffer"):
        if not 2 <= len(call.args) <= 3 or call.function is None:
            continue
        size = 1
        for text in call.arg_texts[1:]:
            part = value(context, text, call.start)
            if part is None:
                size = 0
                break
            size *= part
        key = (call.function.start_byte, call.callee)
        before = totals.get(key, 0)
        totals[key] = before + size
        # An `if` may choose between two layouts: then the sum says nothing.
        alone = any(a.type in ("if_statement", "else_clause") for a in ancestors(call.node))
        if size > limit or (not alone and before <= limit < before + size):
            args = {"total": size if size > limit else before + size, "limit": limit}
            yield Hit(call.start, call.end, "queues", args)
        if alone:
            totals[key] = before


def library_area(context: Context) -> Iterator[Hit]:
    """An MTE buffer over 188 KB in a function that also lets the library choose its scratch."""
    limit = _limit(context)
    default_path = re.compile(rb"\baclshmem_(?:put|get)mem(?:_nbi|_signal|_signal_nbi)?\b")
    for use in uses(context):
        begin = use.pointer.offset
        if begin is None or "_mte_" not in use.call.name:
            continue
        end = begin + use.size
        if not _LIBRARY_FROM < end <= limit or use.call.function is None:
            continue
        function = use.call.function
        code = context.code[function.start_byte : function.end_byte]
        found = default_path.search(code)
        if found is not None:
            start = function.start_byte + found.start()
            note = {"zh": "这个调用会用库的默认暂存区", "en": "this call uses the library's default scratch"}
            args = {"name": label(use.pointer), "end": end, "call": found.group().decode()}
            related = (Related(start, start + len(found.group()), note), *_where(use.pointer))
            yield Hit(use.argument.start_byte, use.argument.end_byte, args=args, related=related)


def ub_overlap(context: Context) -> Iterator[Hit]:
    """Two buffers alive at once whose bytes meet."""
    by: dict[UbPointer, list[UbUse]] = {}
    for use in uses(context):
        if use.pointer.offset is not None and use.pointer.name and use.size > 0:
            by.setdefault(use.pointer, []).append(use)
    reported: set[UbPointer] = set()
    for first, second in combinations(sorted(by, key=lambda p: (p.offset or 0, p.start)), 2):
        low, high = first.offset or 0, second.offset or 0
        size = max(use.size for use in by[first])
        if low + size <= high or second in reported or first.name == second.name:
            continue
        if low == high and first.type != second.type:
            continue
        if not _alive_together(context, by[first], by[second]):
            continue
        reported.add(second)
        end = high + max(use.size for use in by[second])
        args = {"a": first.name, "b": second.name, "low": low, "low_end": low + size, "high": high, "high_end": end}
        yield Hit(*second.operand, args=args, related=_where(first))


def _alive_together(context: Context, one: list[UbUse], other: list[UbUse]) -> bool:
    """Whether some transfer through one buffer can be in flight while the other is filled."""
    a, b = one[0].pointer, other[0].pointer
    if max(a.start, b.start) >= min(scope_end(context, a), scope_end(context, b)):
        return False
    for x in one:
        for y in other:
            low, high = sorted((x.call, y.call), key=lambda call: call.start)
            if low.start == high.start:
                return True
            between = context.code[low.end : high.start]
            if not _FENCE.search(between) and not _exclusive(low.node, high.node):
                return True
    return False


def _exclusive(one: Node, other: Node) -> bool:
    """Whether two nodes stand in different branches of one ``if``."""
    mine = {node.id for node in ancestors(one)}
    below = other
    for node in ancestors(other):
        if node.id in mine:
            return node.type == "if_statement" or below.type in ("else_clause", "case_statement")
        below = node
    return False


def tiny_ub_size(context: Context) -> Iterator[Hit]:
    """``ub_size`` below one element: the library divides by the number of elements that fit."""
    for call in engine_calls(context):
        if len(call.args) < 7 or not call.name.startswith("aclshmemx_mte_"):
            continue
        size = value(context, call.arg_texts[3], call.start)
        if size is None:
            continue
        found = resolve(context, call.args[2], call.start)
        each = element_bytes(call, found[0] if found else None)
        least = each if each is not None else 1
        if size < least:
            kind = call.targs[0] if call.targs else (found[0].type if found else "T")
            args = {"size": size, "type": kind, "bytes": each if each is not None else "sizeof(T)"}
            yield Hit(call.args[3].start_byte, call.args[3].end_byte, args=args)


def unsplit_transfer(context: Context) -> Iterator[Hit]:
    """Strided and UB-to-GM overloads are one DataCopy: what does not fit is not split."""
    limit = _limit(context)
    for call in engine_calls(context):
        if not call.name.startswith("aclshmemx_mte_") or len(call.args) not in (5, 7):
            continue
        index = 4 if len(call.args) == 7 else 2
        where = 2 if len(call.args) == 7 else (1 if "_put_" in call.name else 0)
        found = resolve(context, call.args[where], call.start)
        pointer = found[0] if found else None
        each = element_bytes(call, pointer)
        if each is None:
            continue
        argument = call.args[index]
        strided = _strided_bytes(context, call.arg_texts[index], call.start, each)
        room = limit - ((pointer.offset or 0) if pointer is not None else 0)
        if len(call.args) == 7:
            given = value(context, call.arg_texts[3], call.start)
            if strided is not None and given is not None and strided > min(given, room):
                args = {"bytes": strided, "room": min(given, room)}
                yield Hit(argument.start_byte, argument.end_byte, args=args)
            continue
        count = value(context, call.arg_texts[index], call.start)
        size = strided if strided is not None else (count * each if count is not None else None)
        if size is not None and size > room:
            args = {"bytes": size, "room": room}
            yield Hit(argument.start_byte, argument.end_byte, args=args)


def _strided_bytes(context: Context, text: str, at: int, each: int) -> int | None:
    """UB bytes of a ``non_contiguous_copy_param``: each row is padded to 32 bytes."""
    if not re.fullmatch(r"[A-Za-z_]\w*", text):
        return None
    code = context.code[context.start : at]
    name = re.escape(text.encode())
    declared = list(re.finditer(rb"\bnon_contiguous_copy_param\s+" + name + rb"\b\s*=?\s*(\{[^{}]*\})?", code))
    if not declared:
        return None
    last = declared[-1]
    parts: list[str | None] = [None, None]
    if last[1]:
        listed = last[1].strip(b"{} ").split(b",")
        parts[: min(2, len(listed))] = [p.decode("utf-8", "replace") for p in listed[:2]]
    for slot, field in enumerate((b"repeat", b"length")):
        for match in re.finditer(rb"\b" + name + rb"\s*\.\s*" + field + rb"\s*=\s*([^;=]+);", code[last.end() :]):
            parts[slot] = match[1].decode("utf-8", "replace")
    numbers = [value(context, p.strip(), at) if p else None for p in parts]
    repeat, length = numbers
    if repeat is None or length is None:
        return None
    return repeat * ((length * each + 31) // 32 * 32)
