"""Golden data added up in half precision, or on the device whose result it is to judge.

A golden with the rounding of the operator hides the operator's own error, and at large counts is
further off than the tolerance allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestor, ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_LOW = re.compile(
    r"""(?:(?P<lib>np|numpy|torch|ml_dtypes|jnp)\.)?(?P<t>float16|half|bfloat16)|["'](?P<s>float16|half|bfloat16)["']"""
)
_SUMS = ("sum", "nansum", "mean", "cumsum", "reduce", "einsum", "matmul", "mm", "bmm", "dot")
_GOLDEN = re.compile(r"(?i)golden|gold|expect|reference|(?:^|_)ref(?:_|$)|baseline")
_MAKERS = ("zeros", "zeros_like", "empty", "empty_like", "full", "full_like")
_WIDE = {"torch": ".float()", "numpy": ".astype(np.float32)"}


def low_precision_golden(context: Context) -> Iterator[Hit]:
    """Sums and products of half-precision operands in what makes golden data."""
    yield from _reductions(context)
    yield from _accumulators(context)


def _reductions(context: Context) -> Iterator[Hit]:
    for call in py.calls(context, *_SUMS):
        if not _makes_golden(context, call.node):
            continue
        dtype = call.keywords.get("dtype")
        if dtype is not None:
            low = _LOW.fullmatch(context.text(dtype))
            if low is not None:
                wider = Fix((_widened(context, dtype, low),), "dtype")
                args = {"name": call.name, "type": low["t"] or low["s"]}
                yield Hit(dtype.start_byte, dtype.end_byte, args=args, fix=wider)
            continue
        function = call.node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        operands = [n for n in (owner, *call.args) if n is not None]
        cast = next((c for n in operands if (c := _low_cast(context, n)) is not None), None)
        if cast is not None:
            node, kind, library = cast
            fix = Fix((Edit(node.end_byte, node.end_byte, _WIDE[library]),)) if _wide_known(context, library) else None
            yield Hit(node.start_byte, node.end_byte, args={"name": call.name, "type": kind}, fix=fix)
            continue
        if "torch-test" in context.kinds:
            device = next((n for n in operands if _on_device(context, n)), None)
            if device is not None:
                yield Hit(device.start_byte, device.end_byte, "device", {"name": call.name})


def _wide_known(context: Context, library: str) -> bool:
    return library == "torch" or any(one.bound == "np" for one in py.imports(context))


def _makes_golden(context: Context, node: Node) -> bool:
    """Whether a value goes into golden data: by its name, its function's, or by the script's purpose."""
    statement: Node | None = None
    for above in ancestors(node):
        if above.type in ("assignment", "augmented_assignment", "return_statement", "expression_statement"):
            statement = statement or above
        if above.type == "call":
            function = above.child_by_field_name("function")
            name = context.text(function) if function is not None else ""
            if re.fullmatch(r"print|assert\w*|.*\.(?:info|debug|item)", name):
                return False
        if above.type in ("assert_statement", "comparison_operator"):
            return False
    left = statement.child_by_field_name("left") if statement is not None else None
    if left is not None and re.search(r"(?i)max|min|scale|norm|prob|weight|logit", context.text(left)):
        return False
    if left is not None and _GOLDEN.search(context.text(left)):
        return True
    function_node = py.function_of(node)
    named = function_node.child_by_field_name("name") if function_node is not None else None
    if named is not None and _GOLDEN.search(context.text(named)):
        return True
    return "golden" in context.kinds and (left is not None or "tofile" in context.text(statement or node))


def _low_cast(context: Context, node: Node) -> tuple[Node, str, str] | None:
    """A cast to half precision as the whole operand: node, type, library."""
    if node.type == "parenthesized_expression" and node.named_children:
        return _low_cast(context, node.named_children[0])
    function = node.child_by_field_name("function") if node.type == "call" else None
    attribute = function.child_by_field_name("attribute") if function is not None else None
    if attribute is None or function is None:
        return None
    name = context.text(attribute)
    listed = node.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    if name in ("half", "bfloat16") and not given:
        return node, "float16" if name == "half" else name, "torch"
    if name in ("astype", "to", "type") and given:
        first = given[0].child_by_field_name("value") if given[0].type == "keyword_argument" else given[0]
        low = _LOW.fullmatch(context.text(first)) if first is not None else None
        if low is not None:
            return node, low["t"] or low["s"], "torch" if name != "astype" else "numpy"
    return None


def _on_device(context: Context, node: Node) -> bool:
    return (
        node.type == "call" and re.search(r"\.npu\(\)$|\.to\([\"']npu[:\"'][^()]*\)$", context.text(node)) is not None
    )


def _widened(context: Context, node: Node, low: re.Match[str]) -> Edit:
    text = context.text(node)
    wide = '"float32"' if low["s"] else f"{'np' if low['lib'] == 'ml_dtypes' else low['lib']}.float32"
    return Edit(node.start_byte, node.end_byte, wide if low["s"] or low["lib"] else text)


def _accumulators(context: Context) -> Iterator[Hit]:
    """``total = np.zeros(n, dtype=np.float16)`` and then ``total += …``."""
    for call in py.calls(context, *_MAKERS):
        dtype, assigned = call.keywords.get("dtype"), call.node.parent
        low = _LOW.fullmatch(context.text(dtype)) if dtype is not None else None
        if dtype is None or low is None or assigned is None or assigned.type != "assignment":
            continue
        left = assigned.child_by_field_name("left")
        if left is None or left.type != "identifier":
            continue
        name = context.text(left)
        if "golden" not in context.kinds and not _GOLDEN.search(name):
            continue
        if _added_to(context, assigned, name):
            edit = _widened(context, dtype, low)
            args = {"name": name, "type": low["t"] or low["s"]}
            yield Hit(dtype.start_byte, dtype.end_byte, "accumulator", args, Fix((edit,), "dtype"))


def _added_to(context: Context, assigned: Node, name: str) -> bool:
    """Whether the only value a name is given is added to in a loop."""
    around = ancestor(assigned, "function_definition") or context.file.root
    added = False
    for node in walk(around):
        if node.type not in ("assignment", "augmented_assignment") or node == assigned:
            continue
        left = node.child_by_field_name("left")
        if left is None or context.text(left) != name:
            continue
        if node.type == "assignment":
            return False
        if (
            any(c.type == "+=" for c in node.children)
            and ancestor(node, "for_statement", "while_statement") is not None
        ):
            added = node.start_byte > assigned.start_byte or added
    return added
