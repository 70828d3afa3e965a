"""The intake record as text: how it is written, and how single answers change in one that is there.

Comments, unknown keys, quotes and line ends of a record stay; only the values asked for change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from opdev.design.changes import Change, Written, fill, insert_in_order
from opdev.design.document import INTAKE
from opdev.design.nodes import Node
from opdev.facts.intake import FIELDS, Intake
from opdev.facts.structured import root_of
from opdev.syntax.file import File

ORDER = (*FIELDS, "semantics")
"""The record's keys in the order they are written."""
_PLAIN = re.compile(r"[^\W\d][\w./$~{}+@%-]*(?: [\w./$~{}+@%-]+)*|[/$~][\w./$~{}+@%-]*")
_OTHER = re.compile(r"(?i:true|false|yes|no|on|off|null|y|n)")
_BRACES = re.compile(r"[\[\]{},]")


def yaml_value(value: object) -> str:
    """A flag, null, text or list of numbers as YAML on one line; a text that would be read as another kind is quoted."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(str(item) for item in value)}]"
    text = str(value)
    if _PLAIN.fullmatch(text) and not _OTHER.fullmatch(text) and not _BRACES.search(text):
        return text
    shown = text.isprintable()
    return json.dumps(text, ensure_ascii=not shown)


def new_text(values: Mapping[str, object]) -> str:
    """A whole record; keys outside ``ORDER`` come last."""
    return f"{INTAKE}:\n{_body(values)}"


def _body(values: Mapping[str, object]) -> str:
    keys = [key for key in ORDER if key in values] + [key for key in values if key not in ORDER]
    return "".join(f"  {key}: {yaml_value(values[key])}\n" for key in keys)


def changed(file: File, intake: Intake | None, values: Mapping[str, object]) -> bytes | None:
    """The file's text with ``values`` in its record; None where a value stands in a form nobody can edit safely.

    ``intake`` is the record the file has; without one it is added behind what is there.
    """
    changes = edits(file, intake, values) if intake is not None and intake.node.children else _added(file, values)
    return None if changes is None else applied(file.data, changes)


def applied(data: bytes, changes: Sequence[Change]) -> bytes:
    """Text after changes that do not overlap; insertions at one place keep their order."""
    out, at = [], 0
    for start, end, text in sorted(changes, key=lambda change: (change.start, change.end)):
        out += [data[at:start], text.encode()]
        at = max(at, end)
    return b"".join([*out, data[at:]])


def edits(written: Written, intake: Intake, values: Mapping[str, object]) -> list[Change] | None:
    """The changes that give the record these values; none for values it has already."""
    changes: list[Change] = []
    for key in sorted(values, key=lambda k: ORDER.index(k) if k in ORDER else len(ORDER)):
        value, node = values[key], intake.node.get(key)
        if node is not None and node.kind != "broken" and _same(node, value):
            continue
        change = _one(written, intake.node, key, yaml_value(value))
        if change is None:
            return None
        changes.append(change)
    return _merged(changes)


def _same(node: Node, value: object) -> bool:
    there = node.data()
    if isinstance(value, (list, tuple)):
        return isinstance(there, list) and there == list(value)
    return type(there) is type(value) and there == value


def _one(written: Written, record: Node, key: str, text: str) -> Change | None:
    node = record.get(key)
    if node is None:
        return insert_in_order(written, record, key, text, ORDER)
    if node.alias or node.style in ("literal", "folded"):
        return None
    if node.kind == "scalar" or (node.kind in ("sequence", "mapping") and node.style == "flow"):
        lead = " " if node.start == node.end else ""
        return Change(node.start, node.end, lead + text)
    if node.kind == "sequence" and node.children:
        return _block_list(written, node, text)
    return fill(written, node, text)


def _block_list(written: Written, node: Node, text: str) -> Change | None:
    """A list with one item a line becomes one in brackets, if nothing but its items stands there."""
    last = node.children[-1]
    lines = written.data[node.key_end : last.end].split(b"\n")[1:]
    if any(item.kind != "scalar" or item.alias for item in node.children) or len(lines) != len(node.children):
        return None
    colon = written.data.find(b":", node.key_end)
    return Change(colon + 1, last.end, f" {text}") if colon >= 0 else None


def _merged(changes: Sequence[Change]) -> list[Change]:
    """Insertions at one place as one, in the order they were asked for."""
    merged: dict[tuple[int, int], str] = {}
    for start, end, text in changes:
        merged[start, end] = merged.get((start, end), "") + text
    return [Change(start, end, text) for (start, end), text in merged.items()]


def _added(file: File, values: Mapping[str, object]) -> list[Change] | None:
    """A record for a file that has none: below an empty key, or behind everything else."""
    top = root_of(file)
    newline = file.source.newline
    if top is not None and top.kind == "mapping":
        node = top.get(INTAKE)
        if node is not None:
            change = fill(file, node, _body(values))
            return None if change is None else [change]
        if top.style == "flow":
            return None
    elif top is not None:
        return None
    lead = "" if not file.data or file.data.endswith((b"\n", b"\r")) else newline
    return [Change(len(file.data), len(file.data), lead + new_text(values).replace("\n", newline))]
