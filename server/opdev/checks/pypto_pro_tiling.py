"""Tiling parameters of PyPTO-Pro kernels: the dataclass that is one, where it stands, and what is read of it.

The class is turned into a C struct when the kernel is compiled; only numbers and arrays of a fixed length fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import Parameter, parameters
from opdev.facts.pypto_pro import Traced, is_exempt, traced
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import ancestor, span, text

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS = re.compile(
    rb"^@(?:dataclasses\.)?dataclass\b[^\n]*\n(?:[ \t]*(?:@[^\n]*|#[^\n]*)?\n)*class[ \t]+(\w+)", re.MULTILINE
)
_FUTURE = re.compile(rb"^from[ \t]+__future__[ \t]+import\b[^\n]*\bannotations\b", re.MULTILINE)
_DOCSTRING = ("string", "concatenated_string")
_TYPES = ("int", "float", "bool")
_LONGEST = 2048
_ARRAY = re.compile(r"(\w+)\s*\[(.*)\]", re.DOTALL)
_LONGER = re.compile(rb"[\w.]")
_INTEGER = re.compile(r"\d[\d_]*")


@dataclass(frozen=True)
class _Field:
    """A field as written; ``size`` is None for a plain number, and for an array whose length is none."""

    name: Node
    annotation: Node
    is_array: bool
    size: int | None


@dataclass(frozen=True)
class _Tiling:
    name: str
    body: Node
    fields: Mapping[str, _Field] = field(default_factory=dict)


def invalid_tiling(context: Context) -> Iterator[Hit]:
    """A tiling class that makes no struct, a parameter of one in the wrong place, a read that finds nothing."""
    classes = {m[1].decode(): m for m in _CLASS.finditer(context.code)}
    if not classes or not _is_asked_for(context, classes) or is_exempt(context):
        return
    known: dict[str, _Tiling] = {}
    told: set[str] = set()
    for kernel in traced(context, "jit"):
        every = list(parameters(context.file, kernel.node))
        own = [(p, p.annotation) for p in every if p.annotation is not None and context.text(p.annotation) in classes]
        for position, (parameter, annotation) in enumerate(own):
            name = context.text(annotation)
            if name not in known:
                tiling = _read(context, name, classes[name])
                if tiling is None:
                    continue
                known[name] = tiling
            tiling = known[name]
            if not tiling.fields:
                continue
            if name not in told:
                told.add(name)
                yield from _fields(context, tiling, kernel)
            if position:
                yield Hit(*span(parameter.node), "second", {"name": parameter.name, "kernel": kernel.name})
            elif len(own) == 1 and every[-1] is not parameter:
                yield Hit(*span(parameter.node), "last", {"name": parameter.name, "kernel": kernel.name})
            yield from _reads(context, kernel, parameter, tiling)


def _is_asked_for(context: Context, names: Iterable[str]) -> bool:
    """Whether any parameter may be one of these: most files with a dataclass have no such kernel."""
    words = "|".join(re.escape(name) for name in names)
    return re.search(rf":[ \t]*(?:{words})[ \t]*[,)=\n]".encode(), context.code) is not None


def _read(context: Context, name: str, match: re.Match[bytes]) -> _Tiling | None:
    node = context.node_at(match.start(1), match.end(1))
    holder = ancestor(node, "class_definition") if node is not None else None
    body = holder.child_by_field_name("body") if holder is not None else None
    if holder is None or body is None or holder.child_by_field_name("superclasses") is not None:
        return None
    fields: dict[str, _Field] = {}
    for left, annotation in _annotated(body):
        match_ = _ARRAY.fullmatch(context.text(annotation).strip("'\" "))
        size = match_[2].strip() if match_ is not None else ""
        one = _Field(left, annotation, match_ is not None, int(size) if _INTEGER.fullmatch(size) else None)
        fields.setdefault(context.text(left), one)
    return _Tiling(name, body, fields)


def _annotated(body: Node) -> Iterator[tuple[Node, Node]]:
    """(name, type) of each annotated name of a class, in text order."""
    for statement in body.named_children:
        inner = statement.named_children[0] if statement.named_child_count else None
        if statement.type != "expression_statement" or inner is None or inner.type != "assignment":
            continue
        left, annotation = inner.child_by_field_name("left"), inner.child_by_field_name("type")
        if left is not None and annotation is not None and left.type == "identifier":
            yield left, annotation


def _fields(context: Context, tiling: _Tiling, kernel: Traced) -> Iterator[Hit]:
    """Fields no struct can have."""
    note = {"zh": f"{kernel.name} 的参数", "en": f"a parameter of {kernel.name}"}
    related = (Related(*span(kernel.name_node), note),)
    seen: set[str] = set()
    for left, _ in _annotated(tiling.body):
        name = context.text(left)
        if name in seen:
            yield Hit(*span(left), "twice", {"name": name, "tiling": tiling.name}, None, None, related)
        seen.add(name)
    future = context.spans(_FUTURE, "nocomment")
    for name, one in tiling.fields.items():
        written = context.text(one.annotation).strip("'\" ")
        quoted = one.annotation.named_child_count == 1 and one.annotation.named_children[0].type in _DOCSTRING
        args = {"name": name, "tiling": tiling.name, "written": written}
        base = written.partition("[")[0].strip()
        if base not in _TYPES:
            yield Hit(*span(one.annotation), "type", args, None, None, related)
        elif one.is_array and (one.size is None or not 0 < one.size <= _LONGEST):
            yield Hit(*span(one.annotation), "size", {**args, "most": _LONGEST}, None, None, related)
        elif one.is_array and not future and not quoted:
            yield Hit(*span(one.annotation), "future", args, _future(context), None, related)
            return


def _future(context: Context) -> Fix:
    """``from __future__ import annotations`` behind the docstring and the comments at the top."""
    at = 0
    for child in context.file.root.named_children:
        is_text = (
            child.type == "expression_statement"
            and child.named_child_count
            and child.named_children[0].type in _DOCSTRING
        )
        if child.type == "comment":
            continue
        if is_text:
            end = context.data.find(b"\n", child.end_byte)
            return Fix((Edit(end + 1, end + 1, "from __future__ import annotations\n"),))
        at = child.start_byte
        break
    return Fix((Edit(at, at, "from __future__ import annotations\n"),))


def _reads(context: Context, kernel: Traced, parameter: Parameter, tiling: _Tiling) -> Iterator[Hit]:
    """``tiling.field`` and ``tiling.field[i]`` in the kernel."""
    # It begins with plain text, which is searched for many times faster than what has to be tried at every place.
    pattern = re.compile(rb"%s[ \t]*\.[ \t]*(\w+)" % re.escape(parameter.name.encode()))
    for match in pattern.finditer(context.code, *kernel.lines):
        if _LONGER.match(context.code, match.start() - 1):
            continue
        node = context.node_at(match.start(1), match.end(1))
        holder = node.parent if node is not None else None
        if (
            node is None
            or holder is None
            or holder.type != "attribute"
            or holder.child_by_field_name("attribute") != node
        ):
            continue
        name = match[1].decode()
        one = tiling.fields.get(name)
        args: dict[str, object] = {"name": name, "tiling": tiling.name, "parameter": parameter.name}
        if one is None:
            yield Hit(*span(node), "field", {**args, "known": ", ".join(tiling.fields)})
            continue
        subscript = holder.parent
        if subscript is None or subscript.type != "subscript" or subscript.child_by_field_name("value") != holder:
            continue
        indices = subscript.children_by_field_name("subscript")
        if not one.is_array:
            yield Hit(*span(subscript), "scalar", args)
        elif len(indices) != 1 or indices[0].type in ("slice", "string"):
            where = (indices[0].start_byte, indices[-1].end_byte) if indices else span(subscript)
            yield Hit(*where, "index", {**args, "written": text(context.data, subscript)})
        elif one.size is not None:
            value = evaluate(context.text(indices[0]), constants(context.file))
            if value is not None and not 0 <= value < one.size:
                yield Hit(*span(indices[0]), "bounds", {**args, "value": value, "size": one.size})
