"""A range of a file, and the cheap ways to look into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from opdev.kinds import Place
from opdev.syntax.file import File
from opdev.syntax.pieces import Piece, pattern_key

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDCHARS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NAME = re.compile(rb"\w+")


@dataclass(slots=True)
class View:
    """Part of a file: one definition (``node``) or all of it."""

    file: File
    start: int
    end: int
    node: Node | None = None

    @property
    def data(self) -> bytes:
        """The file's bytes; offsets everywhere are into this."""
        return self.file.data

    @property
    def code(self) -> bytes:
        """As ``data`` with comments and strings blanked, same length."""
        return self.file.code

    @property
    def nocomment(self) -> bytes:
        """As ``data`` with comments blanked, same length."""
        return self.file.nocomment

    @property
    def kinds(self) -> frozenset[str]:
        return self.file.kind.names

    @property
    def place(self) -> Place:
        return self.file.place

    @property
    def root(self) -> Node:
        """The node to search below: the item's, or the file's."""
        return self.node if self.node is not None else self.file.root

    def text(self, node: Node) -> str:
        """Text of a node as written in the file."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def find(self, word: str | bytes, *, text: bytes | None = None) -> Iterator[int]:
        """Offsets of a whole word in the code of this range (or in ``text``, of the same length)."""
        needle = word.encode() if isinstance(word, str) else word
        hay = self.code if text is None else text
        size = len(needle)
        for at in self._places(needle) if text is None else _everywhere(needle, hay, self.start, self.end):
            after = at + size
            if (at == 0 or hay[at - 1] not in _WORDCHARS) and (after >= len(hay) or hay[after] not in _WORDCHARS):
                yield at

    def _places(self, needle: bytes) -> Iterable[int]:
        pieces = self._pieces
        if pieces is None:
            return _everywhere(needle, self.code, self.start, self.end)
        if _NAME.fullmatch(needle):
            names = self.file.names
            if names is not None and needle not in names:
                return ()
            return [start + at for start, piece in pieces if needle in piece.names for at in piece.places(needle)]
        return [start + at for start, piece in pieces for at in piece.places(needle)]

    def spans(
        self, pattern: re.Pattern[bytes], which: Literal["code", "nocomment", "data"] = "code"
    ) -> list[tuple[int, int]]:
        """Where ``pattern`` matches in this range.

        In a file being typed into only what changed is searched, so a match must not reach from one
        definition into the next, nor may the pattern ask what stands before or behind it there.
        """
        pieces = self._pieces
        if pieces is None:
            return [match.span() for match in pattern.finditer(getattr(self, which), self.start, self.end)]
        every = self.file.each(pattern_key(pattern, which), lambda piece: piece.spans(pattern, which))
        found = zip(pieces, every, strict=True)
        return [(start + a, start + b) for (start, _), spans in found if spans for a, b in spans]

    def holds(self, test: Callable[[bytes], bool]) -> bool:
        """Whether ``test`` says yes to this range's text: a gate for what looks at the text as a whole.

        In a file being typed into the definitions are asked one by one, and only those that changed.
        """
        pieces = self._pieces
        if pieces is None:
            return test(
                self.data if not self.start and self.end == len(self.data) else self.data[self.start : self.end]
            )

        def ask(piece: Piece) -> bool:
            return bool(test(piece.data))

        return True in self.file.each(test, ask)

    def holds_in_lines(self, test: Callable[[bytes], bool]) -> bool:
        """As ``holds`` of a whole file, for what is within a line but may be on a border of definitions."""
        if not self.file.typed:
            return test(self.data)

        def ask(chunk: Piece) -> bool:
            return test(chunk.data)

        return any(chunk.memo(test, ask) for chunk in self.file.chunks)

    @property
    def _pieces(self) -> list[tuple[int, Piece]] | None:
        """The file's pieces, where this is all of a file being typed into."""
        if self.node is not None or self.start or self.end < len(self.file.data):
            return None
        return self.file.pieces

    def nodes(self, keyword: str, *types: str) -> list[Node]:
        """Nodes of ``types`` in this range whose own token ``keyword`` is, in text order (the tree is not walked)."""
        found: list[Node] = []
        for at in self.find(keyword):
            node = self.node_at(at, at + len(keyword))
            if node is not None and node.type in types:
                found.append(node)
        return found

    def node_at(self, start: int, end: int) -> Node | None:
        """The smallest named node that covers a range."""
        return self.file.root.named_descendant_for_byte_range(start, max(start, end - 1))


def _everywhere(needle: bytes, hay: bytes, start: int, end: int) -> Iterator[int]:
    size = len(needle)
    at = hay.find(needle, start, end)
    while at >= 0:
        yield at
        at = hay.find(needle, at + size, end)
