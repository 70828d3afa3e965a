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
from itertools import pairwise
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
_ODD = "\t\x85\u2028\u2029"
_BARE = re.compile(r"[ ]*(?:#[^\n]*)?\r?\n")


@dataclass(frozen=True, slots=True)
class Kept:
    """A piece that is one entry or one item: that node placed as if the piece began at zero."""

    node: Node
    kind: str
    """``mapping`` for an entry, ``sequence`` for an item."""
    nodes: int
    size: int
    """Bytes of the piece."""


_kept: dict[str, Kept] = {}


def forget() -> None:
    """Read everything anew, for tests that count."""
    _kept.clear()


def _keep(text: str, top: Node, start: int) -> Kept | None:
    """Remember a piece that was composed at ``start`` bytes of its document, if it is one entry or item."""
    if top.style != "block" or top.kind not in ("mapping", "sequence") or len(top.children) != 1:
        return None
    if len(_kept) >= _MOST:
        for old in list(_kept)[: _MOST // 2]:
            _kept.pop(old, None)
    node = top.children[0].placed(-start)
    count = 1
    # All of it now: what is kept must not hold on to the document it came from.
    for below in node.walk():
        count += 1
        if below.kind in ("mapping", "sequence"):
            below.plain = below.data()
    for below in node.walk():
        below.let_go()
    kept = Kept(node, top.kind, count, len(text.encode("utf-8", "surrogateescape")))
    if len(text) <= LARGEST:
        _kept[text] = kept
    return kept


def plain_text(text: str) -> bool:
    """Whether lines end and begin in the one way pieces are told apart by."""
    return not any(char in text for char in _ODD) and ("\r" not in text or text.count("\r") == text.count("\r\n"))


def assemble(composer: Composer, start: int, end: int, level: int = 0, least: int = 0) -> Node | None:
    """``[start, end)`` from its pieces, none at fewer than ``least`` columns; None where they might read
    otherwise as a whole.

    Raises NotYamlError for a piece that does not parse by itself.
    """
    text = composer.text.text
    first = _FIRST.search(text, start, end)
    if first is None or level > _LEVELS or len(first.group(1)) < least:
        return None
    indent = len(first.group(1))
    items = text[first.end()] == "-" and text[first.end() + 1 : first.end() + 2] in (" ", "\n", "\r", "")
    begins = [first.start(), *(m.start() + 1 for m in _blocks(indent, items).finditer(text, first.end(), end)), end]
    kind, tag = ("sequence", "seq") if items else ("mapping", "map")
    at = composer.text.host(begins[0])
    top = Node(kind, at + indent, at + indent, tag, "", "block")  # type: ignore[arg-type]  # mypy takes the pair for plain texts
    below = top.children
    seen: set[str] = set()
    for begin, stop in pairwise(begins):
        key = None if items else _KEY.match(text, begin + indent, stop)
        if key is None and not items:
            return None
        rest = _BARE.match(text, key.end(), stop) if key is not None and stop - begin > SMALL else None
        if key is not None and rest is not None:
            node = assemble(composer, rest.end(), stop, level + 1, indent)
            if node is None:
                return None
            node.key, node.key_start = key[1], at + indent
            node.key_end = node.key_start + len(key[1].encode())
            at = composer.text.host(stop)
        else:
            kept = _piece(composer, begin, stop)
            if kept is None or kept.kind != kind or (key is not None and kept.node.key != key[1]):
                return None
            node = kept.node.placed(at)
            at += kept.size
        if node.key is not None and not items:
            if node.key in seen:
                return None
            seen.add(node.key)
        node.parent = top
        node.index = len(below) if items else -1
        below.append(node)
    top.end = max(below[-1].end, below[-1].key_end, top.start)
    return top


def _piece(composer: Composer, start: int, end: int) -> Kept | None:
    """The piece, read once a text; None where it may mean something else inside the whole."""
    text = composer.text.text[start:end]
    composer.chars += len(text)
    kept = _kept.get(text)
    if kept is not None:
        composer.count(kept.nodes, start)
        return kept
    before = len(composer.faults)
    node = composer.compose(start, end)
    if node is None or composer.odd or len(composer.faults) > before:
        return None
    return _keep(text, node, composer.text.host(start))


@cache
def _blocks(indent: int, items: bool) -> re.Pattern[str]:
    """Where a line begins an entry at an indentation; a list may stand at the column of its key.

    A line that stands out further is inside a piece then, which does not parse.
    """
    begins = r"-(?=[ \r\n]|\Z)" if items else r"(?=[^ \r\n#-]|-(?![ \r\n]))"
    return re.compile("\n" + " " * indent + begins)
