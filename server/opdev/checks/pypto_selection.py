"""KB_SELECTION.json: what of the knowledge base a PyPTO-Pro operator takes over, held against the knowledge base itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from opdev.checks.pypto_kb import opened, whose
from opdev.checks.pypto_values import (
    again,
    is_text,
    items,
    listed,
    objects,
    required,
    text,
    version,
)
from opdev.contracts import anchors
from opdev.contracts.fields import Field
from opdev.contracts.knowledge import FIELDS, SELECTION
from opdev.contracts.mend import meant, renamed, replaced
from opdev.design.nodes import Node
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_FOLDERS = {"optional_patterns": "patterns", "required_constraints": "constraints"}
_ENTRY: tuple[Field, ...] = next(f for f in SELECTION.top.fields if f.key == FIELDS[0]).fields
_MAP = "topology-map.json"


def kb_selection(context: Context) -> Iterator[Hit]:
    """Its keys and values, and whether what it names is what the knowledge base has."""
    root, faults = opened(context, "KB_SELECTION.json", SELECTION.top.fields)
    yield from faults
    if root is None:
        return
    yield from whose(context, root)
    yield from _both(context, root)
    table = _table(context)
    yield from version(root, _wanted(table))
    yield from _topologies(root, table)
    for key in FIELDS:
        entries, faults = objects(root, key)
        yield from faults
        for entry in entries:
            yield from required(context.data, entry, _ENTRY)
            yield from text(entry, "path", "reason")
            yield from _path(context, entry, key)
        yield from again([p for e in entries if (p := e.get("path")) is not None], key)
    flag, patterns = root.get("no_matching_pattern"), root.get("optional_patterns")
    if flag is not None and (flag.tag != "bool" or flag.style != "plain"):
        yield Hit(*flag.where, "bool", {"key": "no_matching_pattern"})
    elif flag is not None and patterns is not None and patterns.kind == "sequence":
        right = not patterns.children
        if flag.data() is not right:
            args = {"count": len(patterns.children), "value": flag.value, "wanted": str(right).lower()}
            yield Hit(*flag.where, "pattern-flag", args, Fix((Edit(flag.start, flag.end, str(right).lower()),)))


def _both(context: Context, root: Node) -> Iterator[Hit]:
    """A selection stands beside the operator's files or in its classes, never both."""
    place = context.file.place
    if context.project is None or context.file.path != f"{place.root}/KB_SELECTION.json":
        return
    others = [f.path for f in context.project.files("pypto-kb") if f.path.endswith("/KB_SELECTION.json")]
    below = [p.removeprefix(f"{place.root}/") for p in others if p != context.file.path]
    if below and root.children:
        yield Hit(*root.children[0].name_range, "both", listed(sorted(below)))


def _path(context: Context, entry: Node, key: str) -> Iterator[Hit]:
    value, hashed = entry.get("path"), entry.get("sha256")
    well = hashed is not None and hashed.kind == "scalar" and _HASH.fullmatch(hashed.value) is not None
    data = None
    if value is not None and is_text(value):
        folder = _FOLDERS[key]
        if not anchors.inside(value.value):
            yield Hit(*value.where, "escapes", {"value": value.value})
        elif value.value.removeprefix("./").split("/")[0] != folder:
            yield Hit(*value.where, "folder", {"value": value.value, "wanted": folder, "key": key})
        else:
            data = anchors.text_of(context.project, value.value)
            if data is None and _has_base(context):
                yield Hit(*value.where, "no-document", {"value": value.value})
    if hashed is None:
        return
    right = anchors.digest(data) if data is not None else ""
    fix = Fix((replaced(hashed, right, json_=True),), "hash") if right and hashed.end > hashed.start else None
    if not well:
        yield Hit(*hashed.where, "hash", {}, fix)
    elif right and hashed.value != right:
        yield Hit(*hashed.where, "stale", {"path": value.value if value is not None else ""}, fix)


def _has_base(context: Context) -> bool:
    return context.project is not None and next(anchors.bases(context.project.root), None) is not None


def _table(context: Context) -> dict[str, object]:
    """The knowledge base's map of topologies; empty where there is none or it cannot be read."""
    for name in (_MAP, f"references/{_MAP}"):
        data = anchors.text_of(context.project, name)
        if data is not None:
            return _read(data)
    return {}


@lru_cache(maxsize=4)
def _read(data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _part(table: object, key: str) -> dict[str, object]:
    found = table.get(key) if isinstance(table, dict) else None
    return found if isinstance(found, dict) else {}


def _wanted(table: dict[str, object]) -> int | None:
    found = _part(table, "contract").get("contract_version")
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _topologies(root: Node, table: dict[str, object]) -> Iterator[Hit]:
    topologies, faults = items(root, "topologies")
    yield from faults
    yield from again(topologies, "topologies")
    known = _part(table, "topologies")
    for node in topologies:
        if not is_text(node):
            yield Hit(*node.where, "text", {"key": "topologies"})
        elif known and node.value not in known:
            near = meant(node.value, list(known))
            args = {"value": node.value, "allowed": ", ".join(known), "wanted": near or ""}
            yield Hit(*node.where, "topology", args, Fix((replaced(node, near, json_=True),)) if near else None)
    properties = root.get("properties")
    if properties is not None and properties.kind != "mapping":
        yield Hit(*properties.where, "object-of", {"key": "properties"})
        return
    keys = _part(table, "contract").get("property_keys")
    allowed = [k for k in keys if isinstance(k, str)] if isinstance(keys, list) else []
    for child in properties.children if properties is not None and allowed else ():
        if child.key not in allowed:
            near = meant(child.key or "", allowed)
            args = {"value": child.key or "", "allowed": ", ".join(allowed), "wanted": near or ""}
            yield Hit(*child.name_range, "property", args, Fix((renamed(child, near),)) if near else None)
    wanted = [c for n in topologies for c in _constraints(known.get(n.value))]
    chosen = {p.value for e in objects(root, "required_constraints")[0] if (p := e.get("path")) is not None}
    left = [c for c in dict.fromkeys(wanted) if c not in chosen]
    where = root.get("required_constraints")
    if left and where is not None:
        yield Hit(*(where.name_range), "unselected", listed(left))


def _constraints(topology: object) -> list[str]:
    """Paths of the constraints that come with a topology."""
    found = topology.get("constraints") if isinstance(topology, dict) else None
    paths = [c.get("path") if isinstance(c, dict) else c for c in found] if isinstance(found, list) else []
    return [p if p.startswith("constraints/") else f"constraints/{p}" for p in paths if isinstance(p, str)]
