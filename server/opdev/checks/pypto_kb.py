"""What the three files of an operator's knowledge-base contract begin with, and how they find each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opdev.checks.pypto_values import operator, required, text, valid_json
from opdev.contracts.fields import Field
from opdev.contracts.mend import replaced
from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Fix, Hit


def opened(context: Context, name: str, fields: Sequence[Field]) -> tuple[Node | None, list[Hit]]:
    """The tree of the contract of this name, and what is wrong with it as a whole; no tree for any other file."""
    if not context.file.path.endswith(f"/{name}"):
        return None, []
    root, faults = valid_json(context)
    return root, faults if root is None else [*faults, *required(context.data, root, fields)]


def whose(context: Context, root: Node) -> list[Hit]:
    """What a contract says of the operator and the class it belongs to, where that is not so."""
    return [*text(root, "op", "class_id"), *_class_of(context, root), *operator(context, root.get("op"))]


def _class_of(context: Context, root: Node) -> Iterator[Hit]:
    """``class_id`` is ``.`` beside the operator's files, else the folder's name."""
    value, place = root.get("class_id"), context.file.place
    if value is None or value.kind != "scalar" or place.root is None:
        return
    folder = context.file.path[len(place.root) :].strip("/").rpartition("/")[0]
    wanted = folder.rpartition("/")[2] if folder and folder != "docs" else "."
    if value.value != wanted:
        fix = Fix((replaced(value, wanted, json_=True),)) if value.end > value.start else None
        yield Hit(*value.where, "class", {"value": value.value, "wanted": wanted}, fix)


def neighbour(context: Context, name: str) -> Node | None:
    """A contract in the same folder."""
    folder = context.file.path.rpartition("/")[0]
    files = context.project.files("pypto-kb") if context.project is not None else ()
    root = next((root_of(f) for f in files if f.path == f"{folder}/{name}"), None)
    return root if root is not None and root.kind == "mapping" else None
