"""Edits to a design's YAML that keep its indentation, its quotes and its fence's prefix."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent
from typing import NamedTuple, Protocol

from opdev.design.document import DesignDocument
from opdev.design.nodes import Node
from opdev.source import Source

_RESERVED = frozenset("-?:,[]{}#&*!|>'\"%@`")
_LITERALS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "~", ""})


class Written(Protocol):
    """What the YAML stands in: a design document, or a file that is YAML itself."""

    @property
    def data(self) -> bytes: ...

    @property
    def source(self) -> Source: ...


class Change(NamedTuple):
    """Replace the Markdown's bytes ``[start, end)`` by ``text``."""

    start: int
    end: int
    text: str


def replace(node: Node, text: str) -> Change | None:
    """The scalar with another text, in the quotes it has; None where an alias or a block stands."""
    if node.alias or node.kind != "scalar" or node.style in ("literal", "folded"):
        return None
    quote = {"single": "'", "double": '"'}.get(node.style, "")
    if quote and (quote in text or "\\" in text):
        return None
    # A value nobody wrote stands right behind its colon.
    lead = " " if node.start == node.end else ""
    return Change(node.start, node.end, lead + (f"{quote}{text}{quote}" if quote else plain(text)))


def plain(text: str) -> str:
    """A text as a plain scalar where YAML reads it back, in quotes otherwise (numbers and flags stay plain)."""
    needs = text[:1] in _RESERVED or text != text.strip() or ": " in text or " #" in text or text.endswith(":")
    if not needs and text.lower() not in _LITERALS - {"true", "false", "null"}:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rename(node: Node, key: str) -> Change | None:
    """The entry under another key."""
    return None if node.alias or node.key_start < 0 else Change(node.key_start, node.key_end, plain(key))


def remove(document: Written, node: Node) -> Change | None:
    """A block entry's lines, all of them; None inside brackets."""
    if node.alias or node.key_start < 0 or node.parent is None or node.parent.style == "flow":
        return None
    start = _line_start(document, node.key_start)
    if _before(document, start, node.key_start).strip(b" >"):
        return None
    newline = document.data.find(b"\n", max(node.end, node.key_end))
    return Change(start, len(document.data) if newline < 0 else newline + 1, "")


def insert(document: Written, parent: Node, key: str, value: str, after: str | None = None) -> Change | None:
    """A new last entry (or one behind the key ``after``) of a mapping.

    ``value`` is YAML: on one line, or lines indented as they stand below the key.  None where the
    mapping has no entry to take the indentation from, or an alias brought it in.
    """
    entries = [c for c in parent.children if not c.alias and c.key_start >= 0]
    if parent.kind != "mapping" or not entries:
        return None
    last = next((c for c in entries if c.key == after), entries[-1])
    if parent.style == "flow":
        return Change(last.where[1], last.where[1], f", {key}: {value}") if "\n" not in value else None
    start = _line_start(document, last.key_start)
    indent = _indent(_before(document, start, last.key_start))
    begin = _end_of_entry(document, last)
    newline = document.source.newline
    return Change(begin, begin, newline + _body(_text(key, value), newline, indent))


def insert_in_order(document: Written, parent: Node, key: str, value: str, order: Sequence[str]) -> Change | None:
    """A new entry of a mapping, behind the last of the keys that ``order`` has before it (or before all of them)."""
    before = order[: order.index(key)] if key in order else order
    entries = [c for c in parent.children if not c.alias and c.key_start >= 0]
    after = next((k for k in reversed(before) if any(c.key == k for c in entries)), None)
    if after is not None or not entries or parent.kind != "mapping":
        return insert(document, parent, key, value, after)
    first = min(c.key_start for c in entries)
    if parent.style == "flow":
        return Change(first, first, f"{key}: {value}, ") if "\n" not in value else None
    start = _line_start(document, first)
    newline, indent = document.source.newline, _indent(_before(document, start, first))
    return Change(first, first, _body(_text(key, value), newline, indent).removeprefix(indent) + newline + indent)


def fill(document: Written, node: Node, value: str) -> Change | None:
    """Text for an entry that has none (nothing, ``[]``, ``{}``, also on a line of its own); as in ``insert``."""
    if node.alias or not node.empty or node.key_start < 0 or node.parent is None:
        return None
    colon = document.data.find(b":", node.key_end, max(node.end, node.key_end + 1)) + 1
    if not colon:
        return None
    if b"\n" in document.data[colon : node.end] or b"\r" in document.data[colon : node.end]:
        return _fill_own_line(document, node, value)
    end = max(colon, node.end)
    if "\n" not in value:
        return Change(colon, end, f" {value}")
    if node.parent.style == "flow":
        return None
    indent = _indent(_before(document, _line_start(document, node.key_start), node.key_start))
    newline, stop = document.source.newline, _end_of_entry(document, node)
    try:
        comment = document.data[end:stop].decode().rstrip()
    except UnicodeDecodeError:
        return None
    return Change(colon, stop, comment + newline + _body(value.rstrip("\n"), newline, indent))


def _fill_own_line(document: Written, node: Node, value: str) -> Change | None:
    """The template's ``[]`` below its key: what comes instead starts where it stands."""
    before = _before(document, _line_start(document, node.start), node.start)
    written = document.data[node.start : node.end]
    if before.strip(b" >") or written not in (b"[]", b"{}", b'""', b"''"):
        return None
    between = document.source.newline + _indent(before)
    return Change(node.start, node.end, between.join(dedent(value).rstrip("\n").split("\n")))


def append(document: Written, sequence: Node, item: str) -> Change | None:
    """A new last item of a list; ``item`` is YAML on one line."""
    if sequence.empty:
        return fill(document, sequence, f"  - {item}\n")
    if sequence.alias or sequence.kind != "sequence":
        return None
    last = sequence.children[-1]
    if sequence.style == "flow":
        return Change(last.where[1], last.where[1], f", {item}")
    begin = last.children[0].name_range[0] if last.kind == "mapping" and last.style != "flow" else last.start
    start = _line_start(document, begin)
    dash = _before(document, start, begin).rfind(b"-")
    if dash < 0:
        return None
    end = _end_of_entry(document, last)
    indent = _indent(_before(document, start, start + dash))
    return Change(end, end, f"{document.source.newline}{indent}- {item}")


def sort(document: DesignDocument, mapping: Node, order: Sequence[str]) -> list[Change]:
    """The entries of a mapping in ``order``, each with the comments right above it; what is not in it stays.

    Empty where nothing would change or nobody can tell what belongs where (a key twice, an anchor in between).
    """
    keys = [c.key for c in mapping.children]
    entries = [c for c in mapping.children if c.key in order]
    data = document.data
    if len(set(keys)) != len(keys) or document.faults or b"&" in data[mapping.start : mapping.end]:
        return []
    if any(c.alias or c.key_start < 0 for c in mapping.children):
        return []
    spans = [_span(document, c) for c in entries]
    wanted = sorted(range(len(entries)), key=lambda at: order.index(entries[at].key or ""))
    changes: list[Change] = []
    for at, source in enumerate(wanted):
        here, there = spans[at], spans[source]
        if here is None or there is None:
            return []
        if at != source:
            try:
                changes.append(Change(*here, data[slice(*there)].decode()))
            except UnicodeDecodeError:
                return []
    return changes


def _span(document: Written, entry: Node) -> tuple[int, int] | None:
    """An entry's lines without the last line end, comments right above it included; in brackets the entry alone."""
    if entry.parent is not None and entry.parent.style == "flow":
        return entry.key_start, max(entry.end, entry.key_end)
    start = _line_start(document, entry.key_start)
    if _before(document, start, entry.key_start).strip(b" >"):
        return None
    while start > 0:
        above = _line_start(document, start - 1 - (document.data[start - 2 : start] == b"\r\n"))
        if not document.data[above:start].lstrip(b" >").startswith(b"#"):
            break
        start = above
    return start, _end_of_entry(document, entry)


def _text(key: str, value: str) -> str:
    return (f"{key}: {value}" if "\n" not in value else f"{key}:\n{value}").rstrip("\n")


def _body(text: str, newline: str, indent: str) -> str:
    return newline.join(indent + line if line else "" for line in text.split("\n"))


def _line_start(document: Written, offset: int) -> int:
    return max(document.data.rfind(b"\n", 0, offset), document.data.rfind(b"\r", 0, offset)) + 1


def _before(document: Written, start: int, offset: int) -> bytes:
    return document.data[start:offset]


def _indent(before: bytes) -> str:
    """What a continuation line begins with: the quote marks of the fence, and blanks for the rest."""
    quotes = before.rfind(b">") + 1
    return before[:quotes].decode("ascii", "replace") + " " * len(before[quotes:].decode("utf-8", "replace"))


def _end_of_entry(document: Written, node: Node) -> int:
    """Behind the line an entry's value ends on, its comment included."""
    end = max(node.end, node.key_end)
    stops = [p for p in (document.data.find(b"\n", end), document.data.find(b"\r", end)) if p >= 0]
    return min(stops, default=len(document.data))
