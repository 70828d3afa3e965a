"""Change values in a JSON text and leave every other byte of it: state files are other people's, too.

Their order of keys, indentation, number formats and keys that nobody here knows stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\{\r?\n([ \t]+)\"")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object or an item of a list; ``start`` is the key's, or the value's where there is no key."""

    key: str
    start: int
    value: int
    end: int


@dataclass(slots=True)
class _Text:
    text: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def indent(self) -> str | None:
        """What a level is indented by; None for a text on one line."""
        match = _INDENT.search(self.text)
        return match[1] if match is not None else None


def patched(text: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The text of ``old`` changed as little as possible to be that of ``new``; no trailing blank is added or lost."""
    found = _Text(text)
    start = _skip(text, 0)
    try:
        _object(found, start, old, new, 1)
        for begin, end, put in sorted(found.edits, key=lambda e: (e[0], e[1]), reverse=True):
            text = text[:begin] + put + text[end:]
        same = json.dumps(json.loads(text), sort_keys=True) == json.dumps(new, sort_keys=True)
    except (ValueError, IndexError):
        same = False
    # Nothing is worth a wrong state: what did not come out right is written anew.
    return text if same else json.dumps(new, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match is not None else at


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """What is in the object or list that opens at ``at``, and where its bracket closes."""
    closing = "}" if text[at] == "{" else "]"
    found: list[_Member] = []
    at = _skip(text, at + 1)
    while text[at] != closing:
        start, key = at, ""
        if closing == "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        _, at = _DECODER.raw_decode(text, at)
        found.append(_Member(key, start, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at


def _object(found: _Text, at: int, old: Mapping[str, Any], new: Mapping[str, Any], level: int) -> None:
    members, end = _members(found.text, at)
    if not members or not any(m.key in new for m in members):
        found.edits.append((at, end + 1, _dumped(found, new, level - 1)))
        return
    _removed(found, members, new)
    for member in members:
        if member.key in new:
            _value(found, member, old[member.key], new[member.key], level)
    last = members[-1]
    between, colon = _separators(found, members, at)
    added = [k for k in new if k not in old]
    text = "".join(f"{between}{json.dumps(k, ensure_ascii=_ascii(found))}{colon}{_dumped(found, new[k], level)}" for k in added)  # fmt: skip
    if text:
        found.edits.append((last.end, last.end, text))


def _separators(found: _Text, members: list[_Member], at: int) -> tuple[str, str]:
    """What stands between two members, and between a key and its value."""
    text = found.text
    blanks = (
        text[members[-2].end : members[-1].start]
        if len(members) > 1
        else "," + (text[at + 1 : members[0].start] or " ")
    )
    first = members[0]
    if first.value == first.start:
        return blanks, ""
    _, end = _DECODER.raw_decode(text, first.start)
    return blanks, text[end : first.value]


def _removed(found: _Text, members: list[_Member], new: Mapping[str, Any]) -> None:
    """Take out members with the comma before them, those at the beginning with the one behind."""
    kept = next(i for i, m in enumerate(members) if m.key in new)
    if kept:
        found.edits.append((members[0].start, members[kept].start, ""))
    for before, member in zip(members[kept:], members[kept + 1 :], strict=False):
        if member.key not in new:
            found.edits.append((before.end, member.end, ""))


def _value(found: _Text, member: _Member, old: Any, new: Any, level: int) -> None:
    if json.dumps(old) == json.dumps(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        _object(found, member.value, old, new, level + 1)
    elif isinstance(old, list) and isinstance(new, list) and old and json.dumps(new[: len(old)]) == json.dumps(old):
        items, _ = _members(found.text, member.value)
        between, _ = _separators(found, items, member.value)
        text = "".join(between + _dumped(found, one, level + 1) for one in new[len(old) :])
        found.edits.append((items[-1].end, items[-1].end, text))
    else:
        found.edits.append((member.value, member.end, _dumped(found, new, level)))


def _ascii(found: _Text) -> bool:
    """Whether the file keeps to ASCII by escapes."""
    return found.text.isascii() and "\\u" in found.text


def _dumped(found: _Text, value: Any, level: int) -> str:
    """A value as the rest of the file is set out."""
    indent = found.indent
    text = json.dumps(value, ensure_ascii=_ascii(found), indent=indent, allow_nan=False)
    return text.replace("\n", found.newline + (indent or "") * level)
