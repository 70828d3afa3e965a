"""Tile shapes of PyPTO kernels, and the views cut out of tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import Kernel, functions, inner, is_stub, kernels, reached, scope_of
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related, Severity
from opdev.syntax import py
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_SETTERS = ("set_vec_tile_shapes", "set_cube_tile_shapes")
_SET = re.compile(rb"\bset_(?:vec|cube)_tile_shapes[ \t]*\(")
_CALLED = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)((?:\.\w+)*)[ \t]*\(")
_BUILTIN = frozenset(
    [
        "range",
        "len",
        "min",
        "max",
        "int",
        "float",
        "bool",
        "abs",
        "sum",
        "enumerate",
        "zip",
        "isinstance",
        "print",
        "tuple",
        "list",
        "str",
        "round",
        "all",
        "any",
        "sorted",
        "set",
        "reversed",
        "getattr",
        "hasattr",
        "super",
        "type",
        "repr",
        "divmod",
        "map",
        "filter",
        "dict",
    ]
)
_SHAPE = re.compile(r"(?P<name>\w+)\.shape(?:\[(?P<index>-?\d+)\])?")


def _calls(context: Context) -> Iterator[py.Call]:
    for call in py.calls(context, *_SETTERS):
        if "." in call.dotted:
            yield call


def runtime_tile_shape(context: Context) -> Iterator[Hit]:
    """A tile size that is not known when the kernel is compiled."""
    traced = kernels(context)
    if not traced:
        return
    for call in _calls(context):
        kernel = next((k for k in traced if k.owns(call.node)), None)
        if kernel is None:
            continue
        given = [*call.args, *(v for k, v in call.keywords.items() if k in ("m", "k", "n"))]
        limit = 3 if call.name == _SETTERS[1] else len(given)
        for leaf in _leaves(given[:limit]):
            verdict = _judge(context, kernel, leaf)
            if verdict is None:
                continue
            key, what, origin = verdict
            related: tuple[Related, ...] = ()
            if origin is not None and origin != leaf:
                note = {"zh": f"{what} 从这里来", "en": f"where {what} comes from"}
                related = (Related(origin.start_byte, origin.end_byte, note),)
            args = {"written": context.text(leaf), "what": what, "call": call.name}
            yield Hit(leaf.start_byte, leaf.end_byte, key, args, None, _severity(key, leaf), related)


def _severity(key: str, leaf: Node) -> Severity | None:
    """What the framework takes is no error; of a settings object only its maker knows how constant it is."""
    if key == "named":
        return "warning"
    if key == "parameter":
        return "info" if leaf.type in ("attribute", "subscript", "list_splat") else "warning"
    return None


def _leaves(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.type in ("list", "tuple"):
            yield from _leaves([n for n in node.named_children if n.type != "comment"])
        else:
            yield node


_Verdict = tuple[str, str, "Node | None"]


def _judge(context: Context, kernel: Kernel, node: Node, depth: int = 10) -> _Verdict | None:
    """Why a tile size is none: (message, the name to blame, where it comes from); None where nothing speaks against it."""
    if not depth:
        return None
    if node.type == "integer":
        return ("nonpositive", context.text(node), None) if int(_digits(context.text(node)), 0) <= 0 else None
    if node.type == "unary_operator" and context.text(node).startswith("-") and context.text(node)[1:].isdigit():
        return "nonpositive", context.text(node), None
    if node.type == "float":
        return "float", context.text(node), None
    if node.type == "identifier":
        return _name(context, kernel, node, depth)
    if node.type in ("list_splat", "parenthesized_expression"):
        inside = inner(node)
        return _judge(context, kernel, inside, depth) if inside is not None else None
    if node.type in ("subscript", "attribute"):
        shape = _SHAPE.match(context.text(node))
        if shape is not None:
            key = _moving(context, kernel, shape)
            return (key, context.text(node), node) if key is not None else None
        value = node.child_by_field_name("value") or node.child_by_field_name("object")
        return _judge(context, kernel, value, depth - 1) if value is not None else None
    if node.type in ("binary_operator", "conditional_expression", "call"):
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        parts = node.named_children if callee is None else (arguments.named_children if arguments is not None else [])
        for part in parts:
            found = (
                _judge(context, kernel, part, depth - 1) if part.type not in ("integer", "keyword_argument") else None
            )
            if found is not None:
                return found
    return None


def _digits(written: str) -> str:
    return "0" if not re.fullmatch(r"0[xXbBoO][\da-fA-F_]+|[1-9][\d_]*|0+", written) else written.replace("_", "")


def _bindings(context: Context, kernel: Kernel, name: str) -> list[tuple[Node, Node]]:
    """(name, statement) of each assignment and loop in a kernel's own scope that gives a name its value, in text order."""

    def collect() -> list[tuple[Node, Node]]:
        found = []
        # Plain text first: a search for it is many times faster than one that begins by looking behind.
        pattern = re.compile(rb"%s(?!\w)(?=\s*(?:=(?!=)|in\b))" % re.escape(name.encode()))
        for match in pattern.finditer(context.code, kernel.body.start_byte, kernel.body.end_byte):
            here = context.node_at(match.start(), match.end())
            parent = here.parent if here is not None and here.start_byte == match.start() else None
            if here is None or parent is None or parent.type not in ("assignment", "for_statement"):
                continue
            if parent.child_by_field_name("left") == here and scope_of(here) == kernel.node:
                found.append((here, parent))
        return found

    return context.file.memo(("pypto.bindings", kernel.body.start_byte, name), collect)


def _name(context: Context, kernel: Kernel, node: Node, depth: int) -> _Verdict | None:
    name = context.text(node)
    value = None
    for here, parent in _bindings(context, kernel, name):
        if here.start_byte >= node.start_byte:
            break
        if parent.type == "assignment":
            value = parent.child_by_field_name("right")
            continue
        right = parent.child_by_field_name("right")
        if right is not None and ".loop" in context.text(right):
            return "loop", name, here
    if value is not None:
        found = _judge(context, kernel, value, depth - 1)
        return (found[0], found[1], found[2] or value) if found is not None else None
    for parameter in kernel.parameters:
        if parameter.name == name:
            return ("tensor" if parameter.role == "tensor" else "parameter"), name, parameter.node
    return None


def _moving(context: Context, kernel: Kernel, shape: re.Match[str]) -> str | None:
    """Whether a shape's entry is a dynamic axis by its parameter's annotation: ``default``, or ``named`` where a name may be one."""
    parameter = kernel.tensors.get(shape["name"])
    if parameter is None or parameter.annotation is None:
        return None
    dims = next((n for n in walk(parameter.annotation) if n.type in ("list", "tuple")), None)
    entries = [n for n in dims.named_children if n.type != "comment"] if dims is not None else []
    if shape["index"] is not None:
        index = int(shape["index"])
        entries = entries[index : index + 1 or None] if -len(entries) <= index < len(entries) else []
    if any(re.search(r"\bDYN(?:AMIC)?\b|^-1$", context.text(n)) for n in entries):
        return "default"
    return "named" if any(n.type == "identifier" for n in entries) else None


def invalid_cube_tile(context: Context) -> Iterator[Hit]:
    """``set_cube_tile_shapes`` with pairs the cube cannot be cut by."""
    for call in _calls(context):
        if call.name != _SETTERS[1]:
            continue
        given = dict(zip(("m", "k", "n"), call.args, strict=False)) | {
            k: v for k, v in call.keywords.items() if k in ("m", "k", "n")
        }
        for axis, node in given.items():
            if node.type not in ("list", "tuple"):
                continue
            entries = [n for n in node.named_children if n.type != "comment"]
            args: dict[str, object] = {"axis": axis, "value": " ".join(context.text(node).split())}
            if not 2 <= len(entries) <= (3 if axis == "k" else 2):
                if not any(n.type == "list_splat" for n in entries):
                    yield Hit(node.start_byte, node.end_byte, "count", {**args, "count": len(entries)})
                continue
            if any(n.type != "integer" for n in entries):
                continue
            first, *outer = (int(_digits(context.text(n)), 0) for n in entries)
            for second in outer:
                key = "order" if first > second > 0 else "default" if first > 0 and second % first else None
                if key is not None:
                    yield Hit(node.start_byte, node.end_byte, key, {**args, "first": first, "second": second})
                    break


def missing_tile_shape(context: Context) -> Iterator[Hit]:
    """A kernel that never says how vectors or cubes are cut."""
    bare = [k for k in kernels(context) if not _SET.search(context.code, k.node.start_byte, k.node.end_byte)]
    if not bare or is_stub(context.file):
        return
    known = functions(context.file)
    brought = {
        one.bound for one in py.imports(context) if one.module.split(".")[0] not in ("pypto", "torch", "math", "typing")
    }
    for kernel in bare:
        texts = [context.code[n.start_byte : n.end_byte] for n in reached(context.file, [kernel.node]).values()]
        if any(_SET.search(one) for one in texts) or not _computes(context, kernel):
            continue
        if any(_unknown(match, kernel, known, brought) for one in texts for match in _CALLED.finditer(one)):
            continue
        where = kernel.name_node
        yield Hit(where.start_byte, where.end_byte, "default", {"name": kernel.name})


def _computes(context: Context, kernel: Kernel) -> bool:
    body = context.code[kernel.body.start_byte : kernel.body.end_byte]
    return (
        re.search(rb"(?<!\w)%s\.(?!loop\b|cond\b|set_|get_|DT_)\w+[ \t]*\(|[-+*/@]" % kernel.alias.encode(), body)
        is not None
    )


def _unknown(match: re.Match[bytes], kernel: Kernel, known: dict[str, Node], brought: set[str]) -> bool:
    """Whether a call leads out of the file: a tile shape may well be set there."""
    root, rest = match[1].decode(), match[2]
    if rest:
        return root in brought or root in ("self", "cls")
    if (
        root in known
        or root in _BUILTIN
        or root in ("if", "for", "while", "in", "not", "and", "or", "return", "assert")
    ):
        return False
    return root != kernel.name


def repeated_tile_shape(context: Context) -> Iterator[Hit]:
    """Tile shapes set once for several sub-kernels."""
    for call in _calls(context):
        statement = next((a for a in ancestors(call.node) if a.type == "expression_statement"), None)
        body = statement.parent if statement is not None else None
        function = body.parent if body is not None else None
        name = (
            function.child_by_field_name("name")
            if function is not None and function.type == "function_definition"
            else None
        )
        if function is None or name is None or not re.search(r"_kernel_impl|_impl$", context.text(name)):
            continue
        count = len(re.findall(rb"(?<![\w.])pypto_\w+[ \t]*\(", context.code[call.end : function.end_byte]))
        if count >= 2:
            yield Hit(call.start, call.end, "default", {"name": context.text(name), "count": count})


def view_rank_mismatch(context: Context) -> Iterator[Hit]:
    """A view whose shape, offsets and valid shape differ in how many axes they have."""
    for call in py.calls(context, "view"):
        if "." not in call.dotted:
            continue
        args = list(call.args)
        if args and args[0].type not in ("list", "tuple"):
            args = args[1:]
        elif len(args) < 2 and "offsets" not in call.keywords:
            continue
        shape = call.keywords.get("shape") or (args[0] if args else None)
        offsets = call.keywords.get("offsets") or (args[1] if len(args) > 1 else None)
        valid = call.keywords.get("valid_shape") or (args[2] if len(args) > 2 else None)
        rank = _rank(shape)
        for node, key in ((offsets, "default"), (valid, "valid")):
            other = _rank(node)
            if (
                node is None
                or shape is None
                or rank is None
                or other is None
                or rank == other
                or (key == "valid" and not other)
            ):
                continue
            note = {"zh": f"shape 有 {rank} 维", "en": f"the shape has {rank} axes"}
            related = (Related(shape.start_byte, shape.end_byte, note),)
            yield Hit(node.start_byte, node.end_byte, key, {"rank": rank, "other": other}, None, None, related)


def _rank(node: Node | None) -> int | None:
    if node is None or node.type not in ("list", "tuple"):
        return None
    entries = [n for n in node.named_children if n.type != "comment"]
    return None if any(n.type in ("list_splat", "list_comprehension") for n in entries) else len(entries)
