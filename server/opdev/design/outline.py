"""The DSL of a design as an outline: sections, keys, and the items of its lists by their names.

For the editor's symbols and folds; what does not parse is left out and the sound part stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from opdev.design.document import DesignDocument
from opdev.design.nodes import Node

_MOST_ITEMS = 300
"""Items of one list that are shown: an outline is read by people."""
_NAMES = ("name", "case", "invariant", "id")


@dataclass(frozen=True, slots=True)
class Entry:
    """A section, key or item.  ``[start, end)`` is all of it, ``[name_start, name_end)`` what to select."""

    name: str
    detail: str
    kind: Literal["section", "key", "item"]
    start: int
    end: int
    name_start: int
    name_end: int
    children: list[Entry] = field(default_factory=list)


def outline(document: DesignDocument) -> list[Entry]:
    """The DSL's keys, three levels deep."""
    root = document.root
    return [] if root is None else [_entry(node, 0) for node in root.children if not node.alias]


def folds(document: DesignDocument) -> Iterator[tuple[int, int]]:
    """Byte ranges of what folds: mappings, lists and their items that are longer than a line."""
    root = document.root
    source = document.source
    for node in root.walk() if root is not None else ():
        if node is root or node.alias or node.kind not in ("mapping", "sequence") or node.style == "flow":
            continue
        start = node.key_start if node.key_start >= 0 else node.start
        if source.line_of(_end(node)) > source.line_of(start):
            yield start, _end(node)


def _entry(node: Node, level: int) -> Entry:
    name, detail = node.key or "", node.said.partition("\n")[0][:80] if node.kind == "scalar" else ""
    where = node.name_range
    if node.key is None:
        label = next((n for key in _NAMES if (n := node.get(key)) is not None and n.kind == "scalar"), None)
        name = (label.said if label is not None else node.said).partition("\n")[0][:80] or f"[{node.index}]"
        where = (label.start, label.end) if label is not None and label.end > label.start else where
    start = node.key_start if node.key_start >= 0 else node.start
    below = node.children[:_MOST_ITEMS] if level < 3 and (node.key is not None or level < 2) else []
    kind: Literal["section", "key", "item"] = "item" if node.key is None else "section" if level == 0 else "key"
    inner = [_entry(child, level + 1) for child in below if not child.alias and _shown(child)]
    end = max(_end(node), where[1], start)
    return Entry(name or "?", detail, kind, min(start, where[0]), end, *where, inner)


def _shown(node: Node) -> bool:
    """Single words of a list are not worth a line of the outline."""
    return node.key is not None or node.kind == "mapping"


def _end(node: Node) -> int:
    """Where the last thing said in it ends: a block's own end may be the next line's beginning."""
    last = node
    while last.children and last.style != "flow":
        inside = [c for c in last.children if not c.alias]
        if not inside:
            break
        last = inside[-1]
    return max(last.end, last.key_end)
