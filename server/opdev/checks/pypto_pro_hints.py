"""What may cost time or lanes in a PyPTO-Pro kernel, and may as well be meant so: off unless asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_pro_sync import ANY_SYNC, CROSS, calls_helpers, tile_names
from opdev.checks.pypto_pro_vf import KEEPS, WIDTHS, all_vf, types_of
from opdev.facts.pypto_pro import Traced, pro_kernels, traced
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import ancestor, ancestors, span

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = ("for_statement", "while_statement")
_ODD = (".ONE", ".TWO", ".THREE")
"""Layouts that take other elements than the first of each lane, which is all a mask for wide lanes picks."""
_MASKS = ("create_mask", "update_mask")


def _callee(call: py.Call) -> tuple[int, int]:
    return span(call.node.child_by_field_name("function") or call.node)


def _target(context: Context, node: Node) -> str:
    """The one name a call's result is given; empty where that is none or several."""
    parent = node.parent
    left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
    return context.text(left) if left is not None and left.type == "identifier" else ""


def power_of_two_stride(context: Context) -> Iterator[Hit]:
    """A block stride that is a power of two: all blocks of a store meet in the same banks of UB."""
    known = constants(context.file)
    for one in traced(context, "vector_function"):
        for call in all_vf(one):
            given = call.keywords.get("block_stride")
            value = evaluate(context.text(given), known) if given is not None else None
            if given is not None and value is not None and value > 1 and value & (value - 1) == 0:
                yield Hit(*span(given), "default", {"value": value, "bytes": value * 32, "better": value + 1})


def masked_accumulation(context: Context) -> Iterator[Hit]:
    """A register added to under a mask of the tail: the lanes left out become zero."""
    for one in traced(context, "vector_function"):
        calls = all_vf(one)
        tails = {_target(context, call.node): call for call in calls if call.name == "update_mask"}
        for call in calls:
            loop = ancestor(call.node, *_LOOPS)
            target = _target(context, call.node)
            mask = context.text(call.args[-1]) if call.args else ""
            made = tails.get(mask)
            if call.name not in KEEPS or not target or made is None or "mode" in call.keywords:
                continue
            if loop is None or loop.start_byte < one.node.start_byte or loop not in ancestors(made.node):
                continue
            before = context.code[loop.start_byte : call.start].rpartition(b"\n")[0]
            anew = re.search(rb"(?<![\w.])%s[ \t]*=(?!=)" % re.escape(target.encode()), before) is not None
            if target in [context.text(a) for a in call.args[:-1]] and not anew:
                note = {"zh": "掩码在这里生成", "en": "the mask is made here"}
                args = {"name": target, "mask": mask, "call": call.dotted}
                yield Hit(*_callee(call), "default", args, None, None, (Related(made.start, made.end, note),))


def widening_mask(context: Context) -> Iterator[Hit]:
    """A widening ``vf.astype`` of others than the even elements, under a mask that is not as wide as its source."""
    for one in traced(context, "vector_function"):
        known = types_of(one)
        calls = all_vf(one)
        masks = {_target(context, call.node): call for call in calls if call.name in _MASKS}
        for call in calls:
            layout = context.text(call.keywords["layout"]) if "layout" in call.keywords else ""
            if call.name != "astype" or len(call.args) < 2 or not layout.endswith(_ODD):
                continue
            source, mask = (context.text(a) for a in call.args[:2])
            made = masks.get(mask)
            before, after = WIDTHS.get(known.get(source, ""), 0), _width(context, call, 0)
            if made is None or not 0 < before < after:
                continue
            width = _width(context, made, 32)
            if width and width != before:
                args = {"mask": mask, "width": width, "source": source, "before": before, "after": after}
                note = {"zh": "掩码在这里生成", "en": "the mask is made here"}
                yield Hit(*span(call.args[1]), "default", args, None, None, (Related(made.start, made.end, note),))


def _width(context: Context, call: py.Call, default: int) -> int:
    """Bits of the type a call names by ``dtype=``; 0 where it cannot be told."""
    given = call.keywords.get("dtype")
    if given is None:
        return default
    return WIDTHS.get(context.text(given).rpartition(".")[2].removeprefix("DT_"), 0)


def unordered_workspace(context: Context) -> Iterator[Hit]:
    """Global memory that is stored to and loaded from through another tile, with nothing between to order the two."""
    for kernel in pro_kernels(context):
        calls = kernel.calls("store", "store_tile", "load", "load_tile", *ANY_SYNC, *CROSS)
        if calls_helpers(kernel) or "pipeline" in kernel.keywords:
            continue
        stored: dict[str, py.Call] = {}
        for call in calls:
            if call.name not in ("store", "store_tile", "load", "load_tile"):
                stored = {}
            elif len(call.args) < 2 or any(a.type != "identifier" for a in _place(call)):
                continue
            elif call.name.startswith("store"):
                stored[context.text(call.args[0])] = call
            else:
                name = context.text(call.args[1])
                store = stored.pop(name, None)
                if store is None or ancestor(store.node, "block") != ancestor(call.node, "block"):
                    continue
                source, target = tile_names(kernel, store.args[1:2]), tile_names(kernel, call.args[:1])
                if source and target and source.isdisjoint(target):
                    note = {"zh": "在这里写出", "en": "stored here"}
                    related = (Related(store.start, store.end, note),)
                    yield Hit(*span(call.args[1]), "default", {"name": name, "call": call.dotted}, None, None, related)


def _place(call: py.Call) -> list[Node]:
    """The argument that is in global memory."""
    return call.args[:1] if call.name.startswith("store") else call.args[1:2]


def lasting_valid_shape(context: Context) -> Iterator[Hit]:
    """A valid shape given to a tile under a condition in an inner loop and given back nowhere."""
    for kernel in pro_kernels(context):
        calls = [call for call in kernel.calls("set_validshape") if call.args]
        for call in calls:
            branch = ancestor(call.node, "if_statement")
            if branch is None or branch.child_by_field_name("alternative") is not None:
                continue
            loop = ancestor(branch, *_LOOPS)
            around = ancestor(loop, *_LOOPS) if loop is not None else None
            if loop is None or around is None or around.start_byte < kernel.node.start_byte:
                # What holds in the last turn only is seen by nobody where no loop is around.
                continue
            mine = tile_names(kernel, call.args[:1])
            others = [tile_names(kernel, o.args[:1]) for o in calls if branch not in ancestors(o.node)]
            if not mine or any(not mine.isdisjoint(other) or not other for other in others):
                continue
            if _is_made_in(kernel, loop, mine) or not _is_used_outside(context, loop, branch, call):
                continue
            args = {"tile": context.text(call.args[0]), "condition": _condition(context, branch)}
            yield Hit(*_callee(call), "default", args)


def _is_made_in(kernel: Traced, loop: Node, names: set[str]) -> bool:
    """Whether a loop makes the tile anew in every turn."""
    made = [kernel.tiles.single.get(name) or kernel.tiles.groups[name].call for name in names]
    return any(loop in ancestors(call.node) for call in made)


def _is_used_outside(context: Context, loop: Node, branch: Node, call: py.Call) -> bool:
    """Whether the loop uses the tile where the condition does not hold: only there the shape left behind is seen."""
    word = re.compile(rb"(?<![\w.])%s(?!\w)(?![ \t]*=(?!=))" % re.escape(context.text(call.args[0]).encode()))
    rest = context.code[loop.start_byte : branch.start_byte] + context.code[branch.end_byte : loop.end_byte]
    return word.search(rest) is not None


def _condition(context: Context, branch: Node) -> str:
    condition = branch.child_by_field_name("condition")
    return " ".join(context.text(condition).split()) if condition is not None else ""
