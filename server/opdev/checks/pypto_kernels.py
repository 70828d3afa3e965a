"""What may stand in a PyPTO kernel: its parameters, its results, its scalar arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import Kernel, inner, kernels, scope_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.tree import ancestors, span

if TYPE_CHECKING:
    from tree_sitter import Node

_SPECIAL = {
    "sigmoid": ("DT_FP32",),
    "softmax": ("DT_FP32",),
    "sin": ("DT_FP32", "DT_FP16"),
    "cos": ("DT_FP32", "DT_FP16"),
}
# What may follow a name that is given a value; most names in a kernel are only read.
_MAYBE_BOUND = (
    rb"(?!\w)(?=[ \t]*(?:(?:[-+*/%&|^@]|//|\*\*|<<|>>|:)?=(?!=)|in\b|:|[,)\]][^\n]*[^=!<>\n]=(?!=)|[,)\]][^\n]*\bin\b))"
)
_MAKERS = re.compile(
    r"\w+\.(?!loop\b|loop_unroll\b|cond\b|min\b|max\b|ceildiv\b|ceil_div\b|bytes_of\b|get_\w+|is_\w+|set_\w+|DT_|platform\b)[a-z]\w*"
)
_SCALARS = frozenset({"integer", "float", "true", "false", "string", "unary_operator"})
"""Defaults that tell a reader what a parameter is as well as an annotation would."""
_SAME = frozenset({"view", "reshape", "clone", "transpose", "unsqueeze", "permute", "concat", "expand_clone"})


def rebound_parameter(context: Context) -> Iterator[Hit]:
    """A tensor parameter that is made a name for something else."""
    for kernel in kernels(context):
        tensors = kernel.tensors
        if not tensors:
            continue
        names = b"|".join(re.escape(name.encode()) for name in tensors)
        for match in re.finditer(rb"(?<![\w.])(%s)%s" % (names, _MAYBE_BOUND), _body(kernel)):
            at = kernel.body.start_byte + match.start()
            node = context.node_at(at, at + len(match[1]))
            if node is None or node.type != "identifier" or not kernel.owns(node) or not _is_bound(node):
                continue
            name = match[1].decode()
            related = (Related(*span(tensors[name].node), {"zh": f"参数 {name}", "en": f"the parameter {name}"}),)
            again = _is_read_after(kernel, node, match[1])
            key, severity = ("reused", "warning") if again else ("default", None)
            fix = None if again else _written(node)
            yield Hit(*span(node), key, {"name": name}, fix, severity, related)  # type: ignore[arg-type]


def _body(kernel: Kernel) -> bytes:
    return kernel.file.code[kernel.body.start_byte : kernel.body.end_byte]


def _is_bound(node: Node) -> bool:
    """Whether a name is given a value here: by an assignment of any form, a loop, ``with``, ``:=``."""
    child, here = node, node.parent
    while here is not None and here.type in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"):
        child, here = here, here.parent
    if here is None:
        return False
    if here.type in ("assignment", "augmented_assignment", "for_statement"):
        return here.child_by_field_name("left") == child
    if here.type == "named_expression":
        return here.child_by_field_name("name") == child
    return here.type == "as_pattern_target"


def _is_read_after(kernel: Kernel, node: Node, name: bytes) -> bool:
    """Whether what a name was bound to is looked at later: below, or in the next turn of a loop around it."""
    statement = next((a for a in ancestors(node) if a.type.endswith(("assignment", "_statement"))), node)
    ranges = [(statement.end_byte, kernel.body.end_byte)]
    loop = next((a for a in ancestors(node) if a.type in ("for_statement", "while_statement")), None)
    if loop is not None and loop.start_byte > kernel.body.start_byte:
        right = statement.child_by_field_name("right")
        ranges += [(loop.start_byte, statement.start_byte), *([span(right)] if right is not None else [])]
    pattern = re.compile(rb"(?<![\w.])%s(?!\w)" % re.escape(name))
    for start, end in ranges:
        for match in pattern.finditer(kernel.file.code, start, end):
            here = kernel.file.root.named_descendant_for_byte_range(match.start(), match.end() - 1)
            if here is not None and not _is_bound(here):
                return True
    return False


def _written(node: Node) -> Fix | None:
    """``out = …`` becomes ``out[:] = …``, where it is an assignment to this name alone."""
    here = node.parent
    if here is None or here.type not in ("assignment", "augmented_assignment") or here.child_by_field_name("type"):
        return None
    if here.child_by_field_name("left") != node or here.child_by_field_name("right") is None:
        return None
    return Fix((Edit(node.end_byte, node.end_byte, "[:]"),))


def return_in_kernel(context: Context) -> Iterator[Hit]:
    """``return`` in a kernel's own scope."""
    for kernel in kernels(context):
        names = {p.name for p in kernel.parameters}
        for node in kernel.view.nodes("return", "return_statement"):
            if not kernel.owns(node):
                continue
            value = inner(node)
            written = context.text(value) if value is not None else ""
            key = "bare" if value is None else "default"
            fix = None
            statements = [n for n in kernel.body.named_children if n.type != "comment"]
            last = statements[-1:] == [node] and len(statements) > 1
            if last and (value is None or (value.type == "identifier" and written in names)):
                fix = Fix((Edit(*_line(context, node), ""),), "default", "safe" if value is None else "unsafe")
            yield Hit(node.start_byte, node.end_byte, key, {"name": kernel.name, "value": written}, fix)


def _line(context: Context, node: Node) -> tuple[int, int]:
    """The whole line of a statement that stands on one alone, else the statement; a comment behind it stays."""
    start = context.data.rfind(b"\n", 0, node.start_byte) + 1
    stop = context.data.find(b"\n", node.end_byte)
    stop = len(context.data) if stop < 0 else stop + 1
    behind = context.data[node.end_byte : stop]
    if context.data[start : node.start_byte].strip() or behind.strip():
        comment = len(behind) - len(behind.lstrip(b" \t")) if behind.lstrip().startswith(b"#") else 0
        return node.start_byte, node.end_byte + comment
    return start, stop


def parameter_annotation(context: Context) -> Iterator[Hit]:
    """Parameters the parser takes for scalars or refuses, though they are meant as tensors."""
    for kernel in kernels(context):
        body = _body(kernel)
        for parameter in kernel.parameters:
            args = {"name": parameter.name, "kernel": kernel.name}
            if parameter.role in ("star", "keyword"):
                yield Hit(*span(parameter.node), parameter.role, args)
            elif parameter.role == "foreign" and parameter.annotation is not None:
                args["annotation"] = context.text(parameter.annotation)
                yield Hit(*span(parameter.annotation), "foreign", args)
            elif parameter.role == "bare" and parameter.name not in ("self", "cls"):
                tensor = _used_as_tensor(parameter.name, body)
                if not tensor and parameter.default is not None and parameter.default.type in _SCALARS:
                    continue
                yield Hit(
                    *span(parameter.node), "default" if tensor else "scalar", args, None, None if tensor else "info"
                )


def _used_as_tensor(name: str, body: bytes) -> bool:
    word = re.escape(name.encode())
    used = rb"(?<![\w.])%s\s*(?:\[[^\]\[]*:|\.(?:shape|dtype|move|view|reshape|assemble)\b)" % word
    given = (
        rb"\.(?:view|cast|move|matmul|reshape|assemble|add|sub|mul|div|exp|sum|amax|transpose|clone)\s*\(\s*%s(?!\w)"
        % word
    )
    return re.search(used, body) is not None or re.search(given, body) is not None


def tensor_after_scalar(context: Context) -> Iterator[Hit]:
    """A tensor parameter behind one that is none."""
    for kernel in kernels(context):
        first = None
        for parameter in kernel.parameters:
            if (
                parameter.role in ("scalar", "foreign", "bare")
                and first is None
                and parameter.name not in ("self", "cls")
            ):
                first = parameter
            elif parameter.role == "tensor" and first is not None:
                note = {"zh": f"{first.name} 不是张量", "en": f"{first.name} is no tensor"}
                yield Hit(
                    *span(parameter.node), "default", {"name": parameter.name, "first": first.name, "kernel": kernel.name},
                    None, None, (Related(*span(first.node), note),),
                )  # fmt: skip
            elif parameter.role == "tensor" and parameter.default is not None:
                yield Hit(*span(parameter.default), "default-value", {"name": parameter.name, "kernel": kernel.name})


def empty_annotation(context: Context) -> Iterator[Hit]:
    """``pypto.Tensor()`` and its like: an annotation that says neither shape nor dtype."""
    for kernel in kernels(context):
        for parameter in kernel.parameters:
            call = parameter.annotation
            while call is not None and call.type == "type":
                call = inner(call)
            if parameter.role != "tensor" or call is None or parameter.annotation is None:
                continue
            args = {"name": parameter.name, "kernel": kernel.name}
            if call.type == "call":
                found = py.Call("", call, context.file)
                shape = found.args[0] if found.args else found.keywords.get("shape")
                if shape is None or (shape.type == "list" and not shape.named_child_count):
                    dtype = len(found.args) > 1 or "dtype" in found.keywords
                    yield Hit(*span(call), "shape" if dtype else "default", args, None, "info" if dtype else None)
                elif len(found.args) < 2 and "dtype" not in found.keywords and not _splat(found):
                    yield Hit(*span(call), "dtype", args, None, "info")
            elif call.type in ("attribute", "identifier"):
                yield Hit(*span(call), "default", args)


def _splat(call: py.Call) -> bool:
    return any(a.type in ("list_splat", "dictionary_splat") for a in call.args)


def builtin_min_max(context: Context) -> Iterator[Hit]:
    """``max(x, 0)`` with a tensor in it."""
    for kernel in kernels(context):
        for call in py.calls(kernel.view, "min", "max"):
            if call.dotted not in ("min", "max") or not kernel.owns(call.node):
                continue
            tensor = next((a for a in call.args if _is_tensor(kernel, a)), None)
            if tensor is None:
                continue
            function = call.node.child_by_field_name("function")
            to = f"{kernel.alias}.{'minimum' if call.dotted == 'min' else 'maximum'}"
            fix = Fix((Edit(*span(function), to),)) if function is not None and len(call.args) == 2 else None
            args = {"name": call.dotted, "tensor": context.text(tensor), "to": to}
            yield Hit(call.start, call.end, "default", args, fix)


def _is_tensor(kernel: Kernel, node: Node, depth: int = 4) -> bool:
    """Whether an expression is a tensor for sure."""
    data = kernel.file.data
    if node.type == "parenthesized_expression":
        inside = inner(node)
        return inside is not None and _is_tensor(kernel, inside, depth)
    if node.type == "identifier":
        name = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if name in kernel.tensors:
            return True
        value = _value(kernel, name, node) if depth else None
        return value is not None and _is_tensor(kernel, value, depth - 1)
    if node.type == "subscript":
        value = node.child_by_field_name("value")
        return value is not None and value.type == "identifier" and _is_tensor(kernel, value, depth)
    if node.type == "call":
        callee = node.child_by_field_name("function")
        dotted = data[callee.start_byte : callee.end_byte].decode("utf-8", "replace") if callee is not None else ""
        return dotted.startswith(f"{kernel.alias}.") and _MAKERS.fullmatch(dotted) is not None
    if node.type == "binary_operator":
        sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        return any(side is not None and _is_tensor(kernel, side, depth) for side in sides)
    return False


def _value(kernel: Kernel, name: str, before: Node) -> Node | None:
    """What a name of the kernel was last given before a place, where that is told by one plain assignment above."""
    word = re.escape(name.encode())
    found = None
    for match in re.finditer(
        rb"(?<![\w.])%s\s*=(?!=)" % word, kernel.file.code[kernel.body.start_byte : before.start_byte]
    ):
        at = kernel.body.start_byte + match.start()
        node = kernel.file.root.named_descendant_for_byte_range(at, at + len(name) - 1)
        here = node.parent if node is not None else None
        if (
            here is not None
            and here.type == "assignment"
            and here.child_by_field_name("left") == node
            and scope_of(here) == kernel.node
        ):
            found = here.child_by_field_name("right")
    return found


def low_precision_function(context: Context) -> Iterator[Hit]:
    """``sigmoid`` and its like of a tensor whose dtype the operation does not take."""
    for kernel in kernels(context):
        for call in py.calls(kernel.view, *(f"{kernel.alias}.{name}" for name in _SPECIAL)):
            operand = call.args[0] if call.args else call.keywords.get("input")
            if operand is None or not kernel.owns(call.node):
                continue
            dtype = operand_dtype(kernel, operand)
            taken = _SPECIAL[call.name]
            if dtype and dtype not in taken:
                args = {
                    "function": call.name,
                    "operand": context.text(operand),
                    "dtype": dtype,
                    "taken": "/".join(taken),
                }
                fix = Fix((Edit(operand.start_byte, operand.start_byte, f"{kernel.alias}.cast("),
                           Edit(operand.end_byte, operand.end_byte, f", {kernel.alias}.DT_FP32)")))  # fmt: skip
                yield Hit(*span(operand), "default", args, fix)


def operand_dtype(kernel: Kernel, node: Node, depth: int = 4) -> str:
    """The dtype of an operand, followed through views and single assignments; empty where it cannot be told."""
    data = kernel.file.data
    if node.type == "identifier":
        name = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        value = _value(kernel, name, node)
        if value is not None:
            return operand_dtype(kernel, value, depth - 1) if depth else ""
        parameter = kernel.tensors.get(name)
        return parameter.dtype if parameter is not None else ""
    if node.type == "subscript":
        inner = node.child_by_field_name("value")
        return operand_dtype(kernel, inner, depth - 1) if inner is not None and depth else ""
    if node.type == "call" and depth:
        call = py.Call("", node, kernel.file)
        callee = node.child_by_field_name("function")
        name = data[callee.start_byte : callee.end_byte].decode("utf-8", "replace") if callee is not None else ""
        head, _, last = name.rpartition(".")
        if last in _SAME and call.args and head == kernel.alias and call.args[0].type != "list":
            return operand_dtype(kernel, call.args[0], depth - 1)
    return ""


__all__ = [
    "builtin_min_max",
    "empty_annotation",
    "low_precision_function",
    "operand_dtype",
    "parameter_annotation",
    "rebound_parameter",
    "return_in_kernel",
    "tensor_after_scalar",
]  # fmt: skip
