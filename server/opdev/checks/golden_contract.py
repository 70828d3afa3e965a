"""What gen_data.py owes the other scripts: options by name, and config.json for the checker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit, Severity
from opdev.syntax import py
from opdev.syntax.tree import walk

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYS = ("n_pes", "dtype", "numpy_dtype", "expected_elems")
# What the communication template writes instead; a checker made with it reads these.
_OTHER_KEYS = ("n_pes", "elements", "dtype")


def missing_data_config(context: Context) -> Iterator[Hit]:
    """gen_data.py that writes data and no config.json, or one without the keys the checker reads."""
    if PurePosixPath(context.file.path).stem != "gen_data" or context.place.operator is None:
        return
    if b"config.json" not in context.nocomment:
        for call in py.calls(context, "tofile", "save")[:1]:
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(function.start_byte, function.end_byte)
        return
    for call in py.calls(context, "json.dump", "json.dumps"):
        given = call.args[0] if call.args else None
        table = _table(context, given) if given is not None else None
        keys = _keys(context, table) if table is not None else None
        if table is None or keys is None or not keys & {"dtype", "n_pes"}:
            continue
        missing = [key for key in _KEYS if key not in keys]
        if missing:
            severity: Severity | None = "hint" if all(key in keys for key in _OTHER_KEYS) else None
            args = {"missing": ", ".join(missing)}
            yield Hit(table.start_byte, table.start_byte + 1, "keys", args, None, severity)


def _table(context: Context, node: Node) -> Node | None:
    """The dictionary a name was given, where it is written out once."""
    if node.type == "dictionary":
        return node
    if node.type != "identifier":
        return None
    return context.file.memo(("golden.table", context.text(node)), lambda: _written_once(context, context.text(node)))


def _written_once(context: Context, name: str) -> Node | None:
    if re.search(rb"\b" + name.encode() + rb"\s*(?:\[|\.update\b|\.setdefault\b|\|=)", context.code):
        return None
    found = []
    for at in context.find(name):
        here = context.file.root.named_descendant_for_byte_range(at, at + len(name) - 1)
        assigned = here.parent if here is not None else None
        if assigned is not None and assigned.type == "assignment" and assigned.child_by_field_name("left") == here:
            found.append(assigned.child_by_field_name("right"))
    return found[0] if len(found) == 1 and found[0] is not None and found[0].type == "dictionary" else None


def _keys(context: Context, table: Node) -> set[str] | None:
    """Keys of a dictionary; None where it holds more than literal keys."""
    keys: set[str] = set()
    for pair in table.named_children:
        key = pair.child_by_field_name("key") if pair.type == "pair" else None
        text = py.string_value(context.file, key) if key is not None and key.type == "string" else None
        if pair.type == "comment":
            continue
        if text is None:
            return None
        keys.add(text)
    return keys


def positional_argv(context: Context) -> Iterator[Hit]:
    """Options taken from sys.argv by their place, in a script without an argument parser."""
    if not {b"ArgumentParser", b"click", b"fire", b"typer", b"getopt", b"docopt"}.isdisjoint(context.file.words):
        return
    for node in walk(context.file.root) if b"argv" in context.file.words else ():
        if node.type != "subscript":
            continue
        value, index = node.child_by_field_name("value"), node.child_by_field_name("subscript")
        if value is None or index is None or context.text(value) != "sys.argv":
            continue
        if index.type == "integer" and int(context.text(index), 0) > 1:
            # One file name by place is a helper's right; from the second on the order has to be known.
            yield Hit(node.start_byte, node.end_byte, args={"name": context.text(node)})
            return
