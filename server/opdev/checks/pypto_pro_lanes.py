"""Tiles that register code goes through: a vector register takes 64 elements of 4 bytes at a time, whatever the tile has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.pypto_pro_sync import tile_names
from opdev.facts.pypto_pro import items, pro_kernels, type_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate

_LANES = 64
_WIDE = ("FP32", "INT32", "UINT32")
_VECTOR = re.compile(
    rb"^[ \t]*@[ \t]*\w+\.vector_function\b[^\n]*\n(?:[ \t]*(?:@[^\n]*|#[^\n]*)?\n)*[ \t]*def[ \t]+(\w+)", re.MULTILINE
)


def narrow_tile(context: Context) -> Iterator[Hit]:
    """A tile of 4-byte elements handed to a vector function, whose rows are no whole registers."""
    names = sorted({m[1].decode() for m in _VECTOR.finditer(context.code)})
    if not names:
        return
    known = constants(context.file)
    for kernel in pro_kernels(context):
        told: set[str] = set()
        for call in py.calls(kernel.inside, *names):
            sources = {name for argument in call.args for name in tile_names(kernel, [argument])}
            for source in sorted(sources - told):
                group = kernel.tiles.groups.get(source)
                made = type_of(kernel, group.call if group is not None else kernel.tiles.single[source])
                shape = (
                    (made.keywords.get("shape") or (made.args[0] if made.args else None)) if made is not None else None
                )
                dtype = made.keywords.get("dtype") if made is not None else None
                if made is None or shape is None or dtype is None or shape.type not in ("list", "tuple"):
                    continue
                dims = items(shape)
                width = evaluate(context.text(dims[-1]), known) if len(dims) == 2 else None
                written = context.text(dtype).rpartition("DT_")[2]
                if (
                    written not in _WIDE
                    or width is None
                    or width <= 0
                    or width % _LANES == 0
                    or "layout" in made.keywords
                ):
                    continue
                told.add(source)
                better = -(-width // _LANES) * _LANES
                note = {"zh": f"交给 {call.dotted}", "en": f"handed to {call.dotted}"}
                related = (Related(call.start, call.end, note),)
                args = {"name": source, "width": width, "function": call.dotted, "better": better}
                fix = (
                    Fix((Edit(dims[-1].start_byte, dims[-1].end_byte, str(better)),))
                    if dims[-1].type == "integer"
                    else None
                )
                yield Hit(dims[-1].start_byte, dims[-1].end_byte, "default", args, fix, None, related)
