"""The case matrix as data: every case of cases.json says all that run.sh and the report need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax.tree import ancestor, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_NEEDED = ("case_id", "n_pes", "dtype", "rtol", "atol")
_OTHER_NAMES = {
    "case_id": ("id", "name", "case", "caseId", "case_name"),
    "n_pes": ("pes", "pe_size", "npes", "world_size", "pe_count"),
    "dtype": ("data_type", "dtypes", "numpy_dtype"),
    "rtol": ("tolerance", "tol", "precision"),
    "atol": ("tolerance", "tol", "precision"),
}
_PAIRS = ("flow_pair", "block_mapping_pair")
_MAPPINGS = ("flow_mapping", "block_mapping")
_SEQUENCES = ("flow_sequence", "block_sequence")


def incomplete_case(context: Context) -> Iterator[Hit]:
    """A case without an id, a PE count, a type or a tolerance."""
    shared = _keys(context, _top(context)) if _top(context).type in _MAPPINGS else {}
    common = set(shared)
    for name in ("defaults", "default", "common"):
        if name in shared:
            inner = _mapping(shared[name])
            common |= set(_keys(context, inner)) if inner is not None else set()
    for item in _items(context):
        keys = _keys(context, item)
        known = set(keys) | common
        missing = [n for n in _NEEDED if n not in known and not known.intersection(_OTHER_NAMES[n])]
        if missing:
            shown = next((keys[n] for n in ("case_id", *_OTHER_NAMES["case_id"]) if n in keys), None)
            start, end = (
                (shown.start_byte, shown.end_byte) if shown is not None else (item.start_byte, item.start_byte + 1)
            )
            yield Hit(start, end, args={"missing": ", ".join(missing)})


def _top(context: Context) -> Node:
    for node in walk(context.file.root):
        if node.type in (*_MAPPINGS, *_SEQUENCES):
            return node
    return context.file.root


def _mapping(node: Node) -> Node | None:
    """The mapping a value is, past the nodes that only wrap it."""
    here: Node | None = node
    while here is not None and here.type in ("flow_node", "block_node", "block_sequence_item"):
        here = next((c for c in here.named_children if c.type not in ("comment", "tag", "anchor")), None)
    return here if here is not None and here.type in _MAPPINGS else None


def _keys(context: Context, mapping: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for pair in mapping.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type in _PAIRS and key is not None:
            found[context.text(key).strip("\"'")] = value if value is not None else key
    return found


def _items(context: Context) -> list[Node]:
    """The cases: mappings of the list that the file is, or that stands under ``cases``."""
    top = _top(context)
    if top.type in _MAPPINGS:
        value = _keys(context, top).get("cases")
        listed = next((n for n in walk(value) if n.type in _SEQUENCES), None) if value is not None else None
        if listed is None:
            return []
        top = listed
    if top.type not in _SEQUENCES or (context.file.root.has_error and ancestor(top, "ERROR") is not None):
        return []
    found = [m for child in top.named_children if (m := _mapping(child)) is not None]
    # A list of ranges or devices is no list of cases.
    known = re.compile(r"case|pes?$|dtype|shape", re.IGNORECASE)
    return found if any(known.search(k) for m in found for k in _keys(context, m)) else []
