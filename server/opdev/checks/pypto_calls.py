"""Calls of PyPTO with arguments it does not take, as experience has shown them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_kernels import operand_dtype
from opdev.facts.pypto_kernels import kernels
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py

if TYPE_CHECKING:
    from tree_sitter import Node

_FROM: dict[str, frozenset[str]] = {
    "DT_FP32": frozenset({"DT_FP32", "DT_BF16", "DT_FP16", "DT_INT16", "DT_INT32", "DT_INT64", "DT_FP8E4M3", "DT_FP8E5M2", "DT_HF8"}),
    "DT_FP16": frozenset({"DT_FP16", "DT_FP32", "DT_INT32", "DT_INT16", "DT_INT8", "DT_UINT8", "DT_INT4", "DT_HF8"}),
    "DT_BF16": frozenset({"DT_BF16", "DT_FP32", "DT_INT32", "DT_FP16", "DT_FP4_E1M2X2", "DT_FP4_E2M1X2"}),
    "DT_INT32": frozenset({"DT_INT32", "DT_FP32", "DT_INT16", "DT_INT64", "DT_FP16", "DT_UINT16", "DT_UINT8"}),
    "DT_INT16": frozenset({"DT_INT16", "DT_FP32", "DT_FP16", "DT_INT32", "DT_UINT32", "DT_UINT8"}),
    "DT_INT8": frozenset({"DT_INT8", "DT_FP16", "DT_INT16", "DT_INT32"}),
    "DT_UINT8": frozenset({"DT_UINT8", "DT_FP16", "DT_UINT16"}),
    "DT_INT64": frozenset({"DT_INT64", "DT_FP32", "DT_INT32"}),
}  # fmt: skip
"""What a dtype can be cast to on any chip known."""


def number_as_first_operand(context: Context) -> Iterator[Hit]:
    """``pypto.sub(127.0, x)``."""
    for call in py.calls(context, "pypto.add", "pypto.sub", "pypto.mul", "pypto.div"):
        if call.dotted.count(".") != 1 or len(call.args) < 2 or not _is_number(call.args[0]):
            continue
        first, second = call.args[0], call.args[1]
        fix = None
        if call.name in ("add", "mul") and not _is_number(second):
            fix = Fix((Edit(first.start_byte, first.end_byte, context.text(second)),
                       Edit(second.start_byte, second.end_byte, context.text(first))))  # fmt: skip
        yield Hit(
            first.start_byte, first.end_byte, "default", {"call": call.dotted, "number": context.text(first)}, fix
        )


def _is_number(node: Node) -> bool:
    if node.type == "unary_operator" and node.named_child_count == 1:
        node = node.named_children[0]
    return node.type in ("integer", "float")


def positional_dtype(context: Context) -> Iterator[Hit]:
    """``pypto.zeros([8], pypto.DT_FP32)``."""
    for call in py.calls(context, "zeros", "ones"):
        head = call.dotted.rpartition(".")[0]
        if not head or head in ("torch", "np", "numpy") or "dtype" in call.keywords:
            continue
        for argument in call.args:
            written = context.text(argument)
            if argument.type in ("attribute", "identifier") and written.rpartition(".")[2].startswith("DT_"):
                fix = (
                    Fix((Edit(argument.start_byte, argument.start_byte, "dtype="),))
                    if argument == call.args[-1]
                    else None
                )
                yield Hit(
                    argument.start_byte, argument.end_byte, "default", {"call": call.dotted, "dtype": written}, fix
                )


def unsupported_cast(context: Context) -> Iterator[Hit]:
    """A cast between two dtypes that no chip has."""
    for kernel in kernels(context):
        for call in py.calls(kernel.view, f"{kernel.alias}.cast"):
            target = call.args[1] if len(call.args) > 1 else call.keywords.get("dtype")
            if not call.args or target is None:
                continue
            source = operand_dtype(kernel, call.args[0])
            known = _FROM.get(source)
            to = context.text(target).rpartition(".")[2]
            if known is not None and to.startswith("DT_") and to not in known:
                middle = _between(source, to)
                args = {"name": context.text(call.args[0]), "source": source, "target": to, "between": middle}
                yield Hit(target.start_byte, target.end_byte, "through" if middle else "default", args)


def _between(source: str, target: str) -> str:
    """A dtype both casts are known through."""
    for middle in ("DT_FP32", "DT_FP16", "DT_INT32"):
        if middle in _FROM.get(source, ()) and target in _FROM.get(middle, ()):
            return middle
    return ""
