"""Tiles that register code goes through: a vector register takes 64 elements of 4 bytes at a time, whatever the tile has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_pro_sync import tile_names
from opdev.facts.pypto_pro import items, pro_kernels, type_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import span

if TYPE_CHECKING:
    from tree_sitter import Node

_LANES = 64
_WIDE = ("FP32", "INT32", "UINT32")
_VECTOR = re.compile(
    rb"^[ \t]*@[ \t]*\w+\.vector_function\b[^\n]*\n(?:[ \t]*(?:@[^\n]*|#[^\n]*)?\n)*[ \t]*def[ \t]+(\w+)", re.MULTILINE
)


def narrow_tile(context: Context) -> Iterator[Hit]:
    """A tile of 4-byte elements handed to a vector function, whose rows are no whole registers."""
    names = sorted({m[1].decode() for m in _VECTOR.finditer(context.code)})
    for kernel in pro_kernels(context) if names else ():
        told: set[str] = set()
        for call in py.calls(kernel.inside, *names):
            sources = {name for argument in call.args for name in tile_names(kernel, [argument])}
            for source in sorted(sources - told):
                group = kernel.tiles.groups.get(source)
                made = type_of(kernel, group.call if group is not None else kernel.tiles.single[source])
                found = _narrow(context, made) if made is not None else None
                if found is None:
                    continue
                told.add(source)
                last, width = found
                better = -(-width // _LANES) * _LANES
                note = {"zh": f"交给 {call.dotted}", "en": f"handed to {call.dotted}"}
                args = {"name": source, "width": width, "function": call.dotted, "better": better}
                fix = Fix((Edit(*span(last), str(better)),)) if last.type == "integer" else None
                yield Hit(*span(last), "default", args, fix, None, (Related(call.start, call.end, note),))


def _narrow(context: Context, made: py.Call) -> tuple[Node, int] | None:
    """The last dimension of a tile's type and its value, where rows of it are no whole registers."""
    shape, dtype = made.keywords.get("shape") or (made.args[0] if made.args else None), made.keywords.get("dtype")
    if shape is None or dtype is None or shape.type not in ("list", "tuple") or "layout" in made.keywords:
        return None
    dims = items(shape)
    if len(dims) != 2 or context.text(dtype).rpartition("DT_")[2] not in _WIDE:
        return None
    width = evaluate(context.text(dims[-1]), constants(context.file))
    return (dims[-1], width) if width is not None and width > 0 and width % _LANES else None
