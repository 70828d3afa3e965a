"""Tensors whose memory a kernel reads in another order than the tensor has it.

A kernel is given an address and reads onwards from there; a transposed or sliced tensor has its
elements elsewhere, and nothing fails: the result is wrong.  Bindings (C++) are judged here, calls
from Python in ``contiguous_views``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from opdev.checks import contiguous_views
from opdev.checks.memory_uses import is_handed_on
from opdev.checks.tensor_flow import Access, Flow, Tensor
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

_TAKES_MEMORY = re.compile(rb"\b(?:(?:mutable_|const_)?data_ptr|storage)\b")
# Whoever asks for the strides or the offset handles the layout.
_LAYOUT = rb"\b%s\s*\.\s*(?:strides?|storage_offset|sym_strides?)\s*\("
_RAW_USE = rb"(?<![\w.])%s(?=\s*\.\s*(?:storage|(?:mutable_|const_)?data_ptr)\b)"
_OUT = frozenset({"out", "output", "outputs", "outs", "result", "results", "res", "recv", "dst", "dest"})
_IN_PLACE = frozenset(
    {
        "cache",
        "caches",
        "inout",
        "buffer",
        "buf",
        "state",
        "states",
        "workspace",
        "flag",
        "flags",
        "sync",
        "self",
        "symm",
    }
)
_DESCRIBES = frozenset(
    {"table", "tables", "index", "indices", "idx", "ids", "id", "offset", "offsets", "map", "mapping", "list", "size",
     "sizes", "shape", "mask", "scale", "scales", "len", "lens", "count", "counts", "num"}
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def missing_contiguous(context: Context) -> Iterator[Hit]:
    """Raw memory of a tensor that may be non-contiguous, given to a kernel."""
    if context.file.language == "python":
        yield from contiguous_views.views_for_kernels(context)
        return
    for function in _binding_functions(context):
        flow = Flow(context.file, function)
        by_name: dict[str, list[Access]] = {}
        for access in flow.accesses:
            if access.tensor.contiguous or not is_handed_on(context.file, access, function):
                continue
            root = access.tensor.root
            if role(root) == "output" or _handles_layout(context, function, access):
                continue
            by_name.setdefault(access.name or f"@{access.node.start_byte}", []).append(access)
        for accesses in by_name.values():
            yield _hit(context, function, flow, accesses)


def output_written_to_copy(context: Context) -> Iterator[Hit]:
    """An output made contiguous, the copy filled by the kernel and never copied back."""
    for function in _binding_functions(context):
        flow = Flow(context.file, function)
        reported: set[str] = set()
        for access in flow.accesses:
            tensor, made = access.tensor, access.tensor.made
            if not tensor.contiguous or made is None or made.type != "call_expression" or tensor.root in reported:
                continue
            if role(tensor.root) != "output" or tensor.root in flow.holders:
                continue
            if not is_handed_on(context.file, access, function) or _copied_back(context, function, access):
                continue
            reported.add(tensor.root)
            yield _output_hit(context, access, made)


def ignored_storage_offset(context: Context) -> Iterator[Hit]:
    """``x.storage().data()``: the start of the storage, not of the tensor."""
    for function in _binding_functions(context):
        for access in Flow(context.file, function).accesses:
            if not access.storage or not is_handed_on(context.file, access, function):
                continue
            name = context.text(access.base)
            if access.name and re.search(
                rb"\b" + re.escape(name.encode()) + rb"\s*\.\s*storage_offset\s*\(",
                context.code[function.start_byte : function.end_byte],
            ):
                continue
            edits = [Edit(access.base.end_byte, access.node.end_byte, ".data_ptr()")]
            if access.name:
                # From there on the tensor has its own bytes only, not the whole storage's.
                size = re.compile(
                    rb"(?<![\w.])" + name.encode() + rb"(?P<size>\s*\.\s*storage\s*\(\s*\)\s*\.\s*nbytes\s*\(\s*\))"
                )
                found = size.finditer(context.code, function.start_byte, function.end_byte)
                edits += [Edit(m.start("size"), m.end("size"), ".nbytes()") for m in found]
            yield Hit(access.node.start_byte, access.node.end_byte, args={"name": name}, fix=Fix(tuple(edits)))


def role(name: str) -> str:
    """``input``, ``output`` or ``in-place``, by a parameter's name."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _DESCRIBES:
        return "input"
    if _IN_PLACE.intersection(words):
        return "in-place"
    if _OUT.intersection(words) or name in ("y", "z"):
        return "output"
    return "input"


def _binding_functions(context: Context) -> Iterator[Node]:
    """Functions of the range that take raw memory of something."""
    at = [match.start() for match in _TAKES_MEMORY.finditer(context.code, context.start, context.end)]
    seen = -1
    for offset in at:
        if offset < seen:
            continue
        node = context.node_at(offset, offset + 1)
        function = ancestor(node, "function_definition")
        if function is not None:
            seen = function.end_byte
            yield function


def _handles_layout(context: Context, function: Node, access: Access) -> bool:
    names = {access.name, access.tensor.root} - {""}
    body = context.code[function.start_byte : function.end_byte]
    return any(re.search(_LAYOUT % re.escape(name.encode()), body) for name in names)


def _hit(context: Context, function: Node, flow: Flow, accesses: list[Access]) -> Hit:
    first = accesses[0]
    name, tensor = first.name or context.text(first.base), first.tensor
    start, end = first.node.start_byte, first.node.end_byte
    args: dict[str, object] = {"name": name, "how": tensor.how, "root": tensor.root}
    copy = next((c for a in accesses if a.name for c in _copies(a.env, a.name)), None)
    if copy is not None:
        args["copy"], known = copy
        edits = [Edit(a.base.start_byte, a.base.end_byte, copy[0]) for a in accesses]
        related = _at(known.made, "这里已经得到了连续的副本", "the contiguous copy is made here")
        return Hit(start, end, "unused-copy", args, Fix(tuple(edits), "unused-copy"), related=related)
    if tensor.cause == "view":
        local = (
            tensor.made if first.name and tensor.made is not None and tensor.made.type == "call_expression" else None
        )
        fix = Fix((Edit(local.end_byte, local.end_byte, ".contiguous()"),), "view") if local is not None else None
        related = _at(local, "视图在这里产生", "the view is made here")
        return Hit(start, end, "view", args, fix, related=related)
    message = "path" if tensor.cause == "path" else "default"
    if role(tensor.root) == "in-place":
        return Hit(start, end, "in-place", args, _check_fix(context, first.node, tensor.root, "check"))
    kind = flow.parameters.get(name, "")
    if "&" in kind and "const" not in kind:
        # It may be written to as well, and a copy would then take the result.
        return Hit(start, end, message, args, _check_fix(context, first.node, name, "check"))
    return Hit(start, end, message, args, _copy_fix(context, function, flow, accesses))


def _copies(env: dict[str, Tensor | None], name: str) -> Iterable[tuple[str, Tensor]]:
    return ((copy, known) for copy, known in env.items() if known is not None and known.copy_of == name)


def _at(node: Node | None, zh: str, en: str) -> tuple[Related, ...]:
    return (Related(node.start_byte, node.end_byte, {"zh": zh, "en": en}),) if node is not None else ()


def _statement(node: Node) -> Node | None:
    """The statement around ``node`` that stands directly in a block."""
    here: Node | None = node
    while here is not None and not (here.parent is not None and here.parent.type == "compound_statement"):
        here = here.parent
    return here


def _line_before(context: Context, statement: Node, text: str) -> Edit:
    """A line of its own before a statement, indented as that is."""
    line = context.data.rfind(b"\n", 0, statement.start_byte) + 1
    lead = context.data[line : statement.start_byte]
    indent = lead.decode() if not lead.strip() else " "
    newline = "\r\n" if context.data[max(line - 2, 0) : line] == b"\r\n" else "\n"
    return Edit(statement.start_byte, statement.start_byte, f"{text}{newline}{indent}")


def _check_fix(context: Context, node: Node, name: str, title: str) -> Fix | None:
    statement = _statement(node)
    # Inside a lambda the check would come too late to be seen by the caller.
    if statement is None or ancestor(node, "lambda_expression") is not None:
        return None
    text = f'TORCH_CHECK({name}.is_contiguous(), "{name} must be contiguous");'
    return Fix((_line_before(context, statement, text),), title, "suggestion")


def _copy_fix(context: Context, function: Node, flow: Flow, accesses: list[Access]) -> Fix | None:
    first = accesses[0]
    name, body = first.name, function.child_by_field_name("body")
    if not name or body is None:
        return None
    if name not in flow.parameters:
        made = first.tensor.made
        # Within the access itself the copy would be gone at the end of the statement.
        outside = made is not None and made.end_byte <= first.node.start_byte
        return Fix((Edit(made.end_byte, made.end_byte, ".contiguous()"),)) if made is not None and outside else None
    statement = first.node
    while statement.parent is not None and statement.parent != body:
        statement = statement.parent
    kind = flow.parameters[name]
    if "&" not in kind and "const" not in kind:
        return Fix((_line_before(context, statement, f"{name} = {name}.contiguous();"),))
    copy = f"{name}_contig"
    if copy.encode() in context.file.words:
        return None
    # The size of the storage has to be the copy's too, hence all uses of it and not only this one.
    uses = re.compile(_RAW_USE % re.escape(name.encode()))
    edits = [
        Edit(m.start(), m.end(), copy) for m in uses.finditer(context.code, statement.start_byte, function.end_byte)
    ]
    plain = re.sub(r"\bconst\b|&", "", kind).strip()
    return Fix((_line_before(context, statement, f"{plain} {copy} = {name}.contiguous();"), *edits))


def _copied_back(context: Context, function: Node, access: Access) -> bool:
    """Whether the copy reaches the caller: copied back, assigned, returned, or never a real copy."""
    root, copy = re.escape(access.tensor.root.encode()), re.escape(access.name.encode())
    body = context.code[function.start_byte : function.end_byte]
    checked = rb"\b%s\s*\.\s*(?:is_contiguous|copy_|set_|set_data|is_same|resize_)\s*\(" % root
    if re.search(checked, body) or re.search(rb"(?i)contig\w*\s*\(\s*%s\s*[,)]" % root, body):
        return True
    return (
        bool(access.name)
        and re.search(rb"\breturn\b[^;]*\b%s\b|\bcopy_\w*\s*\([^;]*\b%s\b" % (copy, copy), body) is not None
    )


def _output_hit(context: Context, access: Access, made: Node) -> Hit:
    root = access.tensor.root
    args = {"name": root, "copy": access.name or context.text(access.base)}
    related = _at(access.node, "kernel 写入的是这块内存", "this is the memory the kernel fills")
    return Hit(
        made.start_byte, made.end_byte, args=args, fix=_check_fix(context, made, root, "default"), related=related
    )
