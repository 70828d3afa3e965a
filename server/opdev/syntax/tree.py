"""Small questions every language asks of a tree-sitter node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def span(node: Node) -> tuple[int, int]:
    """The bytes a node covers: where it begins, and where it has ended."""
    return node.start_byte, node.end_byte


def walk(node: Node) -> Iterator[Node]:
    """``node`` and all below it, in text order, without recursion."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(here.children))


def ancestor(node: Node | None, *types: str) -> Node | None:
    """The nearest node of one of ``types`` strictly above ``node``."""
    here = node.parent if node is not None else None
    while here is not None and here.type not in types:
        here = here.parent
    return here


def ancestors(node: Node) -> Iterator[Node]:
    """All nodes above ``node``, nearest first."""
    here = node.parent
    while here is not None:
        yield here
        here = here.parent


def errors(root: Node) -> list[Node]:
    """Error and missing nodes; empty for a tree that parsed."""
    found: list[Node] = []
    stack = [root] if root.has_error else []
    while stack:
        here = stack.pop()
        if here.type == "ERROR" or here.is_missing:
            found.append(here)
        stack.extend(child for child in here.children if child.has_error or child.is_missing)
    return found


def raw(data: bytes, node: Node) -> bytes:
    """Bytes of a node (taken from the file, not from the masked text)."""
    return data[node.start_byte : node.end_byte]


def text(data: bytes, node: Node) -> str:
    """Text of a node, undecodable bytes replaced."""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")
