"""Tiles of PyPTO-Pro kernels: what a group may be given, and what shapes the hardware takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.facts.pypto_pro import is_exempt, items, pro_kernels, traced
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import ancestors, span
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_ORDER = ("type", "addrs", "mutex_ids", "depth")
_LARGEST_ID = 31
_EVENTS = 16
_SIZES = {
    "FP32": 4, "INT32": 4, "UINT32": 4, "FP16": 2, "BF16": 2, "INT16": 2, "UINT16": 2, "INT8": 1, "UINT8": 1,
    "INT64": 8, "UINT64": 8, "FP8E4M3FN": 1, "FP8E5M2": 1, "FP8E8M0": 1, "HF8": 1, "BOOL": 1,
}  # fmt: skip
_BLOCK = 32
"""Bytes a row of a tile in UB is a multiple of."""
_FRACTAL = 1024
"""Bytes of the smallest block of an accumulator: 16 by 16 elements of 4 bytes."""
_NUMBER = re.compile(rb"[\n;:][ \t]*(\w+)[ \t]*=[ \t]*\d")
_TAKEN = re.compile(rb"\.(current|next)(?=[ \t]*\()")
_LAST = re.compile(rb"(?<![\w.])\w+\Z")
_BEFORE = re.compile(rb"[(,=][ \t\n]*\Z")
_BEHIND = re.compile(rb"[ \t]*(?:\n|[ \t\n]*[,)])")
_LANES = 64
"""Elements of 4 bytes one vector register holds."""


def _value(context: Context, node: Node | None) -> int | None:
    return evaluate(context.text(node), constants(context.file)) if node is not None else None


def _list(node: Node | None) -> list[Node] | None:
    """The elements of a list written out; None for anything else."""
    if node is None or node.type not in ("list", "tuple"):
        return None
    every = items(node)
    return None if any(item.type == "list_splat" for item in every) else every


def invalid_group(context: Context) -> Iterator[Hit]:
    """Arguments ``make_tile_group`` refuses when the kernel is compiled."""
    if is_exempt(context):
        return
    for call in py.calls(context, "make_tile_group"):
        if call.dotted.count(".") == 0 or call.node.has_error:
            continue
        if any(a.type not in ("dictionary_splat", "list_splat") for a in call.args):
            yield _positional(context, call)
            continue
        ids = call.keywords.get("mutex_ids")
        every = _list(ids)
        yield from _ids(context, every or [])
        depth = call.keywords.get("depth")
        slots = _value(context, depth)
        if ids is None or context.text(ids) == "None" or every == []:
            if depth is None and not _has_splat(call):
                yield Hit(*(span(ids) if ids is not None else _callee(call)), "depth")
                continue
        elif every:
            if slots is not None and depth is not None and slots != len(every):
                yield Hit(*span(depth), "disagree", {"depth": slots, "ids": len(every)})
                continue
            slots = len(every)
        if slots is None:
            continue
        addresses = call.keywords.get("addrs")
        places = _list(addresses)
        if addresses is not None and places is not None and len(places) != slots:
            yield Hit(*span(addresses), "addresses", {"count": len(places), "slots": slots})
        for name in ("fwd_ids", "bwd_ids"):
            yield from _cross(context, call, name, slots)


def _has_splat(call: py.Call) -> bool:
    return any(a.type == "dictionary_splat" for a in call.args)


def _callee(call: py.Call) -> tuple[int, int]:
    function = call.node.child_by_field_name("function")
    return (function.start_byte, function.end_byte) if function is not None else (call.start, call.end)


def _positional(context: Context, call: py.Call) -> Hit:
    edits: list[Edit] = []
    for name, argument in zip(_ORDER, call.args, strict=False):
        if argument.type in ("list_splat", "dictionary_splat") or name in call.keywords:
            edits = []
            break
        edits.append(Edit(argument.start_byte, argument.start_byte, f"{name}="))
    fix = Fix(tuple(edits), "default") if edits and len(call.args) <= len(_ORDER) else None
    return Hit(*span(call.args[0]), "positional", {"written": context.text(call.args[0])}, fix)


def _ids(context: Context, every: list[Node]) -> Iterator[Hit]:
    counts: list[tuple[int, Node]] = []
    for tile in every:
        nested = _list(tile)
        own = nested if nested is not None else [tile]
        if nested == []:
            yield Hit(*span(tile), "empty")
            continue
        values = [_value(context, one) for one in own]
        for node, value in zip(own, values, strict=True):
            if value is not None and not 0 <= value <= _LARGEST_ID:
                yield Hit(*span(node), "range", {"value": value})
            elif value is not None and own.index(node) > values.index(value):
                yield Hit(*span(node), "repeated", {"value": value})
        if nested is not None or tile.type in ("integer", "binary_operator"):
            counts.append((len(own), tile))
    for count, tile in counts[1:]:
        if count != counts[0][0]:
            first = counts[0][1]
            note = {"zh": f"第一块 tile：{counts[0][0]} 个", "en": f"the first tile: {counts[0][0]}"}
            args = {"count": count, "first": counts[0][0]}
            yield Hit(*span(tile), "uneven", args, None, None, (Related(*span(first), note),))


def _cross(context: Context, call: py.Call, name: str, slots: int) -> Iterator[Hit]:
    node = call.keywords.get(name)
    every = _list(node)
    if node is None or every is None:
        return
    if len(every) != slots:
        yield Hit(*span(node), "cross", {"name": name, "count": len(every), "slots": slots})
    for one in every:
        value = _value(context, one)
        if value is not None and not 0 <= value < _EVENTS:
            yield Hit(*span(one), "event", {"name": name, "value": value})


@dataclass(frozen=True)
class _Type:
    """One ``TileType``: sizes are None where they cannot be computed."""

    call: py.Call
    shape: Node
    dims: list[Node]
    sizes: list[int | None]
    dtype: str
    memory: str
    layout: str


def _types(context: Context) -> list[_Type]:
    return context.file.memo(("pypto.tile-types", context.start, context.end), lambda: list(_collected(context)))


def _collected(context: Context) -> Iterator[_Type]:
    if is_exempt(context):
        return
    for call in py.calls(context, "TileType"):
        shape = call.keywords.get("shape") or (call.args[0] if call.args else None)
        dims = _list(shape)
        if shape is None or dims is None:
            continue
        last = {key: context.text(node).rpartition(".")[2] for key, node in call.keywords.items() if key != "shape"}
        dtype = last.get("dtype", "").removeprefix("DT_")
        sizes = [_value(context, dim) for dim in dims]
        yield _Type(call, shape, dims, sizes, dtype, last.get("target_memory", ""), last.get("layout", ""))


def tile_rank(context: Context) -> Iterator[Hit]:
    """A tile of more than two dimensions."""
    for one in _types(context):
        if len(one.dims) > 2:
            yield Hit(*span(one.shape), "default", {"shape": context.text(one.shape), "count": len(one.dims)})


def unaligned_tile(context: Context) -> Iterator[Hit]:
    """A tile in UB whose contiguous axis is no multiple of 32 bytes."""
    for one in _types(context):
        size = _SIZES.get(one.dtype)
        if one.memory != "Vec" or size is None or len(one.dims) != 2 or one.layout not in ("", "ND", "DN"):
            continue
        # In DN the columns are contiguous, of [R, 1] that is R elements; which is also what [R, 1] alone means.
        column = one.sizes[1] == 1 and one.sizes[0] != 1
        axis = 0 if one.layout == "DN" or (one.layout == "" and column) else 1
        length = one.sizes[axis]
        if length is None or length <= 0 or length * size % _BLOCK == 0:
            continue
        args = {"length": length, "bytes": length * size, "dtype": one.dtype, "step": _BLOCK // size}
        key = "reduction" if axis == 0 and column else "column" if axis == 0 else "default"
        yield Hit(*span(one.dims[axis]), key, args)


def small_accumulator(context: Context) -> Iterator[Hit]:
    """An accumulator below one fractal."""
    for one in _types(context):
        rows, columns = one.sizes if len(one.sizes) == 2 else (None, None)
        if one.memory != "Acc" or rows is None or columns is None or one.dtype not in ("FP32", "INT32"):
            continue
        if 0 < rows * columns * 4 < _FRACTAL:
            args = {"rows": rows, "columns": columns, "bytes": rows * columns * 4}
            yield Hit(*span(one.shape), "default", args)


def tile_constant_in_kernel(context: Context) -> Iterator[Hit]:
    """A tile's size or address given its value inside the kernel."""
    for kernel in traced(context, "jit"):
        numbers = [(m[1].decode(), *m.span(1)) for m in _NUMBER.finditer(context.code, *kernel.lines)]
        if not numbers:
            continue
        calls = kernel.calls("make_tile", "make_tile_group", "TileType")
        used = {context.text(node) for call in calls for node in _names(call)}
        for name, start, end in sorted(numbers):
            node = context.node_at(start, end) if name in used else None
            parent = node.parent if node is not None else None
            if node is None or parent is None or parent.type != "assignment" or not kernel.owns(parent):
                continue
            value = parent.child_by_field_name("right")
            if parent.child_by_field_name("left") == node and value is not None and value.type == "integer":
                yield Hit(start, end, "default", {"name": name, "kernel": kernel.name})


def _names(call: py.Call) -> Iterator[Node]:
    """Names in a call's arguments that are values of their own."""
    stack = [*call.args, *call.keywords.values()]
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            yield node
        elif node.type not in ("attribute", "call", "keyword_argument"):
            stack += node.named_children


def current_in_loop(context: Context) -> Iterator[Hit]:
    """``group.current()`` in a loop of a group of several tiles that never moves on there."""
    for kernel in pro_kernels(context):
        groups = {name: one for name, one in kernel.tiles.groups.items() if one.slots is not None and one.slots > 1}
        if not groups:
            continue
        taken = list(_taken(kernel.inside))
        moving = {name for name, how, _, _ in taken if how == b"next"} | _handed_on(kernel.inside, groups)
        for name, how, start, end in taken:
            group = groups.get(name)
            call = py.call_at(context.file, start, end) if how == b"current" and group and name not in moving else None
            if call is None or group is None or call.dotted != f"{name}.current" or call.args:
                continue
            if _in_loop(kernel.node, call.node):
                fix = Fix((Edit(start, end, "next"),))
                yield Hit(start, end, "default", {"group": name, "slots": group.slots}, fix)


def _in_loop(function: Node, node: Node) -> bool:
    """Whether a node of a function runs several times in one call of it."""
    loops = (a for a in ancestors(node) if a.type in ("for_statement", "while_statement"))
    return any(a.start_byte > function.start_byte for a in loops)


def _taken(view: View) -> Iterator[tuple[str, bytes, int, int]]:
    """(group, ``current`` or ``next``, where that stands) of every tile taken from a group by name."""
    for match in _TAKEN.finditer(view.code, view.start, view.end):
        name = _LAST.search(view.code, max(match.start() - 100, view.start), match.start())
        if name is not None:
            yield name[0].decode(), match[1], *match.span(1)


def _handed_on(view: View, names: Iterable[str]) -> set[str]:
    """The groups whose tiles are taken by their number, or that are handed on to who may do so."""
    return {name for name in names if any(_is_handed_on(view, at, at + len(name)) for at in view.find(name))}


def _is_handed_on(view: View, start: int, end: int) -> bool:
    if view.code[end : end + 20].lstrip(b" \t")[:1] == b"[":
        return True
    before = view.code[max(start - 100, view.start) : start]
    return _BEFORE.search(before) is not None and _BEHIND.match(view.code, end) is not None
