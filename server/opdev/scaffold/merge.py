"""Three-way merge of texts by lines: what only one side changed is taken, what both changed differently is marked.

Regions in which base and both sides agree are the fixed points; between two of them each side is compared with
the base as a whole, as diff3 does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

OURS, BASE, THEIRS = "<<<<<<< yours", "||||||| old template", ">>>>>>> new template"
_SPLIT = "======="


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text; with conflicts it holds git's markers, the old template in the middle."""

    text: str
    conflicts: int


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Merges ``theirs`` (the new template) into ``ours`` (the user's file); ``base`` is the old template.

    The user's line ends win: where ``ours`` has CRLF throughout, so has the result.
    """
    newline = "\r\n" if "\r\n" in ours and "\n" not in ours.replace("\r\n", "") else "\n"
    sides = [_lines(text.replace("\r\n", "\n") if newline == "\r\n" else text) for text in (base, ours, theirs)]
    conflicts = 0
    out: list[str] = []
    for old, mine, new in _regions(*sides):
        if new in (mine, old):
            out += mine
        elif mine == old:
            out += new
        else:
            conflicts += 1
            out += [
                f"{OURS}\n",
                *_closed(mine),
                f"{BASE}\n",
                *_closed(old),
                f"{_SPLIT}\n",
                *_closed(new),
                f"{THEIRS}\n",
            ]
    text = "".join(out)
    return Merged(text.replace("\n", "\r\n") if newline == "\r\n" else text, conflicts)


def _lines(text: str) -> list[str]:
    """Lines with their ends; only ``\\n`` ends one."""
    parts = text.split("\n")
    return [*(f"{part}\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]


def _closed(lines: Sequence[str]) -> list[str]:
    """Lines of which the last ends, so that a marker starts a line."""
    return [*lines[:-1], lines[-1] if lines[-1].endswith("\n") else lines[-1] + "\n"] if lines else []


def _regions(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Base, ours and theirs in matching pieces: alternately all equal, and what stands between."""
    at_base = at_ours = at_theirs = 0
    for start, mine, new, size in [*_anchors(base, ours, theirs), (len(base), len(ours), len(theirs), 0)]:
        between = base[at_base:start], ours[at_ours:mine], theirs[at_theirs:new]
        if any(between):
            yield between
        at_base, at_ours, at_theirs = start + size, mine + size, new + size
        if size:
            same = base[start:at_base]
            yield same, same, same


def _anchors(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Runs of base lines that both sides have: their places in base, ours and theirs, and how long they are."""
    mine = SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks()
    new = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    i = j = 0
    while i < len(mine) and j < len(new):
        a, b = mine[i], new[j]
        start, stop = max(a.a, b.a), min(a.a + a.size, b.a + b.size)
        if start < stop:
            yield start, a.b + start - a.a, b.b + start - b.a, stop - start
        if a.a + a.size < b.a + b.size:
            i += 1
        else:
            j += 1
