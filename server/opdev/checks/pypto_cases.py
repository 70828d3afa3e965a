"""The P0 cases of a machine contract: what each gives to the operator, held against what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opdev.checks import pypto_shapes as shapes
from opdev.checks.pypto_values import again, choice, named, number, objects, required
from opdev.contracts.documents import MACHINE
from opdev.contracts.vocabulary import DTYPES
from opdev.design.nodes import Node
from opdev.rules.model import Hit

_CASES = next(f for f in MACHINE.top.fields if f.key == "p0_cases").fields
_SPECIAL = ("+inf", "-inf", "nan")
Declared = dict[str, list[Node]]


def judged(data: bytes, root: Node, declared: Declared) -> Iterator[Hit]:
    """Every case, the first of which has the defaults."""
    cases, faults = objects(root, "p0_cases", least=1)
    yield from faults
    yield from again(named(cases), "p0_cases")
    for index, case in enumerate(cases):
        yield from required(data, case, _CASES)
        params, default = case.get("params"), root.get("default_params")
        if index == 0 and params is not None and default is not None and params.data() != default.data():
            yield Hit(*params.name_range, "first-case", {})
        if params is not None and params.kind != "mapping":
            yield Hit(*params.where, "object-of", {"key": "params"})
        elif params is not None and default is not None and default.kind == "mapping":
            for child in params.children:
                if default.get(child.key or "") is None:
                    yield Hit(*child.name_range, "unknown-param", {"name": child.key or ""})
        good = [
            hit
            for key, of in (("input_shapes", "inputs"), ("output_shapes", "outputs"))
            for hit in _same(case, key, declared[of])
        ]
        yield from good
        if not good:
            yield from _agrees(root, case, declared)
        yield from _dtypes(case, declared, first=index == 0)
        yield from _special(case, declared["inputs"])


def _same(case: Node, key: str, tensors: Sequence[Node]) -> Iterator[Hit]:
    """One shape of each declared tensor, in their order."""
    given = case.get(key)
    if given is None:
        return
    if given.kind != "mapping":
        yield Hit(*given.where, "object-of", {"key": key})
        return
    wanted = [n.value for n in named(tensors)]
    names = [c.key or "" for c in given.children]
    if names != wanted:
        args = {"key": key, "wanted": ", ".join(wanted), "given": ", ".join(names) or "—"}
        yield Hit(*given.name_range, "shapes", args)
        return
    for tensor, shape in zip(tensors, given.children, strict=False):
        members = shape.children if _is_list(tensor) and shape.kind == "sequence" else [shape]
        for one in members:
            if shapes.concrete(one) is None:
                yield Hit(*one.where, "concrete", {"name": shape.key or "", "value": one.text.replace("\n", ", ")[:60]})


def _is_list(tensor: Node) -> bool:
    flag = tensor.get("is_list")
    return flag is not None and flag.tag == "bool" and flag.data() is True


def _agrees(root: Node, case: Node, declared: Declared) -> Iterator[Hit]:
    """The symbols have one value each, in its range, and all shapes follow from them."""
    known: shapes.Known = {}
    pairs: list[tuple[Node, Node]] = []
    for key, of in (("input_shapes", "inputs"), ("output_shapes", "outputs")):
        given = case.get(key)
        both = zip(declared[of], given.children if given is not None else (), strict=False)
        pairs += [(tensor, shape) for tensor, shape in both if not _is_list(tensor)]
    inputs = len([t for t in declared["inputs"] if not _is_list(t)])
    for tensor, shape in pairs[:inputs]:
        yield from shapes.solved(tensor.get("shape"), shape, known)
    for tensor, shape in pairs[inputs:]:
        # An output has no symbol of its own: what stands there has to be what the inputs make.
        yield from (
            h
            for h in shapes.solved(tensor.get("shape"), shape, dict(known))
            if h.message != "conflict" or h.args["name"] in known
        )
    for tensor, shape in pairs:
        yield from shapes.evaluated(tensor.get("shape"), shape, known)
    ranges = root.get("dynamic_axes_ranges")
    for name, value in known.items():
        span = ranges.get(name) if ranges is not None else None
        ends = [number(n) for n in span.children] if span is not None and span.kind == "sequence" else []
        least, most = (ends[0], ends[1]) if len(ends) == 2 else (None, None)
        if least is not None and most is not None and not least <= value <= most:
            where = case.get("input_shapes") or case
            args = {"name": name, "value": value, "least": f"{least:g}", "most": f"{most:g}"}
            yield Hit(*where.name_range, "out-of-range", args)


def _dtypes(case: Node, declared: Declared, *, first: bool) -> Iterator[Hit]:
    """Dtypes of a case come for inputs and outputs together."""
    own = {key: case.get(key) for key in ("input_dtypes", "output_dtypes")}
    there = [n for n in own.values() if n is not None]
    if len(there) == 1:
        yield Hit(*there[0].name_range, "dtype-pair", {"key": there[0].key or ""})
    for key, of in (("input_dtypes", "inputs"), ("output_dtypes", "outputs")):
        node = own[key]
        if node is None:
            continue
        if node.kind != "mapping":
            yield Hit(*node.where, "object-of", {"key": key})
            continue
        tensors = {n.value: t for t in declared[of] for n in named([t])}
        if [c.key for c in node.children] != list(tensors):
            args = {
                "key": key,
                "wanted": ", ".join(tensors),
                "given": ", ".join(c.key or "" for c in node.children) or "—",
            }
            yield Hit(*node.name_range, "shapes", args)
        for child in node.children:
            yield from choice(child, key, DTYPES, message="dtype")
            tensor = tensors.get(child.key or "")
            right = tensor.get("dtype") if tensor is not None else None
            if first and right is not None and child.value in DTYPES and child.value != right.value:
                yield Hit(
                    *child.where, "first-dtype", {"name": child.key or "", "value": child.value, "wanted": right.value}
                )


def _special(case: Node, inputs: Sequence[Node]) -> Iterator[Hit]:
    node = case.get("input_special_values")
    if node is None:
        return
    if node.kind != "mapping":
        yield Hit(*node.where, "object-of", {"key": "input_special_values"})
        return
    names = [n.value for n in named(inputs)]
    for child in node.children:
        if child.key not in names:
            yield Hit(*child.name_range, "unknown-input", {"name": child.key or "", "known": ", ".join(names)})
        for one in child.children if child.kind == "sequence" else [child]:
            yield from choice(one, "input_special_values", _SPECIAL)
