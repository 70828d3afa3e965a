"""Where an address taken of a tensor goes: to a kernel, or only to a log line or a free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.tensor_flow import Access
from opdev.syntax.cpp import last_name
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_HARMLESS = re.compile(
    r"(?i:\w*free\w*|\w*print\w*|TORCH_\w+|\w*CHECK\w*|assert|to_string|log_\w+|is_aligned\w*|\w*prefetch\w*|\w*cmo\w*)|\w*LOG\w*|\w*_log"
)


def is_handed_on(file: File, access: Access, function: Node) -> bool:
    """Whether the memory goes to another call, a field or an array; not for a log line or a free."""
    variable = None
    here = access.node
    while (above := here.parent) is not None:
        if above.type == "binary_expression":
            operator = above.child_by_field_name("operator")
            if operator is not None and operator.type not in ("+", "-"):
                return False
        if above.type == "argument_list" and above.parent is not None and above.parent.type == "call_expression":
            called = _called(file, above.parent)
            if not called.endswith("_cast"):
                return not _HARMLESS.fullmatch(called)
        if above.type in ("init_declarator", "assignment_expression"):
            left = above.child_by_field_name("declarator") or above.child_by_field_name("left")
            variable = _identifier(left) if left is not None else None
            if variable is None:
                return above.type == "assignment_expression"
            break
        if above.type.endswith("_statement") or above.type in ("declaration", "lambda_expression"):
            return False
        here = above
    return variable is not None and any(_uses(file, variable, function))


def _uses(file: File, variable: Node, function: Node) -> Iterator[bool]:
    name = re.compile(rb"\b" + re.escape(file.data[variable.start_byte : variable.end_byte]) + rb"\b")
    for match in name.finditer(file.code, variable.end_byte, function.end_byte):
        node = file.root.named_descendant_for_byte_range(match.start(), match.end() - 1)
        listed = ancestor(node, "argument_list", "expression_statement", "declaration", "return_statement")
        while listed is not None and listed.type == "argument_list" and listed.parent is not None:
            called = _called(file, listed.parent)
            if not called.endswith("_cast"):
                yield not _HARMLESS.fullmatch(called)
                break
            listed = ancestor(listed, "argument_list", "expression_statement", "declaration", "return_statement")


def _called(file: File, call: Node) -> str:
    function = call.child_by_field_name("function")
    name = last_name(function) if function is not None else None
    return file.source.text(name.start_byte, name.end_byte).split("<", 1)[0] if name is not None else ""


def _identifier(node: Node) -> Node | None:
    return next((n for n in walk(node) if n.type == "identifier"), None) if "subscript" not in node.type else None
