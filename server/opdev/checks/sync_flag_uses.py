"""Where SetFlag and WaitFlag stand, function by function: counted from the text alone, so that most files are done with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.syntax import cpp
from opdev.syntax.pieces import Piece
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_FLAG = re.compile(rb"(?P<what>Set|Wait)Flag\s*<\s*(?:\w+\s*::\s*)*(?P<event>\w+)\s*>\s*\((?P<id>[^()]*)\)")
_RAW = re.compile(
    rb"\b(?P<what>set|wait)_flag\s*\(\s*PIPE_(?P<source>\w+)\s*,\s*PIPE_(?P<target>\w+)\s*,\s*(?P<id>[^()]*)\)"
)
_CONSTANT = re.compile(r"(?:EVENT_ID)?(\d+)U?")
_Mention = tuple[int, bytes, str, bytes]


@dataclass
class Use:
    """How one function uses one hard event: how many sets and waits of each id."""

    function: Node
    balance: dict[str, int]
    first_waits: bool = False

    @property
    def balanced(self) -> bool:
        return not any(self.balance.values()) and not self.first_waits


@lru_cache(maxsize=1024)
def same_id(text: str) -> str:
    """One spelling of an event id: ``AscendC::EVENT_ID3`` and ``3`` are the same."""
    text = re.sub(r"\s+", "", text).removeprefix("AscendC::")
    match = _CONSTANT.fullmatch(text)
    return match[1] if match else text


def uses_of(context: Context) -> dict[str, list[Use]]:
    """Uses by hard event, read from the text alone: most files are done with here."""
    return context.file.memo("sync.flag uses", lambda: _collect(context))


def all_even(context: Context) -> bool:
    """Whether it is clear without a closer look that every function sets what it waits for: most files."""
    pieces = context.file.pieces
    if pieces is None:
        return False
    every = context.file.each(_summary, _summary)
    if not all(even for _, _, even in every):
        return False
    return all(
        first < 0 or _function_around(segment.node, start + first, start + last) is not None
        for (start, _), segment, (first, last, _) in zip(pieces, context.file.segments, every, strict=True)
    )


def _summary(piece: Piece) -> tuple[int, int, bool]:
    """Where the first and the last flag call are (-1 without any), and whether they are even, taken as one function's."""
    mentions = piece.memo(_mentions, _of_piece)
    if not mentions:
        return -1, -1, True
    even = not any(any(balance.values()) or first for balance, first in piece.memo(_balances, _balances).values())
    return mentions[0][0], mentions[-1][0], even


def _function_around(node: Node | None, first: int, last: int) -> Node | None:
    """The function that a definition is, where both offsets are in it."""
    while node is not None and node.type == "template_declaration":
        node = node.named_children[-1] if node.named_child_count else None
    if node is None or node.type != "function_definition" or not node.start_byte <= first <= last < node.end_byte:
        return None
    return node


def _collect(context: Context) -> dict[str, list[Use]]:
    pieces = context.file.pieces
    if pieces is None:
        return _in_functions(cpp.functions(context), _mentions(context.file.code))
    found: dict[str, list[Use]] = {}
    for (start, piece), segment in zip(pieces, context.file.segments, strict=True):
        balances = piece.memo(_balances, _balances)
        if not balances:
            continue
        mentions = piece.memo(_mentions, _of_piece)
        function = _function_around(segment.node, start + mentions[0][0], start + mentions[-1][0])
        if function is not None:
            for event, (balance, first_waits) in balances.items():
                found.setdefault(event, []).append(Use(function, balance, first_waits))
            continue
        inside = cpp.functions(View(context.file, start, segment.end))
        placed = [(start + at, what, event, text) for at, what, event, text in mentions]
        for event, uses in _in_functions(inside, placed).items():
            found.setdefault(event, []).extend(uses)
    return found


def _in_functions(functions: list[Node], mentions: list[_Mention]) -> dict[str, list[Use]]:
    found: dict[str, dict[int, Use]] = {}
    at = 0
    for offset, what, event, text in mentions:
        while at < len(functions) and functions[at].end_byte <= offset:
            at += 1
        if at == len(functions) or offset < functions[at].start_byte:
            continue
        function = functions[at]
        use = found.setdefault(event, {}).setdefault(function.start_byte, Use(function, {}))
        use.first_waits = _counted(use.balance, what, text) or use.first_waits
    return {event: list(by.values()) for event, by in found.items()}


def _counted(balance: dict[str, int], what: bytes, text: bytes) -> bool:
    """Counts one mention; whether it is a wait that comes before any set of its id."""
    name = same_id(text.decode("utf-8", "replace"))
    waits = what in (b"Wait", b"wait")
    first = waits and name not in balance
    balance[name] = balance.get(name, 0) + (-1 if waits else 1)
    return first


def _balances(piece: Piece) -> dict[str, tuple[dict[str, int], bool]]:
    """As ``Use``, by event, of a piece that is one function."""
    found: dict[str, tuple[dict[str, int], bool]] = {}
    for _, what, event, text in piece.memo(_mentions, _of_piece):
        balance, first_waits = found.get(event, ({}, False))
        found[event] = (balance, _counted(balance, what, text) or first_waits)
    return found


def _of_piece(piece: Piece) -> list[_Mention]:
    return _mentions(piece.code)


def _mentions(code: bytes) -> list[_Mention]:
    """(offset, set or wait, hard event, event id) of each flag call, in text order."""
    found: list[_Mention] = []
    for word, lead, pattern in ((b"Flag<", 4, _FLAG), (b"Flag <", 4, _FLAG), (b"_flag(", 4, _RAW)):
        at = code.find(word)
        while at >= 0:
            match = pattern.match(code, at - lead) or pattern.match(code, at - lead + 1)
            if match is not None and (
                pattern is _RAW or code[match.start() - 1 : match.start()].strip(b" \t\r\n:;{}()") == b""
            ):
                groups = match.groupdict()
                event = groups.get("event") or groups["source"] + b"_" + groups["target"]
                found.append((match.start(), groups["what"], event.decode("ascii", "replace"), groups["id"]))
            at = code.find(word, at + 5)
    found.sort()
    return found
