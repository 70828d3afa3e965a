"""Data that float16 cannot hold: beyond its range, or finer than its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node


def fp16_out_of_range(context: Context) -> Iterator[Hit]:
    """Numbers that float16 cannot hold, or cannot tell apart, made into float16 data."""
    for call in py.calls(context, "astype"):
        kind = call.args[0] if call.args else call.keywords.get("dtype")
        if kind is None or not re.fullmatch(
            r"""(?:np\.|numpy\.)?(?:float16|half)|['"](?:float16|half)['"]""", context.text(kind)
        ):
            continue
        function = call.node.child_by_field_name("function")
        value = function.child_by_field_name("object") if function is not None else None
        if value is None:
            continue
        big, fine = None, None
        for node in walk(value):
            if node.type in ("integer", "float"):
                number = _number(context.text(node))
                if number is None or not _is_value(context, node, value):
                    continue
                if abs(number) > 65504:
                    yield Hit(node.start_byte, node.end_byte, "range", {"value": context.text(node)})
                elif _factor_of_pe(context, node) and abs(number) >= 100:
                    big = node
                elif 0 < abs(number) < 1 and _is_factor(node):
                    fine = node
        # float16 keeps 11 bits: a step this much smaller than the value beside it is rounded away.
        if big is not None and fine is not None and _size(context, big) >= 2048 * _size(context, fine):
            args = {"value": context.text(big), "step": context.text(fine)}
            yield Hit(value.start_byte, value.end_byte, args=args)


def _size(context: Context, node: Node) -> float:
    return abs(_number(context.text(node)) or 0.0)


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", "")) if not text.lower().startswith(("0x", "0b", "0o")) else float(int(text, 0))
    except ValueError:
        return None


def _is_value(context: Context, node: Node, top: Node) -> bool:
    """Whether a number is one of the data's values: not a size, a seed, a shape or a divisor."""
    for above in ancestors(node):
        if above == top.parent:
            return True
        if above.type == "keyword_argument":
            name = above.child_by_field_name("name")
            return name is not None and context.text(name) in ("low", "high", "loc", "fill_value", "start", "stop")
        if above.type in ("subscript", "tuple", "list"):
            return False
        if above.type == "binary_operator" and above.children[1].type in ("%", "/", "//", ">>", "**"):
            return False
        if above.type == "call":
            called = py.Call(context.text(above).split("(", 1)[0].strip(), above, context.file)
            if called.name not in ("uniform", "randint", "integers", "full"):
                return False
            where = next((i for i, a in enumerate(called.args) if a.start_byte <= node.start_byte < a.end_byte), 9)
            return where == 1 if called.name == "full" else where < 2
    return True


def _is_factor(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "binary_operator" and parent.children[1].type == "*"


def _factor_of_pe(context: Context, node: Node) -> bool:
    parent = node.parent
    if not _is_factor(node) or parent is None:
        return False
    other = parent.child_by_field_name("left")
    if other == node:
        other = parent.child_by_field_name("right")
    return other is not None and re.search(r"\b(?:pe|rank|pe_id|rank_id|my_pe)\b", context.text(other)) is not None
