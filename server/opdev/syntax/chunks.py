"""A long text in chunks of whole lines, so that a keystroke makes one of them new.

For languages without definitions (Markdown, YAML, shell): which rules could find anything is told chunk by chunk, and
a chunk nobody touched was told before.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from opdev.syntax.pieces import Piece

_SIZE = 4096
_LARGEST = 3 * _SIZE


def chunks_of(data: bytes) -> list[Piece]:
    """``data`` in chunks that each end with a line (the last one with the text)."""
    found: list[Piece] = []
    at = 0
    while at < len(data):
        newline = data.find(b"\n", at + _SIZE)
        stop = len(data) if newline < 0 else newline + 1
        found.append(_chunk(data[at:stop]))
        at = stop
    return found


def spliced(chunks: list[Piece], data: bytes, start: int, old_end: int, new_end: int) -> list[Piece]:
    """The chunks of ``data``, in which ``[start, new_end)`` is new where ``[start, old_end)`` was."""
    ends = list(accumulate(len(chunk.data) for chunk in chunks))
    # An edit at a border may join the words on both sides of it: then both chunks are new.
    first, last = bisect_left(ends, start), bisect_left(ends, old_end + 1)
    if first >= len(chunks):
        return chunks_of(data)
    begin = ends[first - 1] if first else 0
    stop = ends[last] if last < len(chunks) else ends[-1]
    middle = data[begin : stop + new_end - old_end]
    new = chunks_of(middle) if len(middle) > _LARGEST or not middle else [_chunk(middle)]
    return [*chunks[:first], *new, *chunks[last + 1 :]]


def _chunk(data: bytes) -> Piece:
    return Piece(data, data, data)
