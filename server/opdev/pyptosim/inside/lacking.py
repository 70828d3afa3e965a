"""Names of ``pypto`` that the user's files use and this version does not have, each with its place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any


def lacking(paths: Iterable[str], known: Iterable[str]) -> Iterator[dict[str, Any]]:
    """``{name, path, line, column}`` of every use; a file that cannot be parsed is the test's to tell."""
    names = frozenset(known)
    for path in paths:
        try:
            with open(path, "rb") as stream:
                tree = ast.parse(stream.read(), path)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        called = {
            alias.asname or alias.name
            for node in ast.walk(tree) if isinstance(node, ast.Import)
            for alias in node.names if alias.name == "pypto"
        }  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
                found, at = node.attr, node.value
            elif isinstance(node, ast.ImportFrom) and node.module == "pypto" and not node.level:
                for alias in node.names:
                    if alias.name != "*" and alias.name not in names:
                        yield _place(alias.name, path, node)
                continue
            else:
                continue
            if found not in names:
                yield _place(found, path, at)


def _place(name: str, path: str, node: Any) -> dict[str, Any]:
    return {"name": f"pypto.{name}", "path": path, "line": node.lineno, "column": node.col_offset + 1}
