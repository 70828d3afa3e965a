"""Who synchronises the tiles of a PyPTO-Pro kernel: the framework, by mutex ids, or the kernel itself.

Decided tile by tile: locks are put around tiles that have mutex ids, and only around those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.statements import line_removed
from opdev.facts.pypto_pro import Traced, is_exempt, pro_kernels
from opdev.rules.context import Context
from opdev.rules.model import Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import ancestors, span

if TYPE_CHECKING:
    from tree_sitter import Node

_PAIR = ("system.sync_src", "system.sync_dst")
CROSS = ("system.set_cross_core", "system.wait_cross_core")
ANY_SYNC = (*_PAIR, "system.bar_all", "system.bar_v", "system.bar_m", "system.bar_mte1", "system.bar_mte2",
             "system.bar_mte3", "system.bar_fix", "system.mutex_lock", "system.mutex_unlock", "system.sync_all")  # fmt: skip
_EVENTS = 16
_SAFE_EVENTS = 8
# Orders accesses of GM, or the scalar unit's: no lock of a tile does that.
_OUTSIDE = (frozenset({"MTE3", "MTE2"}), frozenset({"FIX", "MTE2"}))
_WORD = re.compile(r"\w+")
_HELPER = re.compile(
    rb"(?<![\w.])(?!(?:if|elif|while|for|in|and|or|not|return|min|max|range|len|with|float|int|is)\b)[A-Za-z_]\w*[ \t]*\("
)
_BLOCKS = ("block", "module")


def _callee(call: py.Call) -> tuple[int, int]:
    function = call.node.child_by_field_name("function")
    return span(function) if function is not None else (call.start, call.end)


def _pipe(context: Context, node: Node | None) -> str:
    return context.text(node).rpartition(".")[2] if node is not None else ""


def manual_sync(context: Context) -> Iterator[Hit]:
    """``sync_src`` or ``sync_dst`` that orders nothing but tiles with mutex ids."""
    for kernel in pro_kernels(context):
        tiles = kernel.tiles
        locked = [name for name in tiles.groups if tiles.is_locked(name)]
        if not locked or not kernel.auto_mutex:
            continue
        for call in kernel.calls(*_PAIR):
            pipes = frozenset(_pipe(context, call.keywords.get(key)) for key in ("set_pipe", "wait_pipe"))
            if "" in pipes or "S" in pipes or pipes in _OUTSIDE or not kernel.owns(call.node):
                continue
            used = _used(kernel, call)
            if used and all(tiles.is_locked(name) and not tiles.shares_memory(name) for name in used):
                first = tiles.groups[min(used)].call
                note = {"zh": "这一组有 mutex id", "en": "this group has mutex ids"}
                args = {"call": call.dotted, "groups": "、".join(sorted(used)), "groups_en": ", ".join(sorted(used))}
                related = (Related(*_callee(first), note),)
                yield Hit(*_callee(call), "default", args, None, None, related)


def _used(kernel: Traced, call: py.Call) -> set[str]:
    """The groups and single tiles named in the block around a call; ``?`` for names of which that cannot be told."""
    block = next((a for a in ancestors(call.node) if a.type in _BLOCKS), None)
    if block is None:
        return {"?"}
    file = kernel.file
    found: set[str] = set()
    for word in set(_WORD.findall(file.code[block.start_byte : block.end_byte].decode("utf-8", "replace"))):
        found |= kernel.tiles.sources(word)
    # Tiles may be made here, come as parameters, or out of a helper.
    if py.calls(_inside(kernel, block), "make_tile"):
        found.add("?")
    return found


def _inside(kernel: Traced, block: Node) -> Context:
    return Context(kernel.file, block.start_byte, block.end_byte, block)


def auto_mutex_off(context: Context) -> Iterator[Hit]:
    """``auto_mutex=False``, which leaves mutex ids without effect."""
    for kernel in pro_kernels(context):
        given = kernel.keywords.get("auto_mutex")
        if given is None or kernel.auto_mutex or is_exempt(context):
            continue
        if kernel.calls("system.mutex_lock", "system.sync_all"):
            continue
        locked = [name for name in kernel.tiles.groups if kernel.tiles.is_locked(name)]
        args = {"kernel": kernel.name, "groups": "、".join(locked), "groups_en": ", ".join(locked)}
        yield Hit(*span(given), "ids" if locked else "default", args, None, None if locked else "warning")


def hand_made_rotation(context: Context) -> Iterator[Hit]:
    """Single tiles kept apart by hand-written events in a loop, where a group would do both."""
    for kernel in pro_kernels(context):
        if not kernel.tiles.single:
            continue
        for call in kernel.calls("system.sync_src"):
            loop = next((a for a in ancestors(call.node) if a.type in ("for_statement", "while_statement")), None)
            if loop is None or loop.start_byte < kernel.node.start_byte:
                continue
            words = set(_WORD.findall(kernel.file.code[loop.start_byte : loop.end_byte].decode("utf-8", "replace")))
            names = sorted({s for w in words for s in kernel.tiles.sources(w) if s in kernel.tiles.single})
            if names:
                first = kernel.tiles.single[names[0]]
                args = {"names": "、".join(names[:4]), "names_en": ", ".join(names[:4]), "kernel": kernel.name}
                note = {"zh": "第一处手写同步", "en": "the first synchronisation by hand"}
                yield Hit(*_callee(first), "default", args, None, None, (Related(*_callee(call), note),))
                break


def unsynchronised_tile(context: Context) -> Iterator[Hit]:
    """A tile without mutex ids that is loaded and then used, in a kernel that orders nothing itself."""
    for kernel in pro_kernels(context):
        tiles = kernel.tiles
        free = {*tiles.single, *(name for name, group in tiles.groups.items() if group.ids == "none")}
        if not free or kernel.calls(*ANY_SYNC) or "pipeline" in kernel.keywords or calls_helpers(kernel):
            continue
        loads: dict[str, py.Call] = {}
        for call in kernel.calls("load", "load_tile", "store", "store_tile", *_COMPUTE):
            position = 1 if call.name.startswith("store") else 0
            if call.name in ("load", "load_tile"):
                for source in tile_names(kernel, call.args[:1]) & free:
                    loads.setdefault(source, call)
                continue
            read = call.args[1:2] if position else call.args[1:]
            for source in sorted(tile_names(kernel, read) & loads.keys()):
                where = next(a for a in read if source in tile_names(kernel, [a]))
                load = loads.pop(source)
                note = {"zh": "在这里搬入", "en": "loaded here"}
                args = {"name": source, "call": call.dotted}
                yield Hit(*span(where), "default", args, None, None, (Related(load.start, load.end, note),))


# Computing on tiles of UB and L0, which other pipes do than those that load.
_COMPUTE = (
    "add", "sub", "mul", "div", "exp", "max", "min", "maximum", "minimum", "muls", "adds", "cast", "sum", "relu",
    "neg", "abs", "sqrt", "rsqrt", "recip", "row_sum", "row_max", "expand_sub", "expand_mul", "expand_div",
    "matmul", "matmul_acc", "move",
)  # fmt: skip


def tile_names(kernel: Traced, nodes: list[Node]) -> set[str]:
    """The groups and single tiles that expressions begin with."""
    found: set[str] = set()
    for node in nodes:
        text = kernel.file.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        match = re.match(r"\w+", text)
        found |= kernel.tiles.sources(match[0]) if match is not None else set()
    return found


def calls_helpers(kernel: Traced) -> bool:
    """Whether a kernel calls functions by bare name: they may order what it does not."""
    code = kernel.file.code[kernel.inside.start : kernel.inside.end]
    return _HELPER.search(code) is not None


def invalid_event(context: Context) -> Iterator[Hit]:
    """Event ids outside what the hardware has, and pipes that wait for themselves."""
    if is_exempt(context):
        return
    known = constants(context.file)
    for call in py.calls(context, "sync_src", "sync_dst", "set_cross_core", "wait_cross_core"):
        if ".system." not in call.dotted or call.node.has_error:
            continue
        event = call.keywords.get("event_id")
        value = evaluate(context.text(event), known) if event is not None else None
        if event is not None and value is not None:
            cross = call.name.endswith("cross_core")
            if not 0 <= value < _EVENTS:
                yield Hit(*span(event), "default", {"value": value, "call": call.name})
            elif value >= _SAFE_EVENTS and not cross:
                yield Hit(*span(event), "high", {"value": value, "call": call.name}, None, "info")
        waits, sets = call.keywords.get("wait_pipe"), call.keywords.get("set_pipe")
        if waits is not None and sets is not None and context.text(waits) == context.text(sets):
            yield Hit(*span(waits), "same", {"pipe": _pipe(context, waits), "call": call.name})


def repeated_barrier(context: Context) -> Iterator[Hit]:
    """The same barrier twice with nothing between."""
    for call in py.calls(context, "bar_all", "bar_v", "bar_m", "bar_mte1", "bar_mte2", "bar_mte3", "mem_bar"):
        statement = call.node.parent
        if statement is None or statement.type != "expression_statement":
            continue
        before = statement.prev_named_sibling
        while before is not None and before.type == "comment":
            before = before.prev_named_sibling
        if (
            before is not None
            and before.type == "expression_statement"
            and context.text(before) == context.text(statement)
        ):
            yield Hit(call.start, call.end, "default", {"call": call.dotted}, Fix((line_removed(context, statement),)))
