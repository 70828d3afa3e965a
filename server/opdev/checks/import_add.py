"""Adding an import at the top of a Python file, where an author would put it."""

from __future__ import annotations

from opdev.rules.context import Context
from opdev.rules.model import Edit
from opdev.syntax import py


def add_import(context: Context, line: str) -> Edit | None:
    """The edit that adds ``line``; None where no plain place for it exists.

    After the last import statement at module level that stands on lines of its own; else before
    the first statement that is neither docstring nor comment.
    """
    source = context.file.source
    anchor = first = None
    for node in context.file.root.named_children:
        if node.type in ("import_statement", "import_from_statement", "future_import_statement"):
            anchor = node
        elif node.type == "comment" or (node.start_byte == 0 and node.type == "expression_statement"):
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


def binds(context: Context, name: str) -> bool:
    """Whether an import of the file binds ``name`` (at any level)."""
    return any(one.bound == name for one in py.imports(context))
