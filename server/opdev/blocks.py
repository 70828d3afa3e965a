"""A report that is written again and again, and in which what people wrote stays.

What is generated stands between marker lines that carry a digest of it.  Everything outside them is the user's and is
never touched; a block the user changed inside its markers is the user's from then on, until the markers are deleted.
Each family of reports marks its blocks with a tag of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

_BEGIN = re.compile(r"<!-- opdev:([a-z]+) ([0-9.]+) ([0-9a-f]{12}) -->\s*\Z")
_HEADING = re.compile(r"(#{1,3})[ \t]+(.*)")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the report and the generated text below it; ``start`` is put after it once, when it is new.

    ``adopts`` says of a line outside any block that a program wrote it before there were blocks: it goes when the block
    first comes, a table's first line with its whole table.  Tables are looked for in the section, where there is one.
    """

    id: str
    heading: str
    body: str = ""
    start: str = ""
    adopts: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """The new text, and the ids of blocks that were left alone because the user changed them."""

    text: str
    kept: tuple[str, ...]


def merge(old: str, title: str, sections: Sequence[Section], tag: str = "perf") -> Merged:
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
        if section.adopts is not None and section.body and not _begun(lines, section.id, tag):
            lines = _without(lines, section.adopts, _range(lines, section.id))
        at = _heading_at(lines, section.id)
        if at is None and section.body and (block := _begin_at(lines, section.id, tag)) is not None:
            # Somebody took the heading away, or renamed it: the block stays where it is, under its own heading again.
            before = [""] if block and lines[block - 1].strip() else []
            lines[block:block] = [*before, section.heading, ""]
            at = block + len(before)
        if at is None:
            place = _place(lines, sections[index + 1 :])
            new = [section.heading, ""]
            if section.body:
                new += [*_block(section, tag), ""]
            if section.start:
                new += [section.start, ""]
            before = [""] if place and lines[place - 1].strip() else []
            lines[place:place] = [*before, *new]
        elif section.body:
            lines, same = _replaced(lines, at, section, tag)
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


def _begun(lines: Sequence[str], id_: str, tag: str) -> bool:
    return any((m := _BEGIN.match(line)) is not None and m[1] == tag and m[2] == id_ for line in lines)


def _begins(lines: Sequence[str], id_: str, tag: str) -> list[int]:
    """Where blocks of a section begin: one, or what somebody copied; in a fence they are an example."""
    found, fence = [], ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or fence == mark[1]):
            fence = "" if fence else mark[1]
        begin = _BEGIN.match(line) if not fence else None
        if begin is not None and begin[1] == tag and begin[2] == id_:
            found.append(at)
    return found


def _begin_at(lines: Sequence[str], id_: str, tag: str) -> int | None:
    return next(iter(_begins(lines, id_, tag)), None)


def _range(lines: Sequence[str], id_: str) -> range:
    """The lines of a section, up to the next numbered heading; all of them where there is no such section."""
    places = [at for at, _ in _headings(lines)[0]]
    start = _heading_at(lines, id_)
    if start is None:
        return range(len(lines))
    return range(start, min((at for at in places if at > start), default=len(lines)))


def _without(lines: Sequence[str], adopted: Callable[[str], bool], section: range) -> list[str]:
    """The lines without those a program wrote: single ones anywhere, and tables of the section by their first line."""
    out: list[str] = []
    block, fence, table, kept_row, gone = False, "", False, False, False
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or fence == mark[1]):
            fence = "" if fence else mark[1]
        block = _BEGIN.match(line) is not None or (block and not line.startswith("<!-- /opdev:"))
        row = not block and not fence and line.lstrip().startswith("|")
        table = row and (table or (at in section and not kept_row and adopted(line)))
        drop = table or (not row and not block and not fence and adopted(line))
        # The blank line behind what went goes with it.
        if drop or (gone and not line.strip() and (not out or not out[-1].strip())):
            gone = True
            continue
        kept_row, gone = row, False
        out.append(line)
    return out


def _block(section: Section, tag: str) -> list[str]:
    body = section.body.strip("\n")
    return [
        f"<!-- opdev:{tag} {section.id} {_digest(body)} -->",
        *body.split("\n"),
        f"<!-- /opdev:{tag} {section.id} -->",
    ]


def _digest(body: str) -> str:
    plain = "\n".join(line.rstrip() for line in body.strip("\n").split("\n"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _replaced(lines: list[str], heading: int, section: Section, tag: str) -> tuple[list[str], bool]:
    """The lines with a section's block put in, copies of it too; False where one is the user's own version and was left."""
    close = f"<!-- /opdev:{tag} {section.id} -->"
    there = _begins(lines, section.id, tag)
    if not there:
        rest = lines[heading + 1 :]
        gap = 1 if rest and not rest[0].strip() else 0
        return [*lines[: heading + 1 + gap], *([] if gap else [""]), *_block(section, tag), "", *rest[gap:]], True
    ours = True
    for at in reversed(there):
        begin = _BEGIN.match(lines[at])
        stop = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == close), None)
        broken = stop is None or any(_BEGIN.match(x) for x in lines[at + 1 : stop])
        if broken or begin is None or _digest("\n".join(lines[at + 1 : stop])) != begin[3]:
            ours = False
        elif stop is not None:
            lines = [*lines[:at], *_block(section, tag), *lines[stop + 1 :]]
    return lines, ours


def intact(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges of the blocks that are as they were generated, markers left out; ``data`` has line feeds alone."""
    if b"<!-- opdev:" not in data:
        return []
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    ends = list(accumulate(len(line.encode("utf-8", "surrogateescape")) + 1 for line in lines))
    found = []
    for at, line in enumerate(lines):
        begin = _BEGIN.match(line)
        if begin is None:
            continue
        close = f"<!-- /opdev:{begin[1]} {begin[2]} -->"
        stop = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == close), None)
        if stop is not None and _digest("\n".join(lines[at + 1 : stop])) == begin[3]:
            found.append((ends[at], ends[stop - 1]))
    return found
