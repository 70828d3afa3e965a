"""Where a fix of a synchronisation rule may put a statement, and hits kept by the function they are in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from opdev.rules.model import Edit, Hit, Related, Text
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Event
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node


def statement_of(view: View, event: Event) -> Node | None:
    """The statement a call alone makes up; None where it is part of something larger."""
    call = cpp.call_at(view.file, event.name_start, event.name_end)
    if call is None or not call.is_statement:
        return None
    return call.node.parent


def block_of(view: View, event: Event) -> int:
    """Where the block that holds the call's statement starts; -1 where it stands in none."""
    statement = statement_of(view, event)
    if statement is None or statement.parent is None or statement.parent.type != "compound_statement":
        return -1
    return statement.parent.start_byte


def indent_at(data: bytes, offset: int) -> str | None:
    """The blanks before ``offset`` on its line; None where something else stands there."""
    line = data.rfind(b"\n", 0, offset) + 1
    lead = data[line:offset]
    return lead.decode("ascii") if not lead.strip() and lead.isascii() else None


def insert_before(view: View, event: Event, text: str) -> Edit | None:
    """Insert the lines of ``text`` before the call's statement, indented as it is."""
    if block_of(view, event) < 0:
        return None
    return insert_at(view.data, event.start, text)


def insert_at(data: bytes, offset: int, text: str) -> Edit | None:
    """Insert the lines of ``text`` before the statement at ``offset``, which starts its line."""
    indent = indent_at(data, offset)
    if indent is None:
        return None
    return Edit(offset, offset, "".join(f"{line}\n{indent}" for line in text.split("\n")))


def related(event: Event, note: Text) -> Related:
    """The call as another place to look at."""
    return Related(event.name_start, event.name_end, note)


_KEPT: dict[tuple[Hashable, bytes], tuple[Hit, ...]] = {}
_MOST_KEPT = 4096


def by_function(key: Hashable, data: bytes, start: int, end: int, find: Callable[[], Iterable[Hit]]) -> Iterable[Hit]:
    """The hits ``find`` yields in ``[start, end)``, found once for each text of that function.

    For checks of file scope that follow single functions: a keystroke then follows one.  ``key``
    holds all else the hits depend on.
    """
    piece = data[start:end]
    kept = _KEPT.get((key, piece))
    if kept is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        kept = _KEPT[key, piece] = tuple(hit.moved(-start) for hit in find())
    return [hit.moved(start) for hit in kept]
