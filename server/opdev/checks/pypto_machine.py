"""The machine contract in a PyPTO-Pro SPEC.md: the one JSON block that tests and validators are made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opdev.checks import pypto_cases as cases
from opdev.checks import pypto_shapes as shapes
from opdev.checks.pypto_values import (
    again,
    choice,
    is_text,
    items,
    json_fault,
    named,
    number,
    objects,
    operator,
    required,
    twice,
    version,
    whole,
)
from opdev.contracts.documents import MACHINE
from opdev.contracts.fields import Field
from opdev.contracts.parts import MACHINE_FENCE, machine
from opdev.contracts.vocabulary import DTYPES, SCHEME, TOLERANCES
from opdev.design.nodes import Node
from opdev.facts.pypto_kernels import functions, parameters
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TOP = MACHINE.top
_FIELDS: dict[str, tuple[Field, ...]] = {f.key: f.fields for f in _TOP.fields}


def machine_contract(context: Context) -> Iterator[Hit]:
    """The block's values, each told at its place in the document."""
    found = list(MACHINE_FENCE.finditer(context.data))
    for other in found[1:]:
        yield Hit(other.start("open"), other.end("open") - 1, "second")
    block = machine(context.file)
    if not found or block is None:
        return
    body = found[0]["body"]
    fault = json_fault(body)
    if fault is not None:
        at = min(block.start + fault.start, max(len(context.data) - 1, 0))
        yield Hit(at, min(block.start + fault.end, len(context.data)), "json", fault.args)
        return
    if block.root is None or block.root.kind != "mapping":
        yield Hit(found[0].start("open"), found[0].end("open") - 1, "object")
        return
    for hit in (*_contract(body, block.root), *operator(context, block.root.get("op_name"))):
        yield hit.moved(block.start)
    yield from _held_against_code(context, block.root, block.start)
    yield from _held_against_interfaces(context, block.root, block.start)


def _contract(data: bytes, root: Node) -> Iterator[Hit]:
    yield from twice(root)
    yield from required(data, root, _TOP.fields)
    yield from version(root, 1)
    for node in root.walk():
        if node.kind == "scalar" and "{{" in node.value and "}}" in node.value:
            yield Hit(*node.where, "placeholder", {"value": node.value[:40]})
    name, formula = root.get("op_name"), root.get("formula")
    if name is not None and "{{" not in name.value and not (name.kind == "scalar" and _NAME.fullmatch(name.value)):
        yield Hit(*name.where, "name", {"value": name.text})
    if formula is not None and not is_text(formula):
        yield Hit(*formula.where, "text", {"key": "formula"})
    declared: dict[str, list[Node]] = {}
    for key in ("inputs", "outputs"):
        tensors, faults = objects(root, key, least=1)
        yield from faults
        declared[key] = tensors
        for tensor in tensors:
            yield from _tensor(data, tensor, key)
    yield from again(named([*declared["inputs"], *declared["outputs"]]), "inputs/outputs")
    yield from _dtypes(root, declared)
    yield from _axes(data, root, declared)
    yield from _tolerance(data, root.get("tolerance"), declared["outputs"])
    yield from _plain(root)
    yield from cases.judged(data, root, declared)


def _tensor(data: bytes, tensor: Node, key: str) -> Iterator[Hit]:
    yield from required(data, tensor, _FIELDS[key])
    yield from choice(tensor.get("dtype"), "dtype", DTYPES, message="dtype")
    yield from shapes.judged(tensor.get("shape"))
    flag = tensor.get("is_list")
    if flag is not None and flag.tag != "bool":
        yield Hit(*flag.where, "flag", {"key": "is_list"})
    yield from _range(tensor.get("value_range"), "value_range")


def _range(node: Node | None, key: str, least: float | None = None) -> Iterator[Hit]:
    """``[least, most]``."""
    if node is None:
        return
    ends = [number(child) for child in node.children] if node.kind == "sequence" else []
    first, last = (ends[0], ends[1]) if len(ends) == 2 else (None, None)
    if first is None or last is None or first > last or (least is not None and first < least):
        yield Hit(*node.where, "range", {"key": key, "value": node.text.replace("\n", ", ")[:60]})


def _dtypes(root: Node, declared: dict[str, list[Node]]) -> Iterator[Hit]:
    """The supported dtypes are those of the tensors, in the order they are met."""
    listed, faults = items(root, "supported_dtypes", least=1)
    yield from faults
    for one in listed:
        yield from choice(one, "supported_dtypes", DTYPES, message="dtype")
    yield from again(listed, "supported_dtypes")
    met = list(dict.fromkeys(n.value for n in named([*declared["inputs"], *declared["outputs"]], "dtype")))
    given = [n.value for n in listed]
    node = root.get("supported_dtypes")
    if node is None or not listed or faults or set(given) - set(DTYPES) or set(met) - set(DTYPES) or not met:
        return
    if given != met and len(set(given)) == len(given):
        text = "[" + ", ".join(f'"{d}"' for d in met) + "]"
        args = {"given": ", ".join(given), "wanted": ", ".join(met)}
        yield Hit(*node.where, "order", args, Fix((Edit(node.start, node.end, text),)))


def _axes(data: bytes, root: Node, declared: dict[str, list[Node]]) -> Iterator[Hit]:
    """Every symbol can be read from an input, and has a range; no other has."""
    inputs = [t.get("shape") for t in declared["inputs"]]
    used = shapes.symbols([*inputs, *(t.get("shape") for t in declared["outputs"])])
    alone = shapes.solvable(inputs)
    for name, dim in used.items():
        if name not in alone:
            yield Hit(*dim.where, "symbol", {"name": name})
    ranges = root.get("dynamic_axes_ranges")
    if ranges is None:
        return
    if ranges.kind != "mapping":
        yield Hit(*ranges.where, "object-of", {"key": "dynamic_axes_ranges"})
        return
    each = Field("", "list", ("", ""), fresh="[1, 4096]")
    missing = [n for n in used if ranges.get(n) is None]
    for child in ranges.children:
        if child.key not in used:
            yield Hit(*child.name_range, "unused-axis", {"name": child.key or ""})
        else:
            yield from _range(child, child.key or "", 1)
            if any(whole(n) is None for n in child.children):
                yield Hit(*child.where, "range", {"key": child.key or "", "value": child.text.replace("\n", ", ")[:60]})
    if missing:
        from opdev.contracts.mend import inserted

        fresh = [Field(n, each.kind, each.title, fresh=each.fresh) for n in missing]
        edit = inserted(data, ranges, fresh, json_=True)
        args = {
            "names": "、".join(missing),
            "names_en": ", ".join(missing),
            "keys": "、".join(missing),
            "keys_en": ", ".join(missing),
        }
        yield Hit(*ranges.name_range, "no-range", args, Fix((edit,), "insert") if edit is not None else None)


def _tolerance(data: bytes, node: Node | None, outputs: Sequence[Node]) -> Iterator[Hit]:
    if node is None:
        return
    if node.kind != "mapping":
        yield Hit(*node.where, "object-of", {"key": "tolerance"})
        return
    policy = node.get("policy")
    own = [n for n in (node.get("atol"), node.get("rtol")) if n is not None]
    if policy is not None:
        yield from choice(policy, "policy", (SCHEME,))
        for one in own:
            yield Hit(*one.name_range, "both-tolerances", {"key": one.key or ""})
    else:
        yield from required(data, node, _FIELDS["tolerance"], ("atol", "rtol"))
    for one in own:
        value = number(one)
        if value is None or value < 0:
            yield Hit(*one.where, "tolerance", {"key": one.key or "", "value": one.text[:40]})
        elif policy is None:
            yield from _loosened(one, value, outputs)
    off = node.get("integer_atol")
    if off is not None and (whole(off) is None or off.value.startswith("-")):
        yield Hit(*off.where, "tolerance", {"key": "integer_atol", "value": off.text[:40]})


def _loosened(node: Node, value: float, outputs: Sequence[Node]) -> Iterator[Hit]:
    """A tolerance beyond what the fixed scheme allows the loosest output."""
    which = 0 if node.key == "rtol" else 1
    limits = [(TOLERANCES[d][which], d) for n in named(outputs, "dtype") if (d := n.value) in TOLERANCES]
    if limits and value > max(limits)[0]:
        limit, dtype = max(limits)
        args = {"key": node.key or "", "value": node.text, "limit": f"{limit:.4g}", "dtype": dtype}
        yield Hit(*node.where, "loosened", args, None, "warning")


def _plain(root: Node) -> Iterator[Hit]:
    """Parameters are plain values, constraints are texts, a target is a number above 0."""
    params = root.get("default_params")
    if params is not None and params.kind != "mapping":
        yield Hit(*params.where, "object-of", {"key": "default_params"})
    for child in params.children if params is not None and params.kind == "mapping" else ():
        if child.kind != "scalar":
            yield Hit(*child.where, "scalar", {"key": child.key or ""})
    constraints, faults = items(root, "shape_constraints")
    yield from faults
    for one in constraints:
        if not is_text(one):
            yield Hit(*one.where, "text", {"key": "shape_constraints"})
    target = root.get("perf_target")
    if target is not None and target.tag != "null" and (number(target) or 0) <= 0:
        yield Hit(*target.where, "target", {"value": target.text[:40]})


def _held_against_code(context: Context, root: Node, base: int) -> Iterator[Hit]:
    """Declared inputs and parameters are parameters of the golden."""
    defaults, title = root.get("default_params"), root.get("op_name")
    own = [(n.value, n.where) for n in named(objects(root, "inputs")[0])]
    own += [(c.key or "", c.name_range) for c in (defaults.children if defaults is not None else ())]
    op = title.value if title is not None else ""
    for file in context.project.files("pypto-golden") if context.project is not None and op else ():
        golden = functions(file).get(f"{op}_golden") if file.path.endswith(f"/{op}_golden.py") else None
        taken = list(parameters(file, golden)) if golden is not None else []
        if golden is None or any(p.role == "star" for p in taken):
            continue
        names = [p.name for p in taken]
        where = golden.child_by_field_name("name") or golden
        note = {"zh": f"参数是 {', '.join(names)}", "en": f"it takes {', '.join(names)}"}
        related = (Related(where.start_byte, where.end_byte, note, file.path),)
        for name, (start, end) in own:
            if name and name not in names:
                args = {"name": name, "function": f"{op}_golden", "known": ", ".join(names)}
                yield Hit(start + base, end + base, "not-taken", args, None, "warning", related)


def _held_against_interfaces(context: Context, root: Node, base: int) -> Iterator[Hit]:
    """An input has the dtype that the modules take it with."""
    tensors = {n.value: t for t in objects(root, "inputs")[0] for n in named([t])}
    for file in context.project.files("pypto-interfaces") if context.project is not None else ():
        other = root_of(file)
        for tensor in objects(other, "primary_inputs")[0] if other is not None else ():
            name, theirs = tensor.get("name"), tensor.get("dtype")
            mine = tensors[name.value].get("dtype") if name is not None and name.value in tensors else None
            if mine is None or theirs is None or name is None or mine.value == theirs.value:
                continue
            if mine.value in DTYPES and theirs.value in DTYPES:
                note = {"zh": "模块接口里的类型", "en": "the dtype of the interfaces"}
                args = {"name": name.value, "value": mine.value, "other": theirs.value}
                related = (Related(*theirs.where, note, file.path),)
                yield Hit(mine.where[0] + base, mine.where[1] + base, "other-dtype", args, None, "warning", related)
