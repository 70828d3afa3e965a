"""Edits that mend a contract: a key put in, a word made the one that was meant, in JSON and YAML alike."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from opdev.contracts.fields import Field
from opdev.design.nodes import Node
from opdev.design.problems import nearest
from opdev.rules.model import Edit

_BLANKS = re.compile(rb"[ \t]*")
_BARE = re.compile(r"[A-Za-z_][\w./+-]*")


def inserted(data: bytes, node: Node, fields: Sequence[Field], *, json_: bool) -> Edit | None:
    """Put keys behind the last of an object, set out as those there are; None where there is no place for them.

    ``node`` has its places in ``data``.
    """
    flow = node.style == "flow"
    if node.kind != "mapping" or not fields or node.alias or (not flow and not node.children):
        return None
    pairs = [_pair(f, json_=json_, flow=flow) for f in fields]
    if not node.children:
        return Edit(node.start + 1, node.start + 1, ", ".join(pairs))
    first, last = node.children[0], node.children[-1]
    if first.key_start < 0 or last.alias:
        return None
    end = max(last.end, last.key_end)
    begin = data.rfind(b"\n", 0, first.key_start) + 1
    own_line = data[begin : first.key_start].strip() == b""
    if flow:
        between = f",\n{_indent(data, begin)}" if own_line and begin > node.start else ", "
        return Edit(end, end, "".join(between + pair for pair in pairs))
    # The dashes of an item count as its indentation.
    column = len(data[begin : first.key_start].decode("utf-8", "replace"))
    stop = data.find(b"\n", end)
    stop = len(data) if stop < 0 else stop
    stop -= data[:stop].endswith(b"\r")
    return Edit(stop, stop, "".join("\n" + " " * column + pair for pair in pairs))


def _indent(data: bytes, begin: int) -> str:
    match = _BLANKS.match(data, begin)
    return match[0].decode() if match is not None else ""


def _pair(field: Field, *, json_: bool, flow: bool) -> str:
    if json_:
        return f"{json.dumps(field.key)}: {field.start}"
    return f"{field.key}: {field.start}" if flow or field.start else f"{field.key}:"


def renamed(node: Node, word: str) -> Edit:
    """Make a key another one, its quotes kept."""
    quote = node.key_end - node.key_start - len((node.key or "").encode())
    return Edit(node.key_start, node.key_end, json.dumps(word) if quote >= 2 else word)


def replaced(node: Node, word: str, *, json_: bool) -> Edit:
    """Make a value another one, its quotes kept."""
    quoted = node.style in ("single", "double") or json_ or not _BARE.fullmatch(word)
    return Edit(node.start, node.end, json.dumps(word, ensure_ascii=False) if quoted else word)


def meant(word: str, allowed: Sequence[str]) -> str | None:
    """The word of a few that somebody most likely meant; None where it is near none or is one."""
    return None if word in allowed else nearest(word, list(allowed))


def moved(edit: Edit, by: int) -> Edit:
    return Edit(edit.start + by, edit.end + by, edit.text, edit.path)
