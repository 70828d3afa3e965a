"""Reads a fence in small pieces, and each piece of text once: a keystroke costs the piece it is in.

A long design is a list of cases and groups of a few lines each.  Every such piece is composed by itself,
placed at zero, and kept by its text; the tree of a new version is put together from copies.  Only what
surely reads the same by itself and as a part is read so: a piece with a fault, an anchor or an alias, an
odd line end or a tab makes the caller read the whole.  A test holds both ways to the same trees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from opdev.design.nodes import Node

if TYPE_CHECKING:
    from opdev.design.compose import Composer

SMALL = 600
"""Characters below which a block is not taken apart further."""
LARGEST = 4000
"""Characters of the largest piece that is kept."""
_MOST = 6000
"""Pieces kept; the least recently made go first."""
_LEVELS = 6
_FIRST = re.compile(r"^( *)(?=[^ \r\n#])", re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w.-]*) *:(?=[ \n]|\r\n|\Z)")
_ODD = re.compile("[\t\x85\u2028\u2029]")
_BARE = re.compile(r"[ ]*(?:#[^\n]*)?\r?\n")


@dataclass(frozen=True, slots=True)
class Kept:
    """A piece's tree at zero, in bytes, and how many nodes it has."""

    top: Node
    nodes: int


_kept: dict[str, Kept] = {}


def forget() -> None:
    """Read everything anew, for tests that count."""
    _kept.clear()


def known(text: str) -> Kept | None:
    """The piece of this text, if it was read before."""
    return _kept.get(text)


def keep(text: str, top: Node, start: int) -> None:
    """Remember a piece that was composed at ``start`` bytes of its document."""
    if len(_kept) >= _MOST:
        for old in list(_kept)[: _MOST // 2]:
            _kept.pop(old, None)
    tree = top.placed(-start)
    count = 0
    # All of it now: what is kept must not hold on to the document it came from.
    for node in tree.walk():
        count += 1
        if node.kind in ("mapping", "sequence"):
            node.plain = node.data()
    for node in tree.walk():
        node.let_go()
    _kept[text] = Kept(tree, count)


def plain_text(text: str) -> bool:
    """Whether lines end and begin in the one way pieces are told apart by."""
    return _ODD.search(text) is None and ("\r" not in text or text.count("\r") == text.count("\r\n"))


def assemble(composer: Composer, start: int, end: int, level: int = 0) -> Node | None:
    """``[start, end)`` from its pieces; None where they might read otherwise as a whole.

    Raises NotYamlError for a piece that does not parse by itself.
    """
    text = composer.text.text
    first = _FIRST.search(text, start, end)
    if first is None or level > _LEVELS:
        return None
    indent = len(first.group(1))
    items = text[first.end()] == "-" and text[first.end() + 1 : first.end() + 2] in (" ", "\n", "\r", "")
    if indent and _shallower(indent).search(text, first.start(), end):
        return None
    begins = [m.start() for m in _blocks(indent, items).finditer(text, first.start(), end)]
    if not begins or begins[0] != first.start():
        return None
    begin = composer.text.host(first.end())
    kind, tag = ("sequence", "seq") if items else ("mapping", "map")
    top = Node(kind, begin, begin, tag, "", "block")  # type: ignore[arg-type]  # mypy takes the pair for plain texts
    seen: set[str] = set()
    for at, stop in zip(begins, [*begins[1:], end], strict=True):
        entry = _item(composer, at, stop) if items else _entry(composer, at, at + indent, stop, level)
        if entry is None or (entry.key is not None and entry.key in seen):
            return None
        seen.add(entry.key or "")
        entry.parent = top
        entry.index = len(top.children) if items else -1
        top.children.append(entry)
    last = top.children[-1]
    top.end = max(last.end, last.key_end, top.start)
    return top


def _item(composer: Composer, at: int, stop: int) -> Node | None:
    node = composer.piece(at, stop)
    if node is None or node.kind != "sequence" or node.style != "block" or len(node.children) != 1:
        return None
    return node.children[0]


def _entry(composer: Composer, at: int, content: int, stop: int, level: int) -> Node | None:
    text = composer.text.text
    key = _KEY.match(text, content, stop)
    if key is None:
        return None
    rest = _BARE.match(text, key.end(), stop) if stop - at > SMALL else None
    if rest is not None:
        node = assemble(composer, rest.end(), stop, level + 1)
        if node is not None:
            node.key = key.group(1)
            node.key_start, node.key_end = composer.text.span(content, content + len(node.key))
        return node
    found = composer.piece(at, stop)
    if found is None or found.kind != "mapping" or found.style != "block" or len(found.children) != 1:
        return None
    return found.children[0] if found.children[0].key == key.group(1) else None


@cache
def _blocks(indent: int, items: bool) -> re.Pattern[str]:
    """The lines that begin an entry at an indentation; a list may stand at the column of its key."""
    begins = r"[^ \r\n#]" if items else r"(?:[^ \r\n#-]|-(?![ \r\n]))"
    return re.compile(rf"^ {{{indent}}}(?={begins})", re.MULTILINE)


@cache
def _shallower(indent: int) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,{indent - 1}}}[^ \r\n#]", re.MULTILINE)
