"""What all contracts of PyPTO operators ask of a value: that it is there, is of its kind, says something.

Each says it at the value's own place, with the edit that mends it where there is only one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from opdev.contracts.fields import Field
from opdev.contracts.mend import inserted, meant, renamed, replaced
from opdev.design.nodes import Node
from opdev.facts.pypto_docs import operator_names
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit


def valid_json(context: Context) -> tuple[Node | None, list[Hit]]:
    """A JSON file's tree, and what keeps it from being one object with each key once."""
    fault = json_fault(context.data)
    if fault is not None:
        return None, [fault]
    root = root_of(context.file)
    if root is None or root.kind != "mapping":
        return None, [Hit(*beginning(context, root), "object")]
    return root, list(twice(root))


def json_fault(data: bytes) -> Hit | None:
    """What keeps a text from being JSON, at its place."""
    try:
        json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        if isinstance(error, UnicodeDecodeError):
            at = error.start
        else:
            at = getattr(error, "pos", 0)
            at = len(data.decode("utf-8", "replace")[:at].encode()) if isinstance(at, int) else 0
        at = min(at, max(len(data) - 1, 0))
        while at > 0 and data[at] & 0xC0 == 0x80:
            # Not in the middle of a character.
            at -= 1
        end = at + 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        return Hit(at, min(end, len(data)), "json", {"detail": str(getattr(error, "msg", error))[:120]})
    return None


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no JSON number")


def beginning(context: Context, root: Node | None) -> tuple[int, int]:
    """The first character of what there is."""
    at = min(root.start if root is not None else 0, max(len(context.data) - 1, 0))
    return at, min(at + 1, len(context.data))


def twice(root: Node) -> Iterator[Hit]:
    """Keys given twice in any object: the first is lost without a word."""
    for node in root.walk():
        if node.kind == "mapping":
            seen: set[str] = set()
            for child in node.children:
                if child.key is not None and child.key in seen and child.key_start >= 0:
                    yield Hit(child.key_start, child.key_end, "twice", {"key": child.key})
                seen.add(child.key or "")


def key_of(node: Node) -> tuple[int, int]:
    """A key's place; its value's where there is none."""
    return node.name_range if node.key_start >= 0 or node.children else node.where


def required(
    data: bytes, node: Node, fields: Sequence[Field], keys: Sequence[str] = (), *, json_: bool = True
) -> Iterator[Hit]:
    """Keys an object lacks, told at its own key (of an item in a list: at its first); a misspelt one at itself.

    ``fields`` is what may be there; ``keys`` what must be, those the table says are needed unless given.  ``data`` is
    the text that ``node`` has its places in.
    """
    wanted = [f for f in fields if (f.key in keys if keys else f.required)]
    missing = [f for f in wanted if node.get(f.key) is None]
    known = {f.key for f in fields}
    for child in node.children:
        word = child.key or ""
        near = meant(word, [f.key for f in missing]) if word not in known and child.key_start >= 0 else None
        if near is not None:
            fix = Fix((renamed(child, near),), "rename")
            yield Hit(child.key_start, child.key_end, "misspelt", {"key": word, "wanted": near}, fix)
            missing = [f for f in missing if f.key != near]
    if not missing:
        return
    first = node.children[0] if node.key_start < 0 and node.children else node
    names = [f.key for f in missing]
    edit = inserted(data, node, missing, json_=json_)
    args = {"keys": "、".join(names), "keys_en": ", ".join(names)}
    yield Hit(*key_of(first), "missing", args, Fix((edit,), "insert") if edit is not None else None)


def only(node: Node, fields: Sequence[Field]) -> Iterator[Hit]:
    """Keys that nobody reads where no others are allowed; those misspelt are told by ``required``."""
    keys = [f.key for f in fields]
    missing = [f.key for f in fields if f.required and node.get(f.key) is None]
    for child in node.children:
        if child.key is None or child.key in keys or meant(child.key, missing) is not None:
            continue
        near = meant(child.key, [k for k in keys if node.get(k) is None])
        fix = Fix((renamed(child, near),), "rename") if near is not None and child.key_start >= 0 else None
        args = {"key": child.key, "allowed": ", ".join(keys), "wanted": near or ""}
        yield Hit(*key_of(child), "extra", args, fix)


def text(node: Node, *keys: str) -> Iterator[Hit]:
    """Values that are to be non-empty texts."""
    for key in keys:
        value = node.get(key)
        if value is not None and not is_text(value):
            yield Hit(*value.where, "text", {"key": key})


def is_text(node: Node) -> bool:
    return node.kind == "scalar" and node.tag == "str" and bool(node.value.strip())


def choice(
    value: Node | None, key: str, allowed: Mapping[str, object] | Sequence[str], *, json_: bool = True, message: str = "choice",
    **more: object,
) -> Iterator[Hit]:  # fmt: skip
    """A value that is none of a few words, with the one that was meant."""
    words = list(allowed)
    if value is None or (value.kind == "scalar" and value.value in words):
        return
    near = meant(value.value, words) if value.kind == "scalar" and value.value else None
    args = {"key": key, "value": value.text[:60], "allowed": ", ".join(words), "wanted": near or "", **more}
    fix = Fix((replaced(value, near, json_=json_),)) if near is not None and value.end > value.start else None
    yield Hit(*value.where, message, args, fix)


def items(node: Node, key: str, *, least: int = 0) -> tuple[list[Node], list[Hit]]:
    """The items of a list; a fault where it is none, or has too few."""
    found = node.get(key)
    if found is None:
        return [], []
    if found.kind != "sequence":
        return [], [Hit(*found.where, "list", {"key": key})]
    if len(found.children) < least:
        return [], [Hit(*key_of(found), "few", {"key": key, "least": least})]
    return list(found.children), []


def objects(node: Node, key: str, *, least: int = 0) -> tuple[list[Node], list[Hit]]:
    """The items of a list that are objects; faults for the others."""
    every, faults = items(node, key, least=least)
    faults += [Hit(*n.where, "entry", {"key": key}) for n in every if n.kind != "mapping"]
    return [n for n in every if n.kind == "mapping"], faults


def again(nodes: Sequence[Node], key: str) -> Iterator[Hit]:
    """Values that are there twice; ``nodes`` are the scalars."""
    seen: set[str] = set()
    for node in nodes:
        if node.kind == "scalar" and node.value in seen:
            yield Hit(*node.where, "again", {"value": node.value, "key": key})
        seen.add(node.value)


def named(nodes: Sequence[Node], key: str = "name") -> list[Node]:
    """The names of some objects."""
    return [n for node in nodes if (n := node.get(key)) is not None and n.kind == "scalar"]


def whole(node: Node | None) -> int | None:
    """A value as an integer as it is written; None for anything else (texts, true, 1.5)."""
    if node is None or node.kind != "scalar" or node.tag != "int" or node.style != "plain":
        return None
    found = node.data()
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number(node: Node | None) -> float | None:
    """A value as a number; None for anything else.  ``1e-3`` is one, which YAML takes for a text."""
    if node is None or node.kind != "scalar" or node.style != "plain" or node.tag in ("bool", "null"):
        return None
    try:
        found = float(node.value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def version(node: Node, wanted: int | None = None) -> Iterator[Hit]:
    value = node.get("schema_version")
    if value is None:
        return
    found = whole(value)
    if found is None or (wanted is not None and found != wanted):
        fix = (
            Fix((Edit(value.start, value.end, str(wanted)),))
            if wanted is not None and value.end > value.start
            else None
        )
        args = {"wanted": wanted if wanted is not None else "int", "value": value.text}
        yield Hit(*value.where, "version", args, fix)


def operator(context: Context, value: Node | None, *, json_: bool = True) -> Iterator[Hit]:
    """A name that is not the operator's."""
    names = operator_names(context.project)
    if value is None or not is_text(value) or not names or "{{" in value.value:
        return
    if _folded(value.value) not in {_folded(n) for n in names}:
        args = {"value": value.value, "expected": names[0], "wanted": names[0]}
        yield Hit(*value.where, "operator", args, Fix((replaced(value, names[0], json_=json_),)))


def _folded(name: str) -> str:
    """Folders are in CamelCase where files are not."""
    return name.strip().lower().replace("_", "")


def listed(words: Sequence[str]) -> dict[str, str]:
    """Some words for a message: ``values`` in Chinese, ``values_en`` in English."""
    return {"values": "、".join(words), "values_en": ", ".join(words)}
