"""Register code of PyPTO-Pro (``vf.…``): its forms, its types, its masks; and vector work done without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import parameters
from opdev.facts.pypto_pro import Traced, generation, is_exempt, pro_kernels, traced
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related, Severity
from opdev.syntax import py
from opdev.syntax.tree import ancestor, ancestors, span

if TYPE_CHECKING:
    from tree_sitter import Node

# How many registers an operation gives; those that give none are statements.
_ONE = frozenset(
    """add sub mul div max min and_ or_ xor abs_sub select shift_left shift_right prelu ln log exp abs not_ sqrt relu neg
    pair_reduce_sum squeeze truncate astype log2 log10 reduce_sum reduce_max reduce_min muls adds subs mins maxs leaky_relu
    muls_cast axpy exp_sub mul_add_dst mul_dst_add pack unpack arange unsqueeze full load_align load load_unalign gather
    move eq ne lt gt le ge histograms""".split()  # noqa: SIM905 - a page of quotes would be harder to read
)
_TWO = frozenset({"interleave", "de_interleave", "mull", "addc", "subc"})
_REGISTERS = frozenset({"reg_tensor", "mask_reg"})
_GIVES = _ONE | _TWO | _REGISTERS
_VF = re.compile(rb"(?<![\w.])(?:\w+\.)?vf\.(\w+)[ \t]*(?=\()")
KEEPS = frozenset(
    """add sub mul div max min and_ or_ xor abs_sub shift_left shift_right prelu ln log exp abs not_ sqrt relu neg squeeze
    truncate log2 log10 muls adds subs mins maxs leaky_relu axpy mul_add_dst mul_dst_add reduce_max reduce_min""".split()  # noqa: SIM905
)
"""Operations whose result has the type of what is operated on."""
_64_BIT = frozenset({"INT64", "UINT64"})
_FLOATS = {"exp": frozenset({"FP16", "FP32"}), "exp_sub": frozenset({"FP16", "FP32"}),
           "ln": frozenset({"FP16", "FP32"}), "log": frozenset({"FP16", "FP32"})}  # fmt: skip
WIDTHS = {"INT8": 8, "UINT8": 8, "INT16": 16, "UINT16": 16, "FP16": 16, "BF16": 16, "INT32": 32, "UINT32": 32, "FP32": 32,
           "INT64": 64, "UINT64": 64}  # fmt: skip
_INDEX: Mapping[int, tuple[str, ...]] = {8: ("UINT16",), 16: ("UINT16",), 32: ("UINT32",), 64: ("UINT32", "UINT64")}
_GATHERED = {8: ("UINT8", "UINT16", "UINT32"), 16: ("UINT16", "UINT32"), 32: ("UINT32",), 64: ("UINT32", "UINT64")}
"""Of all forms together: from a tile or a register, element by element or by blocks of 32 bytes."""
_VECTOR = (
    "add", "sub", "mul", "div", "exp", "maximum", "minimum", "muls", "adds", "relu", "neg", "abs", "sqrt", "rsqrt", "recip",
    "sum", "max", "min", "row_sum", "row_max", "row_min", "expand_sub", "expand_mul", "expand_div", "expand_max",
    "expand_min", "col_expand_mul", "col_expand_sub", "row_expand_sub", "row_expand_mul", "row_expand_div", "log", "ln",
    "select", "axpy", "fused_mul_add", "mul_add_dst", "prelu", "leaky_relu", "add_relu", "sub_relu", "partadd", "partmul",
)  # fmt: skip


_BINDS = re.compile(
    rb"^[ \t]*(?:for[ \t]+([\w \t,()]+?)[ \t]+in\b|([\w \t,()]+?)[ \t]*(?:[-+*/%]|//)?=(?!=))", re.MULTILINE
)
"""What gives names a value: an assignment, a loop."""
_OTHER_NAME = re.compile(rb"\bVf\b(?!\.|[ \t]+as[ \t]+vf\b)")
_WORD = re.compile(rb"[A-Za-z_]\w*")


def _vf(view: Context, *names: str) -> list[py.Call]:
    return [c for c in py.calls(view, *names) if c.dotted.rpartition(".")[0].split(".")[-1] == "vf"]


def statement_form(context: Context) -> Iterator[Hit]:
    """``vf.add(dst, a, b, mask)``: the form that names the destination first, which is gone."""
    if is_exempt(context):
        return
    for match in _VF.finditer(context.code, context.start, context.end):
        at = match.start(1)
        name = match[1].decode()
        if name not in _GIVES:
            continue
        call = py.call_at(context.file, at, at + len(match[1]))
        if call is None:
            continue
        function = call.node.child_by_field_name("function") or call.node
        if name in _REGISTERS:
            yield Hit(*span(function), "register", {"call": call.dotted})
            continue
        statement = call.node.parent
        if statement is None or statement.type != "expression_statement":
            continue
        count = 2 if name in _TWO else 1
        yield Hit(
            *span(function), "two" if count == 2 else "default", {"call": call.dotted}, _assigned(context, call, count)
        )


def _assigned(context: Context, call: py.Call, count: int) -> Fix | None:
    """``dst = vf.add(a, b, mask)``."""
    targets, rest = call.args[:count], call.args[count:]
    if len(targets) < count or not rest or any(t.type != "identifier" for t in targets):
        return None
    if rest[0].start_byte < targets[-1].end_byte:
        return None
    names = ", ".join(context.text(t) for t in targets)
    return Fix((Edit(call.start, call.start, f"{names} = "), Edit(targets[0].start_byte, rest[0].start_byte, "")))


def foreign_alias(context: Context) -> Iterator[Hit]:
    """``Vf`` imported under another name than ``vf``."""
    if not context.spans(_OTHER_NAME):
        return
    imports = [one for one in py.imports(context) if one.name == "Vf" and one.module.startswith("pypto_pro")]
    used: dict[str, bool] = {"vf": False}
    for one in imports:
        if one.bound not in used:
            pattern = rb"(?<![\w.])%s\.\w" % re.escape(one.bound.encode())
            used[one.bound] = re.search(pattern, context.code) is not None
        if not used[one.bound]:
            continue
        fix = _renamed(context, one) if len(imports) == 1 else None
        for child in one.node.children_by_field_name("name"):
            target = child.child_by_field_name("name") if child.type == "aliased_import" else child
            if target is not None and context.text(target) == "Vf":
                yield Hit(*span(child), "default", {"name": one.bound}, fix)


def _renamed(context: Context, one: py.Import) -> Fix | None:
    """The import as ``vf`` and every use of it renamed, where nothing else has either name."""
    if any(True for _ in context.find("vf")):
        return None
    edits: list[Edit] = []
    for at in context.find(one.bound):
        node = context.node_at(at, at + len(one.bound))
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            return None
        if ancestor(node, "import_from_statement") is not None:
            if parent.type == "aliased_import":
                edits.append(Edit(*span(node), "vf")) if one.bound != "Vf" else None
            else:
                edits.append(Edit(node.end_byte, node.end_byte, " as vf"))
            continue
        if parent.type != "attribute" or parent.child_by_field_name("object") != node:
            return None
        edits.append(Edit(*span(node), "vf"))
    return Fix(tuple(edits)) if edits else None


def dropped_carry(context: Context) -> Iterator[Hit]:
    """The carry of ``vf.addc`` or ``vf.subc`` given to ``_``."""
    for call in _vf(context, "addc", "subc"):
        parent = call.node.parent
        left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
        first = left.named_children[0] if left is not None and left.named_child_count else None
        if (
            left is not None
            and first is not None
            and left.type in ("pattern_list", "tuple_pattern")
            and context.text(first) == "_"
        ):
            yield Hit(*span(first), "default", {"call": call.dotted})


def register_types(context: Context) -> Iterator[Hit]:
    """Operations on registers whose type they do not take."""
    for one in traced(context, "vector_function"):
        known = types_of(one)
        for call in all_vf(one):
            operand = context.text(call.args[0]) if call.args else ""
            dtype = known.get(operand, "")
            allowed = _FLOATS.get(call.name)
            if allowed is not None and dtype and dtype not in allowed:
                args = {"call": call.dotted, "dtype": dtype, "name": operand, "allowed": "、".join(sorted(allowed))}
                args["allowed_en"] = " and ".join(sorted(allowed))
                yield Hit(*span(call.args[0]), "default", args)
            elif call.name in KEEPS and dtype in _64_BIT:
                yield Hit(*span(call.args[0]), "wide", {"call": call.dotted, "dtype": dtype, "name": operand})


def scatter_index(context: Context) -> Iterator[Hit]:
    """An index of ``vf.scatter`` of another type than its data takes."""
    yield from _indices(context, "scatter", 1, _INDEX)


def gather_index(context: Context) -> Iterator[Hit]:
    """An index of ``vf.gather`` that none of its forms takes for such data."""
    yield from _indices(context, "gather", 0, _GATHERED)


def _indices(context: Context, name: str, position: int, table: Mapping[int, tuple[str, ...]]) -> Iterator[Hit]:
    """Calls whose argument behind ``position`` is no index for the data there, by the width of that in bits."""
    for one in traced(context, "vector_function"):
        known = types_of(one)
        for call in all_vf(one):
            if call.name != name or len(call.args) < position + 2:
                continue
            data, index = (known.get(context.text(a), "") for a in call.args[position : position + 2])
            width = WIDTHS.get(data)
            wanted = table[width] if width is not None else ("UINT16", "UINT32", "UINT64")
            if not index or index in wanted or (width is None and index.startswith("UINT")):
                continue
            where = call.args[position + 1]
            args = {"name": context.text(where), "dtype": index, "data": data or "?", "wanted": "/".join(wanted)}
            yield Hit(*span(where), "default" if data else "unknown", args)


def all_vf(one: Traced) -> list[py.Call]:
    """The calls of ``vf.…`` in a function's body, in text order."""

    def collect() -> list[py.Call]:
        found = (
            py.call_at(one.file, match.start(1), match.end(1))
            for match in _VF.finditer(one.file.code, one.inside.start, one.inside.end)
        )
        return [call for call in found if call is not None]

    return one.file.memo(("pypto.vf", one.inside.start, one.inside.end), collect)


def types_of(one: Traced) -> Mapping[str, str]:
    """The types of a vector function's registers and tiles as far as it says; names with two are left out."""
    return one.file.memo(("pypto.vf.types", one.inside.start, one.inside.end), lambda: _collect_types(one))


def _collect_types(one: Traced) -> dict[str, str]:
    known = {p.name: _dtype(one, p.annotation) for p in parameters(one.file, one.node) if p.annotation is not None}
    known = {name: dtype for name, dtype in known.items() if dtype}
    unclear: set[str] = set()
    for call in all_vf(one):
        parent = call.node.parent
        left = parent.child_by_field_name("left") if parent is not None and parent.type == "assignment" else None
        if left is None or call.name in ("create_mask", "update_mask", "eq", "ne", "lt", "gt", "le", "ge"):
            continue
        given = _dtype(one, call.keywords.get("dtype"))
        if not given and call.args:
            source = known.get(_text(one, call.args[0]).split("+")[0].strip(), "")
            if call.name in KEEPS or call.name == "load_align":
                given = source
        for target in [left] if left.type == "identifier" else left.named_children:
            name = _text(one, target)
            if name in known and known[name] != given:
                unclear.add(name)
            known[name] = given
    return {name: dtype for name, dtype in known.items() if dtype and name not in unclear}


def _text(one: Traced, node: Node) -> str:
    return one.file.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _dtype(one: Traced, node: Node | None) -> str:
    found = re.findall(r"\bDT_(\w+)", _text(one, node)) if node is not None else []
    return found[0] if len(found) == 1 else ""


def invariant_mask(context: Context) -> Iterator[Hit]:
    """``vf.update_mask`` in a loop with an argument that no turn of it changes."""
    for one in traced(context, "vector_function"):
        for call in all_vf(one):
            if call.name != "update_mask" or not call.args:
                continue
            loop = next((a for a in ancestors(call.node) if a.type in ("for_statement", "while_statement")), None)
            if loop is None or loop.start_byte < one.node.start_byte:
                continue
            words = set(_WORD.findall(one.file.code[call.args[0].start_byte : call.args[0].end_byte]))
            bound = not words.isdisjoint(_bound(one, loop))
            if not bound:
                function = call.node.child_by_field_name("function") or call.node
                yield Hit(*span(function), "default", {"written": context.text(call.args[0])})


def _bound(one: Traced, loop: Node) -> frozenset[bytes]:
    """The names a loop gives values to, its own variable among them."""

    def collect() -> frozenset[bytes]:
        text = one.file.code[loop.start_byte : loop.end_byte]
        return frozenset(word for found in _BINDS.findall(text) for side in found for word in _WORD.findall(side))

    return one.file.memo(("pypto.vf.bound", loop.start_byte, loop.end_byte), collect)


def masked_interleave(context: Context) -> Iterator[Hit]:
    """``store_align`` with ``INTLV`` and a mask that leaves lanes out, which it does not look at."""
    for call in _vf(context, "store_align"):
        dist = call.keywords.get("dist")
        if dist is None or not context.text(dist).rpartition(".")[2].startswith("INTLV"):
            continue
        if len(call.args) < 4 or call.args[3].type != "identifier":
            continue
        mask = context.text(call.args[3])
        for made in _vf(context, "update_mask", "create_mask"):
            parent = made.node.parent
            left = parent.child_by_field_name("left") if parent is not None else None
            if left is None or context.text(left) != mask or made.start > call.start:
                continue
            pattern = made.keywords.get("pattern") or (made.args[0] if made.args else None)
            if made.name == "update_mask" or (pattern is not None and not context.text(pattern).endswith("ALL")):
                related = (Related(made.start, made.end, {"zh": "掩码在这里生成", "en": "the mask is made here"}),)
                yield Hit(*span(call.args[3]), "default", {"mask": mask}, None, None, related)
                break


def tile_arithmetic(context: Context) -> Iterator[Hit]:
    """Vector arithmetic on tiles in a delivered kernel, where the conventions want ``vf``."""
    second = generation(context.project) == 2
    designs = context.project.files("pypto-design") if context.project is not None else ()
    if second and any(b"tile_op" in design.data for design in designs):
        return
    for kernel in pro_kernels(context):
        found = [call for call in kernel.calls(*_VECTOR) if _is_on_tiles(kernel, call)]
        if found:
            function = found[0].node.child_by_field_name("function") or found[0].node
            note = {"zh": "这里也是", "en": "here, too"}
            related = tuple(Related(call.start, call.end, note) for call in found[1:6])
            args = {"call": found[0].dotted, "kernel": kernel.name, "count": len(found)}
            severity: Severity | None = None if context.project is not None else "info"
            yield Hit(*span(function), "second" if second else "default", args, None, severity, related)


def _is_on_tiles(kernel: Traced, call: py.Call) -> bool:
    """Whether a call writes a tile: ``pl.add(tile, a, b)``, and not a number, ``n = pl.min(a, b)``."""
    if not call.args or call.node.parent is None or call.node.parent.type != "expression_statement":
        return False
    match = re.match(r"\w+", _text(kernel, call.args[0]))
    return match is not None and bool(kernel.tiles.sources(match[0]))
