"""What could stand at a place in a design, and what a field means, from the models.

While the author types the YAML rarely parses, so the place is found from lines and columns: which
keys are further left above the cursor, which stand beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opdev.design.document import DesignDocument, Fence
from opdev.design.fields import PLACEHOLDER
from opdev.design.schema import template
from opdev.design.walk import FieldView, keys_at
from opdev.design.walk import field as field_at

_KEY = re.compile(r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s:#,\[\]{}\"'][^:#,\[\]{}\n]*)):(?=\s|$)")
_DASH = re.compile(r"-[ ]+|-$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could be written: ``insert`` is what is put in place of what was typed."""

    label: str
    kind: Literal["key", "value"]
    insert: str
    view: FieldView
    """The field: the key's own, or that of the value."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The candidates, and the bytes of the Markdown they replace."""

    path: str
    start: int
    end: int
    candidates: tuple[Candidate, ...] = ()
    one_line: bool = False
    """Whether what is inserted must stay on one line: inside brackets, or in a quoted block."""
    is_key: bool = False


@dataclass(slots=True)
class Place:
    """Where the cursor is: the mapping's path, or with ``key`` the value of that key."""

    path: str
    typed: str
    key: str | None = None
    siblings: set[str] = field(default_factory=set)
    quote: str = ""
    in_list: bool = False
    flow: bool = False


def describe(path: str) -> FieldView | None:
    """The field at ``meta.op_kind`` or ``interface.inputs[2].dtype``: titles, texts, values, template."""
    return field_at(path)


def complete(document: DesignDocument, offset: int) -> Completion | None:
    """What could stand at a byte of the Markdown; None outside the DSL."""
    fence = document.dsl
    inner = _inner(fence, offset) if fence is not None else None
    if fence is None or inner is None:
        return None
    place = place_in(fence.file.data, inner, _is_plain)
    if place is None:
        return None
    start = offset - len(place.typed.encode("utf-8", "surrogateescape"))
    end = _end_of_word(document.data, offset)
    if place.quote and document.data[end : end + 1] == place.quote.encode():
        end += 1
    if place.key is None:
        one_line = place.flow or bool(fence.region.prefix.strip())
        return Completion(place.path, start, end, tuple(_keys(place)), one_line, is_key=True)
    path = f"{place.path}.{place.key}" if place.path else place.key
    return Completion(path, start, end, tuple(_values(path, place)))


def _inner(fence: Fence, offset: int) -> int | None:
    """The fence's own byte of a byte of the Markdown; None outside its text."""
    hosts = [host for _, host in fence.region.pieces]
    index = bisect_right(hosts, offset) - 1
    if index < 0:
        return None
    inner, host = fence.region.pieces[index]
    stop = fence.region.pieces[index + 1][0] if index + 1 < len(hosts) else len(fence.file.data)
    at = inner + offset - host
    last = len(fence.file.data) if fence.stop is None else fence.stop
    return at if at <= min(stop, last) else None


def _end_of_word(data: bytes, offset: int) -> int:
    end = offset
    while end < len(data) and (data[end : end + 1].isalnum() or data[end : end + 1] in (b"_", b"-")):
        end += 1
    return end


@dataclass(slots=True)
class _Line:
    """A line: the column of its key (behind the dashes), its key, the columns of its dashes."""

    column: int
    key: str | None
    dashes: tuple[int, ...]
    text: str


def _read(line: str) -> _Line | None:
    """None for blank lines and comments."""
    text = line.rstrip("\r\n")
    column = len(text) - len(text.lstrip(" "))
    rest = text[column:]
    if not rest or rest.startswith("#"):
        return None
    return _line(rest, column)[0]


def _line(rest: str, column: int) -> tuple[_Line, re.Match[str] | None]:
    """What stands at ``column``, taken apart, and the match of its key."""
    dashes: list[int] = []
    while match := _DASH.match(rest):
        dashes.append(column)
        column, rest = column + match.end(), rest[match.end() :]
    found = _KEY.match(rest)
    key = next((g for g in found.groups() if g is not None), "").strip() if found else None
    return _Line(column, key, tuple(dashes), rest), found


def _is_plain(path: str) -> bool:
    """Whether a list holds plain values."""
    view = field_at(path)
    return view is not None and view.item is None


def place_in(data: bytes, inner: int, is_plain: Callable[[str], bool]) -> Place | None:
    """Where a byte of a YAML text is; ``is_plain`` says of a list's path whether it holds plain values.

    None where nothing can be written: in comments, in scalars that go on, between a key and its blank.
    """
    begin = max(data.rfind(b"\n", 0, inner), data.rfind(b"\r", 0, inner)) + 1
    before = data[begin:inner].decode("utf-8", "surrogateescape")
    above = data[:begin].decode("utf-8", "replace").splitlines()
    below = data[inner:].decode("utf-8", "replace").splitlines()[1:]
    column = len(before) - len(before.lstrip(" "))
    rest = before[column:]
    if rest.startswith("#") or " #" in rest:
        return None
    line, found = _line(rest, column)
    column, key, dashes, rest = line.column, line.key, line.dashes, line.text
    path = _path_above(above, column, dashes)
    flow = _flow(rest[found.end() :] if found else rest)
    if flow is not None:
        base = (f"{path}.{key}" if path else key) if key is not None else path
        return _in_flow(base, flow, is_plain)
    typed = rest[found.end() :].lstrip() if found else rest
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    if found and key is not None:
        return Place(path, typed, key, quote=quote) if rest[found.end() :][:1] == " " else None
    if ":" in typed:
        return None
    if path.endswith("[]") and is_plain(path[:-2]):
        # An item of a list of plain values.
        parent, _, name = path[:-2].rpartition(".")
        return Place(parent, typed, name, quote=quote, in_list=True)
    siblings = set() if dashes else set(_beside(reversed(above), column, up=True))
    return Place(path, typed, siblings=siblings | set(_beside(iter(below), column, up=False)))


def _path_above(above: list[str], column: int, dashes: Sequence[int]) -> str:
    """The path of the mapping whose keys stand at ``column``, by what is further left above."""
    steps: list[str] = []
    limit = column
    items = list(reversed(dashes))
    for dash in items:
        steps.append("[]")
        limit = dash
    # A list's dashes may stand at the column of its own key.
    same = bool(items)
    for text in reversed(above):
        line = _read(text)
        if line is None:
            continue
        while line.dashes and line.dashes[-1] < limit and line.column >= limit:
            # This line begins the item the place is in.
            steps.append("[]")
            limit, same = line.dashes[-1], True
            line.dashes = line.dashes[:-1]
            line.column = limit
            line.key = None
        if line.key is not None and (line.column < limit or (same and line.column == limit and not line.dashes)):
            steps.append(f".{line.key}")
            limit, same = line.column, False
            while line.dashes:
                steps.append("[]")
                limit, same = line.dashes[-1], True
                line.dashes = line.dashes[:-1]
        if limit == 0 and not same:
            break
    return "".join(reversed(steps)).lstrip(".")


def _beside(lines: Iterator[str], column: int, *, up: bool) -> Iterator[str]:
    """The keys of the same mapping, upwards or downwards, until it ends."""
    for text in lines:
        line = _read(text)
        if line is None:
            continue
        first = line.dashes[0] if line.dashes else line.column
        if line.column == column and line.key is not None and (up or not line.dashes):
            yield line.key
        if first < column:
            return


def _flow(text: str) -> str | None:
    """The text from the first bracket that is still open; None without one."""
    opened: list[int] = []
    quote = ""
    for at, ch in enumerate(text):
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "\"'" and (at == 0 or text[at - 1] in " ,[{:"):
            quote = ch
        elif ch in "[{":
            opened.append(at)
        elif ch in "]}" and opened:
            opened.pop()
    return text[opened[0] :] if opened else None


def _in_flow(path: str, text: str, is_plain: Callable[[str], bool]) -> Place | None:
    """The place at the end of an open bracket's text."""
    frames: list[tuple[str, str, set[str]]] = []
    typed, key = "", ""
    for ch in text:
        if ch in "[{":
            path = f"{path}.{key}" if key and path else key or path
            if frames and frames[-1][0] == "[":
                path += "[]"
            frames.append((ch, path, set()))
            typed = key = ""
        elif ch in "]}":
            _, path, _ = frames.pop() if frames else ("", path, set())
            path = frames[-1][1] if frames else path
            typed = key = ""
        elif ch == ",":
            typed = key = ""
        elif ch == ":" and frames and frames[-1][0] == "{" and not key:
            key = typed.strip().strip("'\"")
            frames[-1][2].add(key)
            typed = ""
        else:
            typed += ch
    if not frames:
        return None
    bracket, path, siblings = frames[-1]
    lead = typed.lstrip()
    quote = lead[:1] if lead[:1] in ("'", '"') else ""
    if bracket == "[":
        if not is_plain(path):
            return None
        parent, _, name = path.rpartition(".")
        return Place(parent, lead, name, quote=quote, in_list=True, flow=True)
    return Place(path, lead, key or None, siblings, quote, flow=True)


def _keys(place: Place) -> Iterator[Candidate]:
    for view in keys_at(place.path).values():
        if view.key not in place.siblings:
            yield Candidate(view.key, "key", f"{view.key}: " if view.model is None else f"{view.key}:", view)


def _values(path: str, place: Place) -> Iterator[Candidate]:
    view = field_at(path)
    if view is None or (view.kind == "list" and not place.in_list):
        return
    texts = list(view.values or view.examples)
    if view.kind == "flag":
        texts = ["true", "false"]
    filled = template(view).strip('"')
    if (
        not texts
        and filled
        and PLACEHOLDER not in filled
        and filled != "[]"
        and view.kind in ("integer", "number", "text")
    ):
        texts = [filled]
    for text in texts:
        quoted = f"{place.quote}{text}{place.quote}" if place.quote else text
        yield Candidate(text, "value", quoted, view)
