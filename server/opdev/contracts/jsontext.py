"""Where a place in JSON text is that does not parse yet: its path, the keys around it, what was typed of a word."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from opdev.contracts.fields import Step

_WORD = re.compile(r"[\w.+-]*")


@dataclass(slots=True)
class _Frame:
    bracket: str
    key: str | None = None
    index: int = 0
    keys: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """What is at a place: a key to be written, or the value of ``steps``.

    ``[start, end)`` in characters is the word there, its quotes with it; ``siblings`` are the other keys.
    """

    steps: tuple[Step, ...]
    is_key: bool
    start: int
    end: int
    quoted: bool
    siblings: frozenset[str] = frozenset()
    has_colon: bool = False
    needs_comma: bool = False
    """Whether a member stands before the place without a comma behind it."""


def place(text: str, at: int) -> JsonPlace | None:
    """Where a character is; None where nothing can be written, like behind a value."""
    stack: list[_Frame] = []
    # What may come next: a key, a colon, a value, or a comma behind a member.
    expect = "value"
    i = 0
    while i < at:
        ch = text[i]
        if ch == '"':
            end = _string_end(text, i)
            if end > at or (end == at and text[end - 1] != '"'):
                return _word(text, i, at, stack, expect, quoted=True)
            if expect == "key" and stack:
                stack[-1].key = _plain(text[i:end])
                expect = "colon"
            else:
                expect = "comma"
            i = end
            continue
        if ch in "{[":
            stack.append(_Frame(ch))
            expect = "key" if ch == "{" else "value"
        elif ch in "}]":
            if stack:
                stack.pop()
            expect = "comma"
        elif ch == ":" and expect == "colon":
            expect = "value"
        elif ch == "," and stack:
            frame = stack[-1]
            if frame.key is not None:
                frame.keys.append(frame.key)
                frame.key = None
            frame.index += 1
            expect = "key" if frame.bracket == "{" else "value"
        elif not ch.isspace():
            match = _WORD.match(text, i)
            end = max(match.end() if match else i, i + 1)
            if end >= at:
                return _word(text, i, at, stack, expect, quoted=False)
            expect = "comma"
            i = end
            continue
        i += 1
    return _word(text, at, at, stack, expect, quoted=False)


def _string_end(text: str, start: int) -> int:
    """Behind a string's closing quote, or where its line ends without one."""
    i = start + 1
    while i < len(text) and text[i] not in "\r\n":
        if text[i] == "\\":
            i += 2
            continue
        if text[i] == '"':
            return i + 1
        i += 1
    return min(i, len(text))


def _plain(text: str) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        return text.strip('"')
    return found if isinstance(found, str) else text


def _word(text: str, start: int, at: int, stack: list[_Frame], expect: str, *, quoted: bool) -> JsonPlace | None:
    if not stack:
        return None
    frame = stack[-1]
    comma = expect == "comma" and frame.bracket == "{" and start == at
    if (expect not in ("key", "value") and not comma) or (comma and not _on_new_line(text, at)):
        return None
    if quoted:
        end = _string_end(text, start)
        # A quote that swallows what stands behind it is not the word's.
        if text[end - 1 : end] != '"' or end == start + 1 or re.search(r"[:,{}\[\]]", text[at:end]):
            end = at
    else:
        match = _WORD.match(text, at)
        end = match.end() if match else at
    is_key = expect == "key" or comma
    steps: list[Step] = []
    for one in stack if not is_key else stack[:-1]:
        steps.append(one.key or "" if one.bracket == "{" else one.index)
    rest = text[end:].lstrip()
    above = [*frame.keys, *([frame.key] if comma and frame.key is not None else [])]
    siblings = frozenset((*above, *_keys_behind(text, end))) if is_key else frozenset()
    return JsonPlace(tuple(steps), is_key, start, end, quoted, siblings, rest.startswith(":"), comma)


def _on_new_line(text: str, at: int) -> bool:
    """Whether nothing but blanks stands before a place on its line."""
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _keys_behind(text: str, at: int) -> list[str]:
    """The keys that follow in the same object."""
    found: list[str] = []
    depth = 0
    i = at
    while i < len(text):
        ch = text[i]
        if ch == '"':
            end = _string_end(text, i)
            if depth == 0 and text[end:].lstrip()[:1] == ":":
                found.append(_plain(text[i:end]))
            i = max(end, i + 1)
            continue
        if ch in "{[":
            depth += 1
        elif ch in "}]":
            depth -= 1
            if depth < 0:
                break
        i += 1
    return found
