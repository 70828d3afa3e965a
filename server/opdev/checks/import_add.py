"""Adding an import at the top of a Python file, where an author would put it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit
from opdev.syntax import py

if TYPE_CHECKING:
    from tree_sitter import Node


def add_import(context: Context, line: str) -> Edit | None:
    """The edit that adds ``line``; None where no plain place for it exists.

    After the last import statement at module level that stands on lines of its own; else before
    the first statement that is neither docstring nor comment.
    """
    source = context.file.source
    anchor = first = None
    statements = [n for n in context.file.root.named_children if n.type != "comment"]
    docstring = statements[0] if statements and _is_string(statements[0]) else None
    for node in context.file.root.named_children:
        if node.type in ("import_statement", "import_from_statement", "future_import_statement"):
            anchor = node
        elif node.type == "comment" or node == docstring:
            continue
        else:
            first = node
            break
    if anchor is None:
        if first is None:
            return None
        at = source.line_starts[first.start_point[0]]
        return Edit(at, at, line + "\n\n")
    row = source.line_of(anchor.end_byte)
    behind = context.data[anchor.end_byte : source.line_range(row)[1]].strip()
    if row + 1 >= len(source.line_starts) or (behind and not behind.startswith(b"#")):
        return None
    at = source.line_starts[row + 1]
    return Edit(at, at, line + "\n")


def _is_string(statement: Node) -> bool:
    parts = statement.named_children
    return statement.type == "expression_statement" and len(parts) == 1 and parts[0].type == "string"


def binds(context: Context, name: str) -> bool:
    """Whether an import of the file binds ``name`` (at any level)."""
    return any(one.bound == name for one in py.imports(context))
