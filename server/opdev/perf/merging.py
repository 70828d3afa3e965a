"""A report that is written again and again, and in which what people wrote stays.

What is generated stands between marker lines that carry a digest of it.  Everything outside them is the user's and is
never touched; a block the user changed inside its markers is the user's from then on, until the markers are deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_BEGIN = re.compile(r"<!-- opdev:perf ([0-9.]+) ([0-9a-f]{12}) -->\s*\Z")
_HEADING = re.compile(r"(#{1,3})[ \t]+(.*)")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the report and the generated text below it; ``start`` is put after it once, when it is new."""

    id: str
    heading: str
    body: str = ""
    start: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The new text, and the ids of blocks that were left alone because the user changed them."""

    text: str
    kept: tuple[str, ...]


def merge(old: str, title: str, sections: Sequence[Section]) -> Merged:
    """``old`` with every block brought up to date; headings that are missing are added where they belong."""
    end = "\r\n" if "\r\n" in old else "\n"
    lines = old.replace("\r\n", "\n").split("\n") if old.strip() else [title, ""]
    if not any(line.startswith("# ") for line in lines):
        lines = [title, "", *lines]
    if fence := _headings(lines)[1]:
        # What is added at the end would be inside it.
        lines = [*lines, fence]
    kept: list[str] = []
    for index, section in enumerate(sections):
        at = _heading_at(lines, section.id)
        if at is None:
            place = _place(lines, sections[index + 1 :])
            new = [section.heading, ""]
            if section.body:
                new += [*_block(section), ""]
            if section.start:
                new += [section.start, ""]
            before = [""] if place and lines[place - 1].strip() else []
            lines[place:place] = [*before, *new]
        elif section.body:
            lines, same = _replaced(lines, at, section)
            if not same:
                kept.append(section.id)
    return Merged(end.join(lines).rstrip() + end, tuple(kept))


def _heading_at(lines: Sequence[str], id_: str) -> int | None:
    return next((at for at, number in _headings(lines)[0] if number == id_), None)


def _headings(lines: Sequence[str]) -> tuple[list[tuple[int, str]], str]:
    """(line, number) of the numbered headings, fences left out; and the ticks of a fence that is never closed."""
    found, fence = [], ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or fence == mark[1]):
            fence = "" if fence else mark[1]
        match = _HEADING.match(line) if not fence else None
        number = _NUMBER.match(match[2].lstrip("§ ")) if match and len(match[1]) > 1 else None
        if number:
            found.append((at, number[1]))
    return found, fence


def _place(lines: Sequence[str], after: Sequence[Section]) -> int:
    """Where a missing heading goes: before the first that comes after it, else at the end."""
    there = dict(reversed([(number, at) for at, number in _headings(lines)[0]]))
    return min((there[s.id] for s in after if s.id in there), default=len(lines))


def _block(section: Section) -> list[str]:
    body = section.body.strip("\n")
    return [
        f"<!-- opdev:perf {section.id} {_digest(body)} -->",
        *body.split("\n"),
        f"<!-- /opdev:perf {section.id} -->",
    ]


def _digest(body: str) -> str:
    plain = "\n".join(line.rstrip() for line in body.strip("\n").split("\n"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _replaced(lines: list[str], heading: int, section: Section) -> tuple[list[str], bool]:
    """The lines with a section's block put in; False where the user's own version was left."""
    close = f"<!-- /opdev:perf {section.id} -->"
    for at, line in enumerate(lines):
        begin = _BEGIN.match(line)
        if begin is None or begin[1] != section.id:
            continue
        stop = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == close), None)
        if stop is None or any(_BEGIN.match(x) for x in lines[at + 1 : stop]):
            return lines, False
        if _digest("\n".join(lines[at + 1 : stop])) != begin[2]:
            return lines, False
        return [*lines[:at], *_block(section), *lines[stop + 1 :]], True
    rest = lines[heading + 1 :]
    gap = 1 if rest and not rest[0].strip() else 0
    return [*lines[: heading + 1 + gap], *([] if gap else [""]), *_block(section), "", *rest[gap:]], True
