"""Shapes of contracts: formulas that can be read, symbols that can be known, cases that agree with what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opdev.checks.pypto_values import whole
from opdev.contracts.formulas import Formula, formula
from opdev.design.nodes import Node
from opdev.rules.model import Hit

Known = dict[str, int]


def dims(shape: Node | None) -> list[Node]:
    """The dimensions of a shape that is a list; none of any other."""
    return list(shape.children) if shape is not None and shape.kind == "sequence" else []


def is_any_rank(shape: Node | None) -> bool:
    """Whether a shape is ``["..."]``: any rank."""
    found = dims(shape)
    return len(found) == 1 and found[0].kind == "scalar" and found[0].value == "..."


def read(dim: Node) -> Formula | None:
    """A dimension's formula; None for what is none."""
    if dim.kind != "scalar" or dim.tag not in ("str", "int"):
        return None
    return formula(dim.value)


def judged(shape: Node | None) -> Iterator[Hit]:
    """Dimensions that cannot be read, or can never be."""
    if shape is None or is_any_rank(shape):
        return
    if shape.kind != "sequence":
        yield Hit(*shape.where, "list", {"key": "shape"})
        return
    for dim in shape.children:
        found = read(dim)
        if found is None or (not found.symbols and (found.value({}) or 0) < 1):
            yield Hit(*dim.where, "dim", {"value": dim.text[:60]})


def symbols(shapes: Sequence[Node | None]) -> dict[str, Node]:
    """The symbols of some shapes with the dimension each stands in first."""
    found: dict[str, Node] = {}
    for shape in shapes:
        for dim in dims(shape) if not is_any_rank(shape) else ():
            one = read(dim)
            for name in one.symbols if one is not None else ():
                found.setdefault(name, dim)
    return found


def solvable(shapes: Sequence[Node | None]) -> set[str]:
    """The symbols that are a dimension by themselves: those a test can read from a tensor."""
    return {one.alone for shape in shapes for dim in dims(shape) if (one := read(dim)) is not None and one.alone}


def concrete(node: Node) -> list[int] | None:
    """A case's shape: whole numbers from 0; None for what is none."""
    values = [whole(child) for child in node.children] if node.kind == "sequence" else [None]
    return [v for v in values if v is not None and v >= 0] if all(v is not None and v >= 0 for v in values) else None


def solved(declared: Node | None, given: Node, known: Known) -> Iterator[Hit]:
    """Take the symbols' values from a case's shape; what contradicts an earlier one is told."""
    values = concrete(given)
    wanted = dims(declared)
    if values is None or declared is None or declared.kind != "sequence" or is_any_rank(declared):
        return
    if len(values) != len(wanted):
        args = {"name": given.key or "", "rank": len(values), "wanted_rank": len(wanted)}
        yield Hit(*given.where, "rank", args)
        return
    for dim, value, child in zip(wanted, values, given.children, strict=True):
        one = read(dim)
        name = one.alone if one is not None else None
        if name is None:
            continue
        if known.setdefault(name, value) != value:
            yield Hit(*child.where, "conflict", {"name": name, "value": value, "before": known[name]})


def evaluated(declared: Node | None, given: Node, known: Mapping[str, int]) -> Iterator[Hit]:
    """Dimensions of a case that are not what the declared formula comes to."""
    values = concrete(given)
    wanted = dims(declared)
    if values is None or len(values) != len(wanted) or is_any_rank(declared):
        return
    for dim, value, child in zip(wanted, values, given.children, strict=True):
        one = read(dim)
        if one is None or one.alone in known:
            continue
        right = one.value(known)
        if right is not None and right != value:
            yield Hit(*child.where, "derived", {"value": value, "formula": one.text, "right": right})
