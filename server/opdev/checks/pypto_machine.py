"""The machine contract in a PyPTO-Pro SPEC.md: the one JSON block that tests and validators are made from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from opdev.checks.pypto_contract import is_text, objects, required, twice, version
from opdev.design.compose import Composer
from opdev.design.nodes import Node
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.kinds import Kind
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.source import Source
from opdev.syntax.file import File

_FENCE = re.compile(
    rb"^(?P<open>(?P<ticks>`{3,})[ \t]*json[ \t]+machine-contract[^\n]*\n)(?P<body>.*?)^(?P=ticks)[ \t]*\r?$",
    re.M | re.S,
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEYS = (
    "schema_version", "op_name", "formula", "supported_dtypes", "inputs", "outputs", "default_params", "tolerance",
    "dynamic_axes_ranges", "shape_constraints", "p0_cases",
)  # fmt: skip
_ALLOWED = frozenset({"bfloat16", "float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"})


def machine_contract(context: Context) -> Iterator[Hit]:
    """The block's values, each told at its place in the document."""
    found = list(_FENCE.finditer(context.data))
    for other in found[1:]:
        yield Hit(other.start("open"), other.end("open") - 1, "second")
    if not found:
        return
    base, body = found[0].start("body"), found[0]["body"]
    try:
        json.loads(body.decode("utf-8", "replace"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        at = len(body.decode("utf-8", "replace")[:at].encode()) if isinstance(at, int) else 0
        at = min(base + at, max(len(context.data) - 1, 0))
        yield Hit(at, min(at + 1, len(context.data)), "json", {"detail": str(getattr(error, "msg", error))[:120]})
        return
    text = FenceText(File(Source(f"{context.file.path}#contract", body), Kind("yaml", frozenset())))
    text.text = text.text.replace("\t", " ")
    root = read(Composer(text))
    if root is None or root.kind != "mapping":
        yield Hit(found[0].start("open"), found[0].end("open") - 1, "object")
        return
    for hit in _contract(root):
        yield replace(hit, start=hit.start + base, end=hit.end + base)


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no JSON number")


def _contract(root: Node) -> Iterator[Hit]:
    yield from twice(root)
    yield from required(root, *_KEYS)
    yield from version(root, 1)
    for node in root.walk():
        if node.kind == "scalar" and "{{" in node.value and "}}" in node.value:
            yield Hit(*node.where, "placeholder", {"value": node.value[:40]})
    name, formula = root.get("op_name"), root.get("formula")
    if name is not None and "{{" not in name.value and not (name.kind == "scalar" and _NAME.fullmatch(name.value)):
        yield Hit(*name.where, "name", {"value": name.text})
    if formula is not None and not is_text(formula):
        yield Hit(*formula.where, "text", {"key": "formula"})
    declared: dict[str, list[str]] = {}
    for key in ("inputs", "outputs"):
        tensors, faults = objects(root, key, least=1)
        yield from faults
        declared[key] = []
        for tensor in tensors:
            yield from required(tensor, "name", "shape", "dtype", "value_range")
            yield from _dtype(tensor.get("dtype"))
            title = tensor.get("name")
            declared[key].append(title.value if title is not None else "")
    supported = root.get("supported_dtypes")
    for one in supported.children if supported is not None and supported.kind == "sequence" else ():
        yield from _dtype(one)
    cases, faults = objects(root, "p0_cases", least=1)
    yield from faults
    yield from _cases(root, cases, declared)


def _dtype(node: Node | None) -> Iterator[Hit]:
    if node is not None and (node.kind != "scalar" or node.value not in _ALLOWED):
        yield Hit(*node.where, "dtype", {"value": node.text})


def _cases(root: Node, cases: list[Node], declared: dict[str, list[str]]) -> Iterator[Hit]:
    seen: set[str] = set()
    for index, case in enumerate(cases):
        yield from required(case, "name", "params", "input_shapes", "output_shapes")
        name = case.get("name")
        if name is not None and name.value in seen:
            yield Hit(*name.where, "again", {"value": name.value, "key": "p0_cases"})
        seen.add(name.value if name is not None else "")
        params, default = case.get("params"), root.get("default_params")
        if index == 0 and params is not None and default is not None and params.data() != default.data():
            yield Hit(*params.name_range, "first-case", {})
        for key, of in (("input_shapes", "inputs"), ("output_shapes", "outputs")):
            shapes = case.get(key)
            if shapes is not None and shapes.kind == "mapping" and [c.key for c in shapes.children] != declared[of]:
                args = {
                    "key": key,
                    "wanted": ", ".join(declared[of]),
                    "given": ", ".join(c.key or "" for c in shapes.children),
                }
                yield Hit(*shapes.name_range, "shapes", args)
