"""What could stand at a place of a contract: keys that are missing, values a key takes, names the operator has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.contracts.fields import Contract, Field, Pair, Step, at
from opdev.contracts.jsontext import place
from opdev.contracts.known import known_keys, known_values
from opdev.contracts.parts import Part, open_at
from opdev.design.complete import place_in
from opdev.design.snippets import escaped
from opdev.rules.context import Project
from opdev.syntax.file import File

_STEP = re.compile(r"\.?([^.\[\]]+)|\[\]")
_WORD = re.compile(rb"[\w\x80-\xff.+-]*")
_FLAGS: dict[str, Pair] = {"true": ("是", "yes"), "false": ("否", "no")}
_PLAIN = re.compile(r"[A-Za-z_][\w./+-]*")


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that could be written: ``text`` replaces the word, ``snippet`` does so with stops to fill in."""

    label: str
    text: str
    why: Pair
    is_key: bool
    snippet: str = ""
    field: Field | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Offers:
    """What could stand in place of the bytes ``[start, end)``, the likeliest first."""

    contract: Contract
    start: int
    end: int
    items: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place, in JSON or YAML alike."""

    steps: tuple[Step, ...]
    is_key: bool
    start: int
    end: int
    quote: str = ""
    siblings: frozenset[str] = frozenset()
    has_colon: bool = False
    comma: bool = False


def offered(file: File, offset: int, project: Project | None) -> Offers | None:
    """What could stand at a byte of a file; None outside contracts and where nothing is known."""
    part = open_at(file, offset)
    spot = _spot(file, part, offset) if part is not None else None
    if part is None or spot is None:
        return None
    found = _keys(part, spot) if spot.is_key else _values(part, spot, offset, project)
    unique = {o.label: o for o in reversed(list(found))}
    return Offers(part.contract, spot.start, spot.end, tuple(reversed(unique.values()))) if unique else None


def _spot(file: File, part: Part, offset: int) -> _Spot | None:
    data = file.data[part.start : part.end]
    if part.json:
        text = data.decode("utf-8", "surrogateescape")
        found = place(text, len(data[: offset - part.start].decode("utf-8", "surrogateescape")))
        if found is None:
            return None

        def byte(index: int) -> int:
            return part.start + len(text[:index].encode("utf-8", "surrogateescape"))

        return _Spot(
            found.steps, found.is_key, byte(found.start), byte(found.end), '"' if found.quoted else "", found.siblings,
            found.has_colon, found.needs_comma,
        )  # fmt: skip

    def is_plain(path: str) -> bool:
        field = at(part.contract.top, _steps(path))
        return field is not None and field.kind == "list" and not field.fields

    where = place_in(data, offset - part.start, is_plain)
    if where is None:
        return None
    start = offset - len(where.typed.encode("utf-8", "surrogateescape"))
    match = _WORD.match(file.data, offset)
    end = match.end() if match is not None else offset
    if where.quote and file.data[end : end + 1] == where.quote.encode():
        end += 1
    steps = _steps(where.path)
    if where.key is None:
        colon = re.match(rb"[ \t]*:(?=\s|\Z)", file.data[end : end + 40]) is not None
        return _Spot(tuple(steps), True, start, end, where.quote, frozenset(where.siblings), colon)
    steps = [*steps, where.key, *([0] if where.in_list else [])]
    return _Spot(tuple(steps), False, start, end, where.quote)


def _steps(path: str) -> list[Step]:
    """``modules[].inputs`` is modules, any item, inputs."""
    return [m[1] if m[1] is not None else 0 for m in _STEP.finditer(path)]


def _keys(part: Part, spot: _Spot) -> Iterator[Offer]:
    parent = at(part.contract.top, spot.steps)
    if parent is None:
        return
    for name, why in known_keys(part, spot.steps):
        if name and name not in spot.siblings and parent.each is not None:
            yield _key(part, spot, parent.each, name, why)
    for field in sorted(parent.fields, key=lambda f: not f.required):
        if field.key not in spot.siblings:
            yield _key(part, spot, field, field.key, field.title)


def _key(part: Part, spot: _Spot, field: Field, name: str, why: Pair) -> Offer:
    written = json.dumps(name, ensure_ascii=False) if part.json else name
    steps = (*spot.steps, name)
    if spot.has_colon:
        return Offer(name, written, why, True, field=field, steps=steps)
    value = field.start if part.json else field.start.replace('""', "")
    return Offer(name, f"{written}: {value}", why, True, f"{escaped(written)}: {_stop(field, json_=part.json)}", field, steps)  # fmt: skip


def _stop(field: Field, *, json_: bool) -> str:
    """A value as a snippet: the choices there are, or what a new one begins with."""
    words = list(_FLAGS) if field.kind == "flag" else list(field.values) if not field.usual else []
    if words and field.kind in ("text", "integer", "flag") and len(words) > 1:
        listed = ",".join(re.sub(r"([\\,|$}])", r"\\\1", w) for w in words)
        choice = f"${{1|{listed}|}}"
        return f'"{choice}"' if json_ and field.kind == "text" else choice
    start = field.start
    if len(words) == 1 and field.kind != "flag":
        start = f'"{words[0]}"' if field.kind == "text" else words[0]
    for opened, closed in ('""', "[]", "{}"):
        if start[:1] == opened and start[-1:] == closed and (json_ or opened != '"'):
            return f"{escaped(opened)}${{1:{escaped(start[1:-1])}}}{escaped(closed)}"
    return f"${{1:{escaped(start if json_ else start.strip(chr(34)))}}}"


def _values(part: Part, spot: _Spot, offset: int, project: Project | None) -> Iterator[Offer]:
    field = at(part.contract.top, spot.steps)
    if field is None:
        return
    in_list = bool(spot.steps) and isinstance(spot.steps[-1], int)
    takes = (field.kind not in ("list", "object") or (in_list and field.kind == "list")) and not field.fields
    if not takes:
        return
    for text, why in known_values(part, spot.steps, offset, project):
        yield _value(part, spot, field, text, why)
    for text, why in (_FLAGS if field.kind == "flag" else field.values).items():
        yield _value(part, spot, field, text, why)


def _value(part: Part, spot: _Spot, field: Field, text: str, why: Pair) -> Offer:
    written = text
    if part.json and field.kind in ("text", "list", "any"):
        written = json.dumps(text, ensure_ascii=False)
    elif spot.quote:
        written = f"{spot.quote}{text}{spot.quote}"
    elif not part.json and field.kind == "text" and not _PLAIN.fullmatch(text):
        written = json.dumps(text, ensure_ascii=False)
    return Offer(text, written, why, False, "", field, spot.steps)
