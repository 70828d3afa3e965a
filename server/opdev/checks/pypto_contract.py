"""The JSON and YAML contracts of PyPTO operators: knowledge-base files and module_interfaces.yaml, value by value.

Programs of the workflow read these; what they reject late and in one line is marked here at its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Hit

DTYPES = frozenset({
    "float64", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "bool", "int", "uint", "float8", "float8_e4m3fn", "float8_e5m2", "fp32", "fp16", "bf16", "hif8", "int4",
})  # fmt: skip
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_SOURCE = re.compile(r"(?:primary|(?:module|phase|M)_?(?P<n>\d{1,4}))(?P<more>(?:[.:\[].*)?)", re.DOTALL)
_PAIRS = {
    ("precondition", "met"), ("obligation", "applies"), ("obligation", "not_triggered"), ("validation_scope", "applies"),
}  # fmt: skip
_BINDING = ("class_id", "selection_field", "reference", "selection_reason", "requirements")
_REQUIREMENT = (
    "req_id", "kind", "source_anchors", "status", "class_evidence", "invariant", "planned_location", "verification_method",
)  # fmt: skip
_FIELDS = ("optional_patterns", "required_constraints")


def valid_json(context: Context) -> tuple[Node | None, list[Hit]]:
    """A JSON file's tree, and what keeps it from being one object with each key once."""
    data = context.data
    try:
        json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        at = len(data.decode("utf-8", "replace")[:at].encode()) if isinstance(at, int) else 0
        at = min(at, max(len(data) - 1, 0))
        return None, [Hit(at, min(at + 1, len(data)), "json", {"detail": str(getattr(error, "msg", error))[:120]})]
    root = root_of(context.file)
    if root is None or root.kind != "mapping":
        return None, [Hit(*_beginning(context, root), "object")]
    return root, list(twice(root))


def _beginning(context: Context, root: Node | None) -> tuple[int, int]:
    """The first character of what there is."""
    at = min(root.start if root is not None else 0, max(len(context.data) - 1, 0))
    return at, min(at + 1, len(context.data))


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no JSON number")


def twice(root: Node) -> Iterator[Hit]:
    """Keys given twice in any object: the first is lost without a word."""
    for node in root.walk():
        if node.kind == "mapping":
            seen: set[str] = set()
            for child in node.children:
                if child.key is not None and child.key in seen and child.key_start >= 0:
                    yield Hit(child.key_start, child.key_end, "twice", {"key": child.key})
                seen.add(child.key or "")


def place(node: Node) -> tuple[int, int]:
    """A value's place; its key's where the value is empty or long."""
    return node.where


def _key(node: Node) -> tuple[int, int]:
    return node.name_range if node.key_start >= 0 or node.children else node.where


def required(node: Node, *keys: str) -> Iterator[Hit]:
    """Keys an object lacks, told at its own key (of an item in a list: at its first)."""
    missing = [k for k in keys if node.get(k) is None]
    if missing:
        first = node.children[0] if node.key_start < 0 and node.children else node
        args = {"keys": "、".join(missing), "keys_en": ", ".join(missing)}
        yield Hit(*_key(first), "missing", args)


def only(node: Node, keys: tuple[str, ...]) -> Iterator[Hit]:
    for child in node.children:
        if child.key is not None and child.key not in keys:
            yield Hit(*_key(child), "extra", {"key": child.key, "allowed": ", ".join(keys)})


def text(node: Node, *keys: str) -> Iterator[Hit]:
    """Values that are to be non-empty texts."""
    for key in keys:
        value = node.get(key)
        if value is not None and not is_text(value):
            yield Hit(*place(value), "text", {"key": key})


def is_text(node: Node) -> bool:
    return node.kind == "scalar" and node.tag == "str" and bool(node.value.strip())


def items(node: Node, key: str, *, least: int = 0) -> tuple[list[Node], list[Hit]]:
    """The items of a list; a fault where it is none, or has too few."""
    found = node.get(key)
    if found is None:
        return [], []
    if found.kind != "sequence":
        return [], [Hit(*place(found), "list", {"key": key})]
    if len(found.children) < least:
        return [], [Hit(*_key(found), "few", {"key": key, "least": least})]
    return list(found.children), []


def objects(node: Node, key: str, *, least: int = 0) -> tuple[list[Node], list[Hit]]:
    """The items of a list that are objects; faults for the others."""
    every, faults = items(node, key, least=least)
    faults += [Hit(*place(n), "entry", {"key": key}) for n in every if n.kind != "mapping"]
    return [n for n in every if n.kind == "mapping"], faults


def version(node: Node, wanted: int | None = None) -> Iterator[Hit]:
    value = node.get("schema_version")
    if value is None:
        return
    data = value.data()
    if (
        not isinstance(data, int)
        or isinstance(data, bool)
        or value.style in ("single", "double")
        or (wanted is not None and data != wanted)
    ):
        yield Hit(*place(value), "version", {"wanted": wanted if wanted is not None else "int"})


def _class(context: Context, root: Node) -> Iterator[Hit]:
    """``class_id`` is ``.`` beside the operator's files, else the folder's name."""
    value, place_of = root.get("class_id"), context.file.place
    if value is None or value.kind != "scalar" or place_of.root is None:
        return
    folder = context.file.path[len(place_of.root) :].strip("/").rpartition("/")[0]
    wanted = folder.rpartition("/")[2] if folder and folder != "docs" else "."
    if value.value != wanted:
        yield Hit(*place(value), "class", {"value": value.value, "wanted": wanted})


def kb_selection(context: Context) -> Iterator[Hit]:
    """KB_SELECTION.json: what of the knowledge base an operator takes over."""
    if not context.file.path.endswith("/KB_SELECTION.json"):
        return
    root, faults = valid_json(context)
    yield from faults
    if root is None:
        return
    yield from required(
        root, "schema_version", "op", "class_id", "topologies", "properties", *_FIELDS, "no_matching_pattern"
    )
    yield from version(root)
    yield from text(root, "op", "class_id")
    yield from _class(context, root)
    topologies, faults = items(root, "topologies")
    yield from faults
    seen: set[str] = set()
    for node in topologies:
        if not is_text(node):
            yield Hit(*place(node), "text", {"key": "topologies"})
        elif node.value in seen:
            yield Hit(*place(node), "again", {"value": node.value, "key": "topologies"})
        seen.add(node.value)
    properties = root.get("properties")
    if properties is not None and properties.kind != "mapping":
        yield Hit(*place(properties), "object-of", {"key": "properties"})
    for key in _FIELDS:
        entries, faults = objects(root, key)
        yield from faults
        for entry in entries:
            yield from required(entry, "path", "reason", "sha256")
            yield from text(entry, "path", "reason")
            yield from _path(entry)
            value = entry.get("sha256")
            if value is not None and not (value.kind == "scalar" and _HASH.fullmatch(value.value)):
                yield Hit(*place(value), "hash", {})
    flag, patterns = root.get("no_matching_pattern"), root.get("optional_patterns")
    if flag is not None and (flag.tag != "bool" or flag.style != "plain"):
        yield Hit(*place(flag), "bool", {"key": "no_matching_pattern"})
    elif (
        flag is not None
        and patterns is not None
        and patterns.kind == "sequence"
        and flag.data() is not (not patterns.children)
    ):
        yield Hit(*place(flag), "pattern-flag", {"count": len(patterns.children), "value": flag.value})


def _path(entry: Node) -> Iterator[Hit]:
    value = entry.get("path")
    if value is None or not is_text(value):
        return
    parts = value.value.replace("\\", "/").split("/")
    if ".." in parts or parts[0] == "" or ":" in parts[0]:
        yield Hit(*place(value), "escapes", {"value": value.value})


def design_bindings(context: Context) -> Iterator[Hit]:
    """DESIGN_BINDINGS.json: how the design keeps what the selection demands."""
    if not context.file.path.endswith("/DESIGN_BINDINGS.json"):
        return
    root, faults = valid_json(context)
    yield from faults
    if root is None:
        return
    yield from required(root, "schema_version", "bindings")
    yield from version(root, 1)
    bindings, faults = objects(root, "bindings")
    yield from faults
    for binding in bindings:
        yield from required(binding, *_BINDING)
        yield from only(binding, _BINDING)
        yield from text(binding, "reference", "selection_reason")
        chosen = binding.get("selection_field")
        if chosen is not None and chosen.value not in _FIELDS:
            yield Hit(
                *place(chosen),
                "choice",
                {"key": "selection_field", "value": chosen.text, "allowed": ", ".join(_FIELDS)},
            )
        requirements, faults = objects(binding, "requirements", least=1)
        yield from faults
        for requirement in requirements:
            yield from _requirement(requirement)
    yield from _one_to_one(context, bindings)


def _requirement(node: Node) -> Iterator[Hit]:
    yield from required(node, "req_id", "kind", "source_anchors", "status")
    yield from only(node, _REQUIREMENT)
    kind, status = node.get("kind"), node.get("status")
    if kind is None or status is None:
        return
    if (kind.value, status.value) not in _PAIRS:
        allowed = ", ".join(f"{k}+{s}" for k, s in sorted(_PAIRS))
        yield Hit(*place(status), "pair", {"kind": kind.text, "status": status.text, "allowed": allowed})
    elif (kind.value, status.value) == ("obligation", "applies"):
        yield from required(node, "invariant", "planned_location")
        yield from text(node, "invariant", "planned_location")


def _one_to_one(context: Context, bindings: list[Node]) -> Iterator[Hit]:
    folder = context.file.path.rpartition("/")[0]
    files = context.project.files("pypto-kb") if context.project is not None else ()
    selection = next((root_of(f) for f in files if f.path == f"{folder}/KB_SELECTION.json"), None)
    if selection is None or selection.kind != "mapping":
        return
    chosen = set()
    for key in _FIELDS:
        for entry in objects(selection, key)[0]:
            path = entry.get("path")
            if path is not None:
                chosen.add(path.value)
    known: set[str] = set()
    for binding in bindings:
        reference = binding.get("reference")
        if reference is None or reference.kind != "scalar":
            continue
        if reference.value not in chosen:
            yield Hit(*place(reference), "unselected", {"value": reference.value})
        elif reference.value in known:
            yield Hit(*place(reference), "again", {"value": reference.value, "key": "bindings"})
        known.add(reference.value)
    left = sorted(chosen - known)
    root = root_of(context.file)
    where = root.get("bindings") if root is not None else None
    if left and where is not None:
        yield Hit(*_key(where), "unbound", {"values": "、".join(left), "values_en": ", ".join(left)})


def kb_usage(context: Context) -> Iterator[Hit]:
    """KB_USAGE.json: where the code keeps what the bindings promise."""
    if not context.file.path.endswith("/KB_USAGE.json"):
        return
    root, faults = valid_json(context)
    yield from faults
    if root is None:
        return
    yield from required(root, "schema_version", "op", "class_id", "invariants")
    yield from version(root)
    yield from text(root, "op", "class_id")
    yield from _class(context, root)
    entries, faults = objects(root, "invariants")
    yield from faults
    for entry in entries:
        yield from required(entry, "reference", "invariant", "implementation", "justification")
        yield from text(entry, "reference", "invariant", "justification")
        invariant = entry.get("invariant")
        if invariant is not None and is_text(invariant) and not invariant.value.lstrip().startswith("["):
            yield Hit(*place(invariant), "prefix", {})
        code = entry.get("implementation")
        if code is None:
            continue
        if code.kind != "mapping":
            yield Hit(*place(code), "object-of", {"key": "implementation"})
            continue
        yield from required(code, "file", "symbol", "status")
        yield from text(code, "file", "symbol")
        yield from _implemented(context, code)


def _implemented(context: Context, code: Node) -> Iterator[Hit]:
    status, file, symbol = code.get("status"), code.get("file"), code.get("symbol")
    if status is not None and status.value in ("verified", "not_applicable"):
        yield Hit(*place(status), "self-verified", {"value": status.value})
    if file is None or not is_text(file) or context.project is None:
        return
    if not context.project.exists(file.value.removeprefix("./")):
        yield Hit(*place(file), "no-file", {"value": file.value})
        return
    found = next(
        (
            f
            for f in context.project.files("pypto-test", "pypto-golden", "pypto-impl")
            if f.path.endswith("/" + file.value.removeprefix("./"))
        ),
        None,
    )
    if found is not None and symbol is not None and is_text(symbol):
        name = symbol.value.strip().rpartition(".")[2]
        if not re.search(rb"(?<!\w)%s(?!\w)" % re.escape(name.encode()), found.data):
            yield Hit(*place(symbol), "no-symbol", {"value": symbol.value, "file": file.value})


def module_interfaces(context: Context) -> Iterator[Hit]:
    """module_interfaces.yaml: the modules of an operator, and what flows between them."""
    root = root_of(context.file)
    if root is None or root.kind != "mapping":
        yield Hit(*_beginning(context, root), "object")
        return
    yield from twice(root)
    yield from required(root, "op", "primary_inputs", "modules")
    inputs, faults = objects(root, "primary_inputs", least=1)
    yield from faults
    for tensor in inputs:
        yield from _tensor(tensor)
    modules, faults = objects(root, "modules", least=1)
    yield from faults
    made = [_names(inputs)]
    for position, module in enumerate(modules, 1):
        yield from _module(module, position, made)
        made.append(_names(objects(module, "outputs")[0]))
    count = root.get("module_count")
    if count is not None and modules and count.data() != len(modules):
        yield Hit(*place(count), "count", {"value": count.text, "wanted": len(modules)})
    finals, faults = objects(root, "final_outputs")
    yield from faults
    for final in finals:
        yield from required(final, "name", "source")
        yield from _source(final, len(modules) + 1, made)


def _names(tensors: list[Node]) -> frozenset[str]:
    return frozenset(name.value for node in tensors if (name := node.get("name")) is not None)


def _module(module: Node, position: int, made: list[frozenset[str]]) -> Iterator[Hit]:
    yield from required(module, "id", "outputs")
    number = module.get("id")
    if number is not None and number.data() != position:
        yield Hit(*place(number), "id", {"value": number.text, "wanted": position})
    outputs, faults = objects(module, "outputs", least=1)
    yield from faults
    for tensor in outputs:
        yield from _tensor(tensor)
    inputs, faults = objects(module, "inputs")
    yield from faults
    for given in inputs:
        yield from required(given, "name", "source")
        yield from _source(given, position, made)
    section = module.get("section")
    if section is not None and section.value.replace(" ", "") not in ("cube", "vector", "cube+vector"):
        yield Hit(
            *place(section), "choice", {"key": "section", "value": section.text, "allowed": "cube, vector, cube+vector"}
        )


def _tensor(tensor: Node) -> Iterator[Hit]:
    yield from required(tensor, "name")
    dtype = tensor.get("dtype")
    if dtype is not None and (
        dtype.kind != "scalar" or dtype.value.lower().removeprefix("torch.").removeprefix("dt_") not in DTYPES
    ):
        yield Hit(*place(dtype), "dtype", {"value": dtype.text})


def _source(node: Node, position: int, made: list[frozenset[str]]) -> Iterator[Hit]:
    """``made``: the operator's inputs, then what each module before this one puts out."""
    source, name = node.get("source"), node.get("name")
    if source is None:
        return
    written = source.value.strip() if source.kind == "scalar" else ""
    match = _SOURCE.fullmatch(written)
    if match is None:
        if not any(written in names for names in made):
            yield Hit(*place(source), "source", {"value": source.text})
        return
    number = int(match["n"]) if match["n"] is not None else 0
    if match["n"] is not None and not 1 <= number < position:
        yield Hit(*place(source), "later", {"value": source.text, "last": position - 1})
    elif match["more"] == "" and name is not None and is_text(name) and name.value not in made[number]:
        known = sorted(made[number])
        args = {
            "name": name.value,
            "from": written,
            "known": "、".join(known) or "—",
            "known_en": ", ".join(known) or "—",
        }
        yield Hit(*place(name), "unmade", args, None, "error" if number == 0 else "warning")
