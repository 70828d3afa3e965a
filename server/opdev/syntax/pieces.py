"""What was worked out of a definition's text, kept for as long as that text is typed around.

A keystroke changes one definition of a file.  Whatever can be told from the text of the others alone
(words, where a name stands, what a pattern matches) is looked up here instead of worked out again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, cast

T = TypeVar("T")
_MOST = 20_000
_WORDS = bytes(c if c == 95 or c >= 128 or chr(c).isalnum() else 32 for c in range(256))
_NAMES = bytes(c if c == 95 or (c < 128 and chr(c).isalnum()) else 32 for c in range(256))


class Piece:
    """A stretch of text as it stands in a file, with and without comments and strings."""

    def __init__(self, data: bytes, code: bytes, nocomment: bytes) -> None:
        self.data = data
        self.code = code
        self.nocomment = nocomment
        self._memo: dict[object, object] = {}

    @cached_property
    def words(self) -> frozenset[bytes]:
        """As ``File.words``."""
        return words_of(self.data)

    @cached_property
    def names(self) -> frozenset[bytes]:
        """The words of ``code`` as ``View.find`` tells them: of ASCII letters, digits and underscores."""
        return frozenset(self.code.translate(_NAMES).split())

    def memo(self, key: object, make: Callable[[Piece], T]) -> T:
        """``make(piece)`` once for this text; it must look at nothing else."""
        try:
            # No cast: this is asked a thousand times a keystroke.
            return self._memo[key]  # type: ignore[return-value]  # it was put there by the same ``make``
        except KeyError:
            value = self._memo[key] = make(self)
            return value

    def spans(self, pattern: re.Pattern[bytes], which: str = "code") -> list[tuple[int, int]]:
        """Where a pattern matches in ``code``, ``nocomment`` or ``data``; offsets into the piece."""
        key = pattern_key(pattern, which)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = [match.span() for match in pattern.finditer(getattr(self, which))]
        return cast("list[tuple[int, int]]", found)

    def places(self, word: bytes) -> list[int]:
        """Where the bytes of a word stand in ``code``, parts of longer words among them."""
        found = self._memo.get(word)
        if found is None:
            found = self._memo[word] = [match.start() for match in re.finditer(re.escape(word), self.code)]
        return cast("list[int]", found)


class Carried:
    """What was made of each of a file's pieces, in their order; after an edit it is made of those that are new only.

    ``head`` and ``tail`` are how many pieces at both ends are those of the version before.
    """

    def __init__(self, before: Carried | None = None, head: int = 0, tail: int = 0) -> None:
        self._before: dict[object, list[object]] = before.made if before is not None else {}
        self._head, self._tail = head, tail
        self.made: dict[object, list[object]] = {}

    def each(self, key: object, make: Callable[[Piece], T], pieces: list[tuple[int, Piece]]) -> list[T]:
        """``piece.memo(key, make)`` of every piece; the same list each time, which nobody may change."""
        made = self.made.get(key)
        if made is None:
            before = self._before.get(key)
            head, tail = (self._head, self._tail) if before is not None else (0, 0)
            new = [piece.memo(key, make) for _, piece in pieces[head : len(pieces) - tail]]
            made = self.made[key] = [*before[:head], *new, *before[len(before) - tail :]] if before else [*new]
        return cast("list[T]", made)


_patterns: dict[int, re.Pattern[bytes]] = {}


def pattern_key(pattern: re.Pattern[bytes], which: str) -> object:
    """A key for a pattern, whose own hash is worked out anew each time; it is held on to, so that its id stays its own."""
    _patterns[id(pattern)] = pattern
    return id(pattern), which


_kept: dict[tuple[bytes, bytes, bytes], Piece] = {}


def piece_of(data: bytes, code: bytes, nocomment: bytes) -> Piece:
    """The piece of a text: the same one every time, until very many others were asked for."""
    key = (data, code, nocomment)
    piece = _kept.get(key)
    if piece is None:
        if len(_kept) >= _MOST:
            _kept.clear()
        piece = _kept[key] = Piece(data, code, nocomment)
    return piece


def words_of(text: bytes) -> frozenset[bytes]:
    """The identifiers and numbers in a text."""
    return frozenset(text.translate(_WORDS).split())
