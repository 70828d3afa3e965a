"""module_interfaces.yaml: the modules of an operator, and what flows between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opdev.checks import pypto_shapes as shapes
from opdev.checks.pypto_values import (
    again,
    beginning,
    choice,
    items,
    named,
    number,
    objects,
    operator,
    required,
    twice,
    whole,
)
from opdev.contracts.fields import Field
from opdev.contracts.formulas import formula
from opdev.contracts.mend import meant, replaced
from opdev.contracts.parts import machine
from opdev.contracts.workflow import INTERFACES
from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

DTYPES = (
    "float64", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "bool", "int", "uint", "float8", "float8_e4m3fn", "float8_e5m2", "fp32", "fp16", "bf16", "hif8", "int4",
)  # fmt: skip
_SECTIONS = ("cube", "vector", "cube+vector")
_SOURCE = re.compile(r"(?:primary|(?:module|phase|M)_?(?P<n>\d{1,4}))(?P<more>(?:[.:\[].*)?)", re.DOTALL)
_TOP = INTERFACES.top.fields
_FIELDS: dict[str, tuple[Field, ...]] = {f.key: f.fields for f in _TOP}
_MODULE: dict[str, tuple[Field, ...]] = {f.key: f.fields for f in _FIELDS["modules"]}


def module_interfaces(context: Context) -> Iterator[Hit]:
    """Its modules in order: each takes what was made before it, and makes something."""
    root = root_of(context.file)
    if root is None or root.kind != "mapping":
        yield Hit(*beginning(context, root), "object")
        return
    data = context.data
    yield from twice(root)
    yield from required(data, root, _TOP, ("op", "primary_inputs", "modules"), json_=False)
    yield from operator(context, root.get("op"), json_=False)
    inputs, faults = objects(root, "primary_inputs", least=1)
    yield from faults
    for tensor in inputs:
        yield from _tensor(data, tensor)
    yield from again(named(inputs), "primary_inputs")
    yield from _undeclared(context, inputs)
    modules, faults = objects(root, "modules", least=1)
    yield from faults
    made = [_names(inputs)]
    for position, module in enumerate(modules, 1):
        yield from _module(data, module, position, made)
        made.append(_names(objects(module, "outputs")[0]))
    count = root.get("module_count")
    if count is not None and modules and whole(count) != len(modules):
        args = {"value": count.text, "wanted": len(modules)}
        fix = (
            Fix((Edit(count.start, count.end, str(len(modules))),))
            if count.kind == "scalar" and count.end > count.start
            else None
        )
        yield Hit(*count.where, "count", args, fix)
    finals, faults = objects(root, "final_outputs")
    yield from faults
    for final in finals:
        yield from required(data, final, _FIELDS["final_outputs"], json_=False)
        yield from _source(final, len(modules) + 1, made)
    yield from again(named(finals), "final_outputs")
    for key in ("is_fusion", "has_cross_core"):
        flag = root.get(key)
        if flag is not None and flag.tag != "bool":
            yield Hit(*flag.where, "flag", {"key": key, "value": flag.text[:40]})
    yield from _verification(root.get("composition_verification"))


def _undeclared(context: Context, inputs: Sequence[Node]) -> Iterator[Hit]:
    """Inputs that the machine contract of the SPEC has not."""
    for file in context.project.files("pypto-spec") if context.project is not None else ():
        block = machine(file)
        if block is None or block.root is None:
            continue
        declared = named(objects(block.root, "inputs")[0])
        known = [n.value for n in declared]
        for name in named(inputs):
            if known and name.value not in known:
                note = {"zh": "SPEC 声明的输入", "en": "the inputs of the SPEC"}
                start, end = declared[0].where
                related = (Related(start + block.start, end + block.start, note, file.path),)
                near = meant(name.value, known)
                fix = Fix((replaced(name, near, json_=False),)) if near else None
                args = {
                    "name": name.value,
                    "known": "、".join(known),
                    "known_en": ", ".join(known),
                    "wanted": near or "",
                }
                yield Hit(*name.where, "undeclared", args, fix, "warning", related)


def _verification(node: Node | None) -> Iterator[Hit]:
    """How the modules together are held against the whole golden."""
    if node is None or node.empty:
        return
    if node.kind != "mapping":
        yield Hit(*node.where, "object-of", {"key": "composition_verification"})
        return
    for key in ("atol", "rtol"):
        value = node.get(key)
        found = number(value)
        if value is not None and value.kind == "scalar" and (found is None or found < 0):
            yield Hit(*value.where, "tolerance", {"key": key, "value": value.text[:40]})
    seeds, faults = items(node, "seeds")
    yield from faults
    for seed in seeds:
        if whole(seed) is None:
            yield Hit(*seed.where, "seed", {"value": seed.text[:40]})


def _names(tensors: Sequence[Node]) -> frozenset[str]:
    return frozenset(node.value for node in named(tensors))


def _module(data: bytes, module: Node, position: int, made: list[frozenset[str]]) -> Iterator[Hit]:
    yield from required(data, module, _FIELDS["modules"], ("id", "outputs"), json_=False)
    identity = module.get("id")
    if identity is not None and whole(identity) != position:
        fix = Fix((Edit(identity.start, identity.end, str(position)),)) if identity.end > identity.start else None
        yield Hit(*identity.where, "id", {"value": identity.text, "wanted": position}, fix)
    outputs, faults = objects(module, "outputs", least=1)
    yield from faults
    for tensor in outputs:
        yield from _tensor(data, tensor)
    yield from again(named(outputs), "outputs")
    inputs, faults = objects(module, "inputs")
    yield from faults
    for given in inputs:
        yield from required(data, given, _MODULE["inputs"], json_=False)
        yield from _source(given, position, made)
    section = module.get("section")
    if section is not None and section.kind == "scalar" and section.value.replace(" ", "") not in _SECTIONS:
        yield from choice(section, "section", _SECTIONS, json_=False)
    function = module.get("golden_stage_fn")
    suffix = "".join(str(n) for n in range(1, position + 1))
    found = re.search(r"_golden_stage_?(\d+)\Z", function.value) if function is not None else None
    if function is not None and found is not None and found[1] != suffix:
        wanted = function.value[: found.start(1)] + suffix
        args = {"value": function.value, "wanted": wanted}
        yield Hit(*function.where, "stage-function", args, Fix((replaced(function, wanted, json_=False),)), "warning")


def _tensor(data: bytes, tensor: Node) -> Iterator[Hit]:
    yield from required(data, tensor, _FIELDS["primary_inputs"], ("name",), json_=False)
    dtype = tensor.get("dtype")
    written = dtype.value.lower().removeprefix("torch.").removeprefix("dt_") if dtype is not None else ""
    if dtype is not None and (dtype.kind != "scalar" or written not in DTYPES):
        yield from choice(dtype, "dtype", DTYPES, json_=False, message="dtype")
    yield from _shape(tensor.get("shape"))


def _shape(node: Node | None) -> Iterator[Hit]:
    """A list, or a text with brackets around one."""
    if node is None or node.empty:
        return
    if node.kind == "sequence":
        yield from shapes.judged(node)
        return
    written = node.value.strip() if node.kind == "scalar" else ""
    if node.kind != "scalar" or not (written[:1] in "[(" and written[-1:] in "])"):
        if node.kind != "scalar" or formula(written) is None:
            yield Hit(*node.where, "dim", {"value": node.text[:60]})
        return
    inner = written[1:-1].strip().rstrip(",")
    for part in inner.split(",") if inner else ():
        if part.strip() != "..." and formula(part) is None:
            yield Hit(*node.where, "dim", {"value": part.strip()[:60] or written[:60]})
            return


def _source(node: Node, position: int, made: list[frozenset[str]]) -> Iterator[Hit]:
    """``made``: the operator's inputs, then what each module before this one puts out."""
    source, name = node.get("source"), node.get("name")
    if source is None:
        return
    written = source.value.strip() if source.kind == "scalar" else ""
    match = _SOURCE.fullmatch(written)
    if match is None:
        if not any(written in names for names in made):
            known = ["primary", *(f"module_{n}" for n in range(1, position))]
            near = meant(written, known) if written else None
            fix = Fix((replaced(source, near, json_=False),)) if near and source.end > source.start else None
            yield Hit(*source.where, "source", {"value": source.text, "wanted": near or ""}, fix)
        return
    place = int(match["n"]) if match["n"] is not None else 0
    if match["n"] is not None and not 1 <= place < position:
        yield Hit(*source.where, "later", {"value": source.text, "last": position - 1})
    elif (
        match["more"] == ""
        and name is not None
        and name.kind == "scalar"
        and name.value.strip()
        and name.value not in made[place]
    ):
        known = sorted(made[place])
        near = meant(name.value, known)
        args = {
            "name": name.value,
            "from": written,
            "known": "、".join(known) or "—",
            "known_en": ", ".join(known) or "—",
            "wanted": near or "",
        }
        fix = Fix((replaced(name, near, json_=False),)) if near else None
        yield Hit(*name.where, "unmade", args, fix, "error" if place == 0 else "warning")
