"""Values of a contract that its operator knows: names of tensors, selected documents, anchors, files, symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from opdev.contracts.anchors import anchors, text_of
from opdev.contracts.fields import Pair, Step
from opdev.contracts.knowledge import FIELDS
from opdev.contracts.parts import Part, machine
from opdev.design.nodes import Node
from opdev.facts.pypto_docs import Files, operator_names
from opdev.facts.structured import root_of
from opdev.rules.context import Project
from opdev.syntax.file import File

Known = Iterator[tuple[str, Pair]]
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_NAMED = re.compile(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.M)
_TEST = re.compile(rb"^def[ \t]+(test_\w+)[ \t]*\([ \t]*\)", re.M)
_P0: Pair = ("SPEC 的 P0 用例", "a P0 case of the SPEC")
_NONE: Pair = ("", "")


def known_keys(part: Part, steps: Sequence[Step]) -> Known:
    """Keys that the rest of the document asks for."""
    root, last = part.root, steps[-1] if steps else ""
    if root is None:
        return
    if last in ("input_shapes", "input_dtypes", "input_special_values"):
        yield from _names(root.get("inputs"), ("声明的输入", "a declared input"))
    elif last in ("output_shapes", "output_dtypes"):
        yield from _names(root.get("outputs"), ("声明的输出", "a declared output"))
    elif last == "dynamic_axes_ranges":
        yield from ((s, ("形状里的符号", "a symbol of the shapes")) for s in symbols(root))
    elif last == "params":
        defaults = root.get("default_params")
        yield from ((c.key or "", ("默认参数", "a default parameter")) for c in (defaults.children if defaults else ()))
    elif last in ("stage_status", "stage_retry_count"):
        limit = root.get("max_stage")
        count = limit.data() if limit is not None else 7
        if isinstance(count, int) and not isinstance(count, bool):
            yield from ((str(n), ("阶段", "stage")) for n in range(1, min(count, 9) + 1))


def known_values(part: Part, steps: Sequence[Step], offset: int, project: Project | None) -> Known:
    """Values that the document or the operator has a right to ask for."""
    last = next((s for s in reversed(steps) if isinstance(s, str)), "")
    find = _FINDERS.get((part.contract.name, last))
    if find is not None:
        yield from find(part, offset - part.start, project)


def symbols(root: Node) -> list[str]:
    """The symbols of the shapes of inputs, in order."""
    found: dict[str, None] = {}
    for tensor in _items(root.get("inputs")):
        shape = tensor.get("shape")
        for one in shape.children if shape is not None else ():
            if one.kind == "scalar" and one.tag == "str":
                found |= dict.fromkeys(_SYMBOL.findall(one.value))
    return list(found)


def _items(node: Node | None) -> list[Node]:
    return [c for c in node.children if c.kind == "mapping"] if node is not None and node.kind == "sequence" else []


def _names(node: Node | None, why: Pair) -> Known:
    for item in _items(node):
        name = item.get("name")
        if name is not None and name.text:
            yield name.text, why


def _around(nodes: list[Node], at: int) -> Node | None:
    """The last of some items that begins before a place."""
    return next((n for n in reversed(nodes) if n.start <= at), None)


def _sources(part: Part, at: int, _: Project | None) -> Known:
    yield "primary", ("算子输入", "the operator's input")
    finals = part.root.get("final_outputs") if part.root is not None else None
    for number, module in enumerate(_items(part.root.get("modules") if part.root is not None else None), 1):
        is_before = module.end < at or (finals is not None and finals.key_start <= at)
        if is_before:
            title = module.get("name")
            yield f"module_{number}", (title.text, title.text) if title is not None else _NONE


def _taken(part: Part, at: int, _: Project | None) -> Known:
    """Names a module can take: what is made before it."""
    if part.root is None:
        return
    yield from _names(part.root.get("primary_inputs"), ("算子输入", "the operator's input"))
    for number, module in enumerate(_items(part.root.get("modules")), 1):
        if module.end < at:
            yield from _names(module.get("outputs"), (f"模块 {number} 的输出", f"made by module {number}"))


def _operator(_: Part, __: int, project: Project | None) -> Known:
    files: Files | None = project
    for name in operator_names(files):
        yield name, ("算子", "the operator")


def _neighbour(project: Project | None, name: str) -> Node | None:
    files = project.files("pypto-kb") if project is not None else ()
    return next((root_of(f) for f in files if f.path.endswith(f"/{name}")), None)


def _selected(_: Part, __: int, project: Project | None) -> Known:
    selection = _neighbour(project, "KB_SELECTION.json")
    for key in FIELDS:
        for entry in _items(selection.get(key)) if selection is not None else ():
            path = entry.get("path")
            if path is not None:
                yield path.text, (key, key)


def _bound(_: Part, __: int, project: Project | None) -> Known:
    bindings = _neighbour(project, "DESIGN_BINDINGS.json")
    for binding in _items(bindings.get("bindings")) if bindings is not None else ():
        reference = binding.get("reference")
        if reference is not None:
            yield reference.text, ("设计里的绑定", "a binding of the design")


def _anchored(part: Part, at: int, project: Project | None) -> Known:
    binding = _around(_items(part.root.get("bindings")), at) if part.root is not None else None
    reference = binding.get("reference") if binding is not None else None
    text = text_of(project, reference.text) if reference is not None else None
    for name in anchors(text) if text is not None else ():
        yield name, (reference.text if reference is not None else "",) * 2


def _code(_: Part, __: int, project: Project | None) -> Known:
    for file in project.files("pypto-test", "pypto-golden", "pypto-impl") if project is not None else ():
        yield file.path.removeprefix(f"{project.root}/" if project is not None else ""), ("代码", "code")


def _symbol(part: Part, at: int, project: Project | None) -> Known:
    entry = _around(_items(part.root.get("invariants")), at) if part.root is not None else None
    path = entry.at("implementation.file") if entry is not None else None
    for file in project.files("pypto-test", "pypto-golden", "pypto-impl") if project is not None else ():
        if path is not None and path.text and file.path.endswith("/" + path.text.removeprefix("./")):
            yield from _symbols(file)


def _measured(_: Part, __: int, project: Project | None) -> Known:
    """What the SPEC calls its P0 cases."""
    for file in project.files("pypto-spec") if project is not None else ():
        block = machine(file)
        yield from _names(block.root.get("p0_cases") if block is not None and block.root is not None else None, _P0)


def _ids(part: Part, _: int, __: Project | None) -> Known:
    for case in _items(part.root.get("cases") if part.root is not None else None):
        name = case.get("id")
        if name is not None and name.text:
            yield name.text, ("性能用例", "a performance case")


def _tests(_: Part, __: int, project: Project | None) -> Known:
    """Tests that can be called without anything."""
    for file in project.files("pypto-test") if project is not None else ():
        if "/modules/" not in file.path:
            yield from ((m[1].decode(), (file.path.rpartition("/")[2],) * 2) for m in _TEST.finditer(file.data))


def _symbols(file: File) -> Known:
    for match in _NAMED.finditer(file.data):
        yield (match[1] or match[2]).decode(), _NONE


_FINDERS: dict[tuple[str, str], Callable[[Part, int, Project | None], Known]] = {
    ("module_interfaces.yaml", "source"): _sources,
    ("module_interfaces.yaml", "name"): _taken,
    ("module_interfaces.yaml", "op"): _operator,
    ("KB_SELECTION.json", "op"): _operator,
    ("KB_USAGE.json", "op"): _operator,
    ("json machine-contract", "op_name"): _operator,
    ("SPEC.md", "op_name"): _operator,
    ("DESIGN.md", "op_name"): _operator,
    ("API_REPORT.md", "op_name"): _operator,
    ("EXPLORE_REPORT.md", "op_name"): _operator,
    (".orchestrator_state.json", "operator_name"): _operator,
    ("DESIGN_BINDINGS.json", "reference"): _selected,
    ("DESIGN_BINDINGS.json", "source_anchors"): _anchored,
    ("KB_USAGE.json", "reference"): _bound,
    ("KB_USAGE.json", "file"): _code,
    ("KB_USAGE.json", "symbol"): _symbol,
    ("PERFORMANCE_CASES.json", "id"): _measured,
    ("PERFORMANCE_CASES.json", "case_ids"): _ids,
    ("PERFORMANCE_CASES.json", "test_function"): _tests,
}
