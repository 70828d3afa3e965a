"""DESIGN_BINDINGS.json: how the design keeps what was selected of the knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.pypto_kb import neighbour, opened
from opdev.checks.pypto_values import (
    again,
    choice,
    is_text,
    items,
    key_of,
    listed,
    named,
    objects,
    only,
    required,
    text,
    version,
)
from opdev.contracts import anchors
from opdev.contracts.fields import Field
from opdev.contracts.knowledge import BINDINGS, FIELDS, PAIRS
from opdev.contracts.mend import meant, replaced
from opdev.design.nodes import Node
from opdev.rules.context import Context
from opdev.rules.model import Fix, Hit


def _below(fields: tuple[Field, ...], key: str) -> tuple[Field, ...]:
    return next(f for f in fields if f.key == key).fields


_BINDING = _below(BINDINGS.top.fields, "bindings")
_REQUIREMENT = _below(_BINDING, "requirements")
_KINDS = {kind: "" for kind, _ in PAIRS}
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def design_bindings(context: Context) -> Iterator[Hit]:
    """How the design keeps what the selection demands."""
    root, faults = opened(context, "DESIGN_BINDINGS.json", BINDINGS.top.fields)
    yield from faults
    if root is None:
        return
    data = context.data
    yield from version(root, 1)
    bindings, faults = objects(root, "bindings")
    yield from faults
    for binding in bindings:
        yield from required(data, binding, _BINDING)
        yield from only(binding, _BINDING)
        yield from text(binding, "reference", "selection_reason")
        yield from choice(binding.get("selection_field"), "selection_field", FIELDS)
        requirements, faults = objects(binding, "requirements", least=1)
        yield from faults
        for requirement in requirements:
            yield from _requirement(context, binding, requirement)
        yield from again(named(requirements, "req_id"), "requirements")
    yield from _one_to_one(context, root, bindings)


def _requirement(context: Context, binding: Node, node: Node) -> Iterator[Hit]:
    yield from required(context.data, node, _REQUIREMENT)
    yield from only(node, _REQUIREMENT)
    yield from text(node, "req_id")
    kind, status = node.get("kind"), node.get("status")
    yield from choice(kind, "kind", _KINDS)
    yield from _sources(context, binding, node)
    if kind is None or status is None or kind.value not in _KINDS:
        return
    fitting = [s for k, s in PAIRS if k == kind.value]
    if status.value not in fitting:
        allowed = ", ".join(f"{k}+{s}" for k, s in PAIRS)
        near = meant(status.value, fitting) or (fitting[0] if len(fitting) == 1 else None)
        args = {"kind": kind.text, "status": status.text, "allowed": allowed, "wanted": near or ""}
        fix = Fix((replaced(status, near, json_=True),)) if near and status.end > status.start else None
        yield Hit(*status.where, "pair", args, fix)
    elif (kind.value, status.value) == ("obligation", "applies"):
        yield from required(context.data, node, _REQUIREMENT, ("invariant", "planned_location"))
        yield from text(node, "invariant", "planned_location")
        yield from _planned(context, node.get("planned_location"))


def _sources(context: Context, binding: Node, node: Node) -> Iterator[Hit]:
    """Anchors that the named document has not."""
    found, faults = items(node, "source_anchors")
    yield from faults
    reference = binding.get("reference")
    document = (
        anchors.text_of(context.project, reference.value) if reference is not None and is_text(reference) else None
    )
    for one in found:
        if not is_text(one):
            yield Hit(*one.where, "text", {"key": "source_anchors"})
        elif document is not None and reference is not None and not anchors.has_anchor(document, one.value):
            near = meant(one.value, anchors.anchors(document))
            args = {"value": one.value, "file": reference.value, "wanted": near or ""}
            yield Hit(*one.where, "no-anchor", args, Fix((replaced(one, near, json_=True),)) if near else None)


def _planned(context: Context, node: Node | None) -> Iterator[Hit]:
    """A location names something that the final test has, once there is one."""
    if node is None or not is_text(node) or context.project is None:
        return
    tests = [f for f in context.project.files("pypto-test") if "/modules/" not in f.path]
    words = set(_WORD.findall(node.value))
    if tests and not any(re.search(rb"(?<!\w)%s(?!\w)" % w.encode(), f.data) for f in tests for w in words):
        name = tests[0].path.rpartition("/")[2]
        yield Hit(*node.where, "no-location", {"value": node.value[:60], "file": name}, None, "warning")


def _one_to_one(context: Context, root: Node, bindings: list[Node]) -> Iterator[Hit]:
    selection = neighbour(context, "KB_SELECTION.json")
    if selection is None:
        return
    chosen: dict[str, str] = {}
    for key in FIELDS:
        for entry in objects(selection, key)[0]:
            path = entry.get("path")
            if path is not None and path.kind == "scalar":
                chosen[path.value] = key
    class_id = selection.get("class_id")
    known: set[str] = set()
    for binding in bindings:
        reference, field = binding.get("reference"), binding.get("selection_field")
        own = binding.get("class_id")
        if own is not None and class_id is not None and own.value != class_id.value:
            args = {"value": own.value, "wanted": class_id.value}
            yield Hit(
                *own.where,
                "class",
                args,
                Fix((replaced(own, class_id.value, json_=True),)) if own.end > own.start else None,
            )
        if reference is None or reference.kind != "scalar":
            continue
        if reference.value not in chosen:
            near = meant(reference.value, list(chosen))
            fix = Fix((replaced(reference, near, json_=True),)) if near and reference.end > reference.start else None
            yield Hit(*reference.where, "unselected", {"value": reference.value, "wanted": near or ""}, fix)
        elif reference.value in known:
            yield Hit(*reference.where, "again", {"value": reference.value, "key": "bindings"})
        elif field is not None and field.value in FIELDS and field.value != chosen[reference.value]:
            args = {"value": field.value, "reference": reference.value, "wanted": chosen[reference.value]}
            yield Hit(*field.where, "other-field", args, Fix((replaced(field, chosen[reference.value], json_=True),)))
        known.add(reference.value)
    left = sorted(set(chosen) - known)
    where = root.get("bindings")
    if left and where is not None:
        yield Hit(*key_of(where), "unbound", listed(left))
