"""PERFORMANCE_CASES.json: the cases that are measured, held against the SPEC's and the tests, and which are the target."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opdev.checks.pypto_values import (
    again,
    choice,
    is_text,
    items,
    listed,
    named,
    objects,
    required,
    text,
    valid_json,
    version,
)
from opdev.contracts.fields import Field
from opdev.contracts.mend import meant, replaced
from opdev.contracts.parts import machine
from opdev.contracts.performance import CASES, MODES
from opdev.design.nodes import Node
from opdev.facts.pypto_names import named as of_name
from opdev.facts.pypto_names import test_functions
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

_TOP = CASES.top.fields
_CASE: tuple[Field, ...] = next(f for f in _TOP if f.key == "cases").fields
_TARGET: tuple[Field, ...] = next(f for f in _TOP if f.key == "optimization_target").fields


def performance_cases(context: Context) -> Iterator[Hit]:
    """Its keys and values; each case once, with a test that is there; targets that are cases."""
    root, faults = valid_json(context)
    yield from faults
    if root is None:
        return
    yield from required(context.data, root, _TOP)
    yield from version(root, 1)
    cases, faults = objects(root, "cases", least=1)
    yield from faults
    for case in cases:
        yield from required(context.data, case, _CASE)
        yield from text(case, "id", "dtype")
        yield from _shape(case.get("shape"))
    ids = [n for n in named(cases, "id") if is_text(n)]
    yield from again(ids, "cases")
    yield from _tests(context, cases)
    yield from _target(context, root, cases, ids)
    yield from _left_out(context, root, ids)


def _shape(shape: Node | None) -> Iterator[Hit]:
    """A text; a list says the same and is refused."""
    if shape is None or is_text(shape):
        return
    value = shape.data()
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False) if isinstance(value, list) and value else ""
    fix = Fix((Edit(shape.start, shape.end, json.dumps(written)),)) if written and shape.end > shape.start else None
    yield Hit(*shape.where, "shape", {"wanted": written or "[1,32]"}, fix)


def _tests(context: Context, cases: Sequence[Node]) -> Iterator[Hit]:
    """Functions that are called for a case: there, of the name of a test, without parameters."""
    project = context.project
    every = project.files("pypto-test") if project is not None else ()
    finals = [f for f in every if (n := of_name(f.path)) is not None and n.part == "test" and not n.suffix]
    known = {name: node for f in finals for name, node in test_functions(f).items()}
    given = [case.get("test_function") for case in cases]
    for node in given:
        if node is None:
            continue
        if not is_text(node):
            yield Hit(*node.where, "text", {"key": "test_function"})
        elif not node.value.startswith("test_"):
            yield Hit(*node.where, "no-test-name", {"value": node.value})
        elif finals and node.value not in known:
            near = meant(node.value, list(known))
            fix = Fix((replaced(node, near, json_=True),)) if near and node.end > node.start else None
            args = {"value": node.value, "file": finals[0].path.rpartition("/")[2], "wanted": near or ""}
            yield Hit(*node.where, "no-test", args, fix)
        elif finals and _has_parameters(known[node.value]):
            yield Hit(*node.where, "parameters", {"value": node.value})
    missing = [case for case, node in zip(cases, given, strict=True) if node is None]
    if missing and len(missing) < len(cases):
        # Where all are without one, a selector of the runner tells the cases apart.
        for case in missing:
            first = case.children[0] if case.children else case
            yield Hit(*(first.name_range if case.children else case.where), "some-tests", {}, None, "warning")


def _has_parameters(name: Syntax) -> bool:
    """Whether the function of this name takes any parameter."""
    function = name.parent
    found = function.child_by_field_name("parameters") if function is not None else None
    return found is not None and any(child.type != "comment" for child in found.named_children)


def _target(context: Context, root: Node, cases: Sequence[Node], ids: Sequence[Node]) -> Iterator[Hit]:
    target = root.get("optimization_target")
    if target is None:
        return
    if target.kind != "mapping":
        yield Hit(*target.where, "object-of", {"key": "optimization_target"})
        return
    yield from required(context.data, target, _TARGET)
    mode = target.get("selection_mode")
    yield from choice(mode, "selection_mode", MODES)
    wanted, faults = items(target, "case_ids", least=1)
    yield from faults
    yield from again(wanted, "case_ids")
    known = [n.value for n in ids]
    for node in wanted:
        if not is_text(node):
            yield Hit(*node.where, "text", {"key": "case_ids"})
        elif known and node.value not in known:
            near = meant(node.value, known)
            fix = Fix((replaced(node, near, json_=True),)) if near and node.end > node.start else None
            yield Hit(
                *node.where, "no-case", {"value": node.value, "known": ", ".join(known), "wanted": near or ""}, fix
            )
    if mode is None or not cases:
        return
    if mode.value == "single_p0" and len(cases) != 1:
        yield Hit(*mode.where, "not-single", {"count": len(cases)})
    left = [one for one in known if one not in {n.value for n in wanted}]
    if mode.value == "all_p0_no_questions" and left:
        yield Hit(*mode.where, "not-all", listed(left))


def _left_out(context: Context, root: Node, ids: Sequence[Node]) -> Iterator[Hit]:
    """P0 cases of the SPEC that are not measured, where the cases go by the SPEC's names."""
    where, known = root.get("cases"), {n.value for n in ids}
    for file in context.project.files("pypto-spec") if context.project is not None else ():
        block = machine(file)
        if block is None or block.root is None or where is None:
            continue
        names = [n.value for n in named(objects(block.root, "p0_cases")[0])]
        left = [name for name in names if name not in known]
        if left and len(left) < len(names):
            yield Hit(*where.name_range, "unmeasured", listed(left), None, "warning")
