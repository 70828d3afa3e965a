"""Files that gen_data.py writes and check_result.py reads: the same name has the same type on both sides.

Types and names are compared only where both sides spell them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_DTYPE = re.compile(r"""(?:(?:np|numpy|ml_dtypes|torch)\.)?(?P<t>[a-z]+\d*)(?:_)?|["'](?P<s>[a-z]+\d*)["']""")
_SIZES = {
    "float16": 2, "half": 2, "bfloat16": 2, "float32": 4, "single": 4, "float64": 8, "double": 8, "int8": 1, "uint8": 1,
    "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
}  # fmt: skip
_SAME = {"half": "float16", "single": "float32", "double": "float64"}
_MAKERS = re.compile(
    r"(?:np|numpy)\.(?:zeros|ones|full|empty|arange|array|asarray|ascontiguousarray|zeros_like|ones_like|full_like|linspace)"
)
_RAW = {"uint8", "int8", "uint16", "int16", "uint32", "uint64"}


@dataclass(frozen=True)
class Access:
    """One read or write of a data file: its name with ``{}`` for fields, its type's node and name."""

    name: str
    dtype: str
    node: Node
    file: File


def data_type_mismatch(context: Context) -> Iterator[Hit]:
    """A file read in another type than gen_data.py wrote it in."""
    project = context.project
    if project is None:
        return
    reads = list(_reads(context))
    if not reads:
        return
    written: dict[str, list[Access | None]] = {}
    for file in project.files("golden"):
        if file.path != context.file.path and file.language == "python":
            for name, access in _writes(View(file, 0, len(file.data))):
                written.setdefault(name, []).append(access)
    for read in reads:
        known = written.get(read.name, [])
        types = {a.dtype for a in known if a is not None}
        # Written in several types, or somewhere in a type the text does not say: nobody knows.
        if len(types) != 1 or None in known or read.dtype in types:
            continue
        wrote = next(a for a in known if a is not None)
        if read.dtype in _RAW and (read.dtype.endswith("8") or _SIZES[read.dtype] == _SIZES[wrote.dtype]):
            continue  # raw bits
        args = {
            "file": read.name,
            "read": read.dtype,
            "written": wrote.dtype,
            "writer": wrote.file.path.rpartition("/")[2],
        }
        note = {"zh": f"这里以 {wrote.dtype} 写入", "en": f"written as {wrote.dtype} here"}
        related = (Related(wrote.node.start_byte, wrote.node.end_byte, note, wrote.file.path),)
        yield Hit(read.node.start_byte, read.node.end_byte, args=args, fix=_fix(context, read, wrote), related=related)


def _fix(context: Context, read: Access, wrote: Access) -> Fix | None:
    text = context.text(read.node)
    match = re.fullmatch(r"(np|numpy)\.\w+|([\"'])\w+[\"']", text)
    if match is None or wrote.dtype == "bfloat16":
        return None
    new = f"{match[1]}.{wrote.dtype}" if match[1] else f"{match[2]}{wrote.dtype}{match[2]}"
    return Fix((Edit(read.node.start_byte, read.node.end_byte, new),))


def _reads(view: View) -> Iterator[Access]:
    for call in py.calls(view, "fromfile"):
        node = call.keywords.get("dtype") or (call.args[1] if len(call.args) > 1 else None)
        dtype = _dtype(view, node)
        name = file_name(view, call.args[0]) if call.args else None
        if node is not None and dtype is not None and name is not None:
            yield Access(name, dtype, node, view.file)


def _writes(view: View) -> Iterator[tuple[str, Access | None]]:
    """Every file written: its name, and its type where the text says it."""
    for call in py.calls(view, "tofile"):
        name = file_name(view, call.args[0]) if call.args else None
        function = call.node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        if name is None or owner is None:
            continue
        node = _type_of(view, owner, call.node)
        dtype = _dtype(view, node)
        yield name, Access(name, dtype, node, view.file) if node is not None and dtype is not None else None


def _type_of(view: View, node: Node, at: Node) -> Node | None:
    """The node that spells the type of an array: ``x.astype(T)``, ``np.zeros(n, dtype=T)``, a name of either."""
    if node.type == "parenthesized_expression" and node.named_children:
        return _type_of(view, node.named_children[0], at)
    if node.type == "identifier":
        given = _assigned(view, view.text(node), at)
        return _type_of(view, given, given) if given is not None and given.type == "call" else None
    function = node.child_by_field_name("function") if node.type == "call" else None
    if function is None:
        return None
    called = view.text(function)
    listed = node.child_by_field_name("arguments")
    given_args = [n for n in listed.named_children if n.type != "comment"] if listed is not None else []
    for argument in given_args:
        keyword = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if (
            keyword is not None
            and view.text(keyword) == "dtype"
            and (called.endswith(".astype") or _MAKERS.fullmatch(called))
        ):
            return argument.child_by_field_name("value")
    if called.endswith(".astype") and given_args and given_args[0].type != "keyword_argument":
        return given_args[0]
    owner = function.child_by_field_name("object")
    if owner is not None and re.search(r"\.(?:reshape|ravel|flatten|copy|transpose)$", called):
        return _type_of(view, owner, at)
    return None


def _assigned(view: View, name: str, at: Node) -> Node | None:
    """The one value a name is given in the function around ``at``; None for several, or none."""
    around = ancestor(at, "function_definition") or view.file.root
    found: list[Node | None] = []
    for node in walk(around):
        if node.type in ("assignment", "augmented_assignment", "for_statement", "named_expression"):
            left = node.child_by_field_name("left")
            if left is not None and re.search(rf"(?<![\w.]){re.escape(name)}(?![\w\[])", view.text(left)):
                plain = node.type == "assignment" and left.type == "identifier"
                found.append(node.child_by_field_name("right") if plain else None)
    return found[0] if len(found) == 1 else None


def _dtype(view: View, node: Node | None) -> str | None:
    match = _DTYPE.fullmatch(view.text(node)) if node is not None else None
    name = (match["t"] or match["s"]) if match is not None else ""
    name = _SAME.get(name, name)
    return name if name in _SIZES else None


def file_name(view: View, node: Node) -> str | None:
    """The last part of a path, its fields as ``{}``; None unless it is spelled out."""
    strings = [n for n in walk(node) if n.type == "string"]
    if (
        not strings
        or strings[-1].end_byte < node.end_byte - 1
        or ancestor(strings[-1], "conditional_expression") is not None
    ):
        return None
    text = view.text(strings[-1])
    body = re.fullmatch(r"""(?s)[fFrR]*(["'])(.*)\1""", text)
    if body is None:
        return None
    name = re.sub(r"\{[^{}]*\}|%\d*d|%s", "{}", body[2]).rpartition("/")[2]
    return name if re.search(r"\.\w+$", name) and not name.startswith("{}.") else None
