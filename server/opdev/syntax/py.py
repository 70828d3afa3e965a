"""Python as checks ask about it: calls by dotted name, imports, functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, ancestors
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_OPENS = re.compile(rb"[ \t\r\n\\]*\(")
_OPENING = re.compile(rb"\(")


@dataclass(frozen=True)
class Call:
    """One call.  ``dotted`` is the callee as written without blanks: ``torch.ops.npu.f``."""

    dotted: str
    node: Node
    file: File

    @property
    def name(self) -> str:
        return self.dotted.rpartition(".")[2]

    @cached_property
    def args(self) -> list[Node]:
        """Positional arguments."""
        found = self.node.child_by_field_name("arguments")
        if found is None or found.type != "argument_list":
            return []
        return [a for a in found.named_children if a.type not in ("comment", "keyword_argument")]

    @cached_property
    def keywords(self) -> dict[str, Node]:
        """Keyword arguments: the value's node by name."""
        found = self.node.child_by_field_name("arguments")
        out: dict[str, Node] = {}
        for child in found.named_children if found is not None else []:
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if child.type == "keyword_argument" and name is not None and value is not None:
                out[self.file.source.text(name.start_byte, name.end_byte)] = value
        return out

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte


@dataclass(frozen=True)
class Import:
    """One imported name.  ``from a.b import c as d`` has module ``a.b``, name ``c``, bound ``d``."""

    module: str
    name: str | None
    bound: str
    node: Node
    """The whole import statement."""


def calls(view: View, *names: str) -> list[Call]:
    """Calls whose callee is one of ``names`` or ends in ``.name``, in the view's range."""
    found: dict[int, Call] = {}
    for wanted in names:
        last = wanted.rpartition(".")[2]
        for at in view.find(last):
            if _OPENS.match(view.code, at + len(last)) is None:
                continue
            call = call_at(view.file, at, at + len(last))
            if call is not None and (call.dotted == wanted or call.dotted.endswith("." + wanted)):
                found.setdefault(at, call)
    return [found[at] for at in sorted(found)]


def used_as(view: View, word: str, kind: str, field: str) -> Iterator[tuple[Node, Node]]:
    """(name, parent) of each use of a word that is the ``field`` of a parent of this kind, in text order."""
    for at in view.find(word):
        node = view.node_at(at, at + len(word))
        parent = node.parent if node is not None else None
        if (
            node is not None
            and parent is not None
            and parent.type == kind
            and parent.child_by_field_name(field) == node
        ):
            yield node, parent


def call_at(file: File, start: int, end: int) -> Call | None:
    """The call whose callee's last name is at ``[start, end)``."""
    return file.memo(("py.call", start, end), lambda: _call_at(file, start, end))


def _call_at(file: File, start: int, end: int) -> Call | None:
    node = file.root.named_descendant_for_byte_range(start, end - 1)
    if node is None or node.start_byte != start or node.type != "identifier":
        return None
    here = node
    if here.parent is not None and here.parent.type == "attribute":
        if here.parent.child_by_field_name("attribute") != here:
            return None
        here = here.parent
    parent = here.parent
    if parent is None or parent.type != "call" or parent.child_by_field_name("function") != here:
        return None
    return Call(_dotted(file, here), parent, file)


def all_calls(view: View) -> list[Call]:
    """Every call in the range, in text order."""

    def collect() -> list[Call]:
        found = []
        file = view.file
        # Every call has a parenthesis; to ask the tree at each is far cheaper than to walk all of it.
        for match in _OPENING.finditer(file.nocomment):
            at = match.start()
            arguments = file.root.named_descendant_for_byte_range(at, at)
            call = arguments.parent if arguments is not None and arguments.start_byte == at else None
            if call is None or call.type != "call" or call.child_by_field_name("arguments") != arguments:
                continue
            function = call.child_by_field_name("function")
            if function is not None:
                found.append(Call(_dotted(file, function), call, file))
        found.sort(key=lambda call: (call.start, -call.end))
        return found

    every = view.file.memo("py.calls", collect)
    return [c for c in every if view.start <= c.start < view.end]


def imports(view: View) -> list[Import]:
    """Every imported name of the file, in text order."""

    def collect() -> list[Import]:
        found: list[Import] = []
        for node in View(view.file, 0, len(view.file.data)).nodes(
            "import", "import_statement", "import_from_statement"
        ):
            found += _imported(view.file, node)
        return found

    return view.file.memo("py.imports", collect)


def _imported(file: File, node: Node) -> list[Import]:
    module_node = node.child_by_field_name("module_name")
    module = file.source.text(module_node.start_byte, module_node.end_byte) if module_node is not None else ""
    found: list[Import] = []
    for child in node.children_by_field_name("name"):
        target, alias = child, None
        if child.type == "aliased_import":
            target, alias = child.child_by_field_name("name") or child, child.child_by_field_name("alias")
        name = file.source.text(target.start_byte, target.end_byte)
        bound = file.source.text(alias.start_byte, alias.end_byte) if alias is not None else name
        if module_node is None:
            found.append(Import(name, None, bound if alias is not None else name.split(".", 1)[0], node))
        else:
            found.append(Import(module, name, bound, node))
    if module_node is not None and any(c.type == "wildcard_import" for c in node.children):
        found.append(Import(module, "*", "*", node))
    return found


def function_of(node: Node) -> Node | None:
    """The innermost function definition (or lambda) around a node."""
    return ancestor(node, "function_definition", "lambda")


def is_module_level(node: Node) -> bool:
    """Whether a node runs when the module is imported (not inside a function)."""
    return all(a.type not in ("function_definition", "lambda") for a in ancestors(node))


def string_value(file: File, node: Node) -> str | None:
    """The text of a plain string literal, escapes as written; None for f-strings with fields and anything else."""
    if node.type == "concatenated_string":
        parts = [string_value(file, c) for c in node.named_children]
        return None if any(p is None for p in parts) else "".join(p for p in parts if p is not None)
    if node.type != "string" or any(c.type == "interpolation" for c in node.children):
        return None
    text = file.source.text(node.start_byte, node.end_byte)
    match = re.fullmatch(r"(?s)[a-zA-Z]*('''|\"\"\"|'|\")(.*)\1", text)
    return match.group(2) if match else None


def _dotted(file: File, node: Node) -> str:
    return re.sub(rb"\s+", b"", file.data[node.start_byte : node.end_byte]).decode("utf-8", "replace")
