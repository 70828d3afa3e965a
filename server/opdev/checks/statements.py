"""Where a statement begins: the place new lines go when a fix adds some.

Works on shell and CMake trees alike: both nest statements in bodies, and both read best when the
new line stands at the indentation of the line it precedes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opdev.rules.model import Edit
from opdev.syntax.tree import ancestors
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_BODIES = {"program", "source_file", "do_group", "body"}
_TOPS = {"program", "source_file"}
_FUNCTIONS = {"function_definition", "function_def", "macro_def"}


def statement(node: Node) -> Node:
    """The statement a node is part of: the outermost node below the nearest body."""
    here = node
    for above in ancestors(node):
        if above.type in _BODIES or (above.type == "compound_statement" and _is_function_body(above)):
            return here
        here = above
    return here


def outer_statement(node: Node) -> Node:
    """As ``statement``, but outside all loops and branches: below the file or the function's body."""
    here = node
    for above in ancestors(node):
        if above.type in _TOPS or (above.type == "compound_statement" and _is_function_body(above)):
            return here
        if above.type == "body" and above.parent is not None and above.parent.type in _FUNCTIONS:
            return here
        here = above
    return here


def top_statement(node: Node) -> Node:
    """The node's ancestor (or itself) right below the file."""
    here = node
    for above in ancestors(node):
        if above.type in _TOPS:
            return here
        here = above
    return here


def lines_before(view: View, node: Node, *lines: str) -> Edit:
    """New lines before the line ``node`` begins on, indented as that line is."""
    data = view.data
    begin = data.rfind(b"\n", 0, node.start_byte) + 1
    return Edit(begin, begin, "".join(f"{indent_at(data, begin)}{line}".rstrip() + "\n" for line in lines))


def lines_after(view: View, node: Node, *lines: str) -> Edit:
    """New lines after the line ``node`` ends on, indented as the line it begins on is."""
    data = view.data
    begin = data.rfind(b"\n", 0, node.start_byte) + 1
    indent = indent_at(data, begin)
    end = data.find(b"\n", max(node.end_byte - 1, node.start_byte))
    text = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)
    return Edit(len(data), len(data), "\n" + text) if end < 0 else Edit(end + 1, end + 1, text)


def line_removed(view: View, node: Node) -> Edit:
    """Take out the lines a node stands on."""
    data = view.data
    begin = data.rfind(b"\n", 0, node.start_byte) + 1
    end = data.find(b"\n", max(node.end_byte - 1, node.start_byte))
    return Edit(begin, len(data) if end < 0 else end + 1, "")


def indent_at(data: bytes, begin: int) -> str:
    """The blanks a line starts with."""
    end = begin
    while end < len(data) and data[end] in b" \t":
        end += 1
    return data[begin:end].decode()


def _is_function_body(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "function_definition"
