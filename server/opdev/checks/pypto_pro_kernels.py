"""What the parser of PyPTO-Pro kernels takes: loops, statements, parameters, keywords of the decorator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_pro_sync import tile_names
from opdev.facts.pypto_pro import Traced, is_exempt, memory_of, pro_kernels, traced
from opdev.facts.pypto_pro_host import launched_by
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.py_values import constants, evaluate
from opdev.syntax.tree import ancestor, span

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYWORDS = frozenset({"arch", "auto_mutex", "name", "pipeline", "tiling_key", "datatype", "compile_timeout"})
_TRANSFERS = ("load", "load_tile", "store", "store_tile")
_SECTIONS = ("section_vector", "section_cube")
# Statements and expressions the parser has no reading for, by the word that tells them.
_REFUSED = {
    "try": ("try_statement",),
    "import": ("import_statement", "import_from_statement"),
    "class": ("class_definition",),
    "lambda": ("lambda",),
    "global": ("global_statement",),
    "nonlocal": ("nonlocal_statement",),
    "del": ("delete_statement",),
    "raise": ("raise_statement",),
    "assert": ("assert_statement",),
    "yield": ("yield",),
    "await": ("await",),
    "for": ("for_in_clause",),
    "def": ("function_definition",),
}
_FOLDED = frozenset({"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"})
_LIST = re.compile(
    r"(?:\w+\.)?(?:TensorList|[Ll]ist|[Tt]uple|Sequence|Iterable)\s*\[.*\bTensor\b.*\]|(?:\w+\.)*TensorList", re.DOTALL
)
_LAUNCH = re.compile(rb"\][ \t]*\(")
_KERNEL = re.compile(rb"@[ \t]*\w+\.jit\b(?:[^\n]*\n)+?[ \t]*(?:async[ \t]+)?def[ \t]+\w+")
_INFINITE = re.compile(
    rb"^(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(-?[ \t]*(?:float\([ \t]*['\"][+-]?(?:inf|infinity|nan)['\"][ \t]*\)"
    rb"|(?:math|torch|np|numpy)\.(?:inf|nan)))[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.IGNORECASE,
)


def foreign_loop(context: Context) -> Iterator[Hit]:
    """``for`` over anything but ``pl.range``."""
    for one in traced(context):
        for node in one.inside.nodes("for", "for_statement"):
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            if right is None or left is None or not one.owns(node):
                continue
            args = {"kernel": one.name, "written": context.text(right)}
            function = right.child_by_field_name("function") if right.type == "call" else None
            spelled = context.text(function) if function is not None else ""
            if function is None or not spelled.endswith(".range"):
                fix = None
                if function is not None and spelled == "range" and "=" not in context.text(right):
                    fix = Fix((Edit(*span(function), f"{one.alias}.range"),))
                yield Hit(*span(right), "default", args, fix)
                continue
            if left.type != "identifier":
                yield Hit(*span(left), "target", args)
            call = py.Call(spelled, right, context.file)
            for name, value in call.keywords.items():
                args["name"] = name
                yield Hit(*span(value.parent or value), "keyword", args)
            if not call.keywords and not 1 <= len(call.args) <= 3:
                yield Hit(*span(right), "count", {**args, "count": len(call.args)})
            step = call.args[2] if len(call.args) == 3 else None
            if step is not None and evaluate(context.text(step), constants(context.file)) == 0:
                yield Hit(*span(step), "step", args)


def refused_statement(context: Context) -> Iterator[Hit]:
    """Python the parser has no reading for, in a function it reads."""
    if is_exempt(context):
        return
    for one in traced(context):
        for word, types in _REFUSED.items():
            for node in one.inside.nodes(word, *types):
                if node.type == "for_in_clause":
                    # One comprehension may have several.
                    parent = node.parent
                    if parent is None or next((c for c in parent.children if c.type == node.type), node) != node:
                        continue
                    node = parent
                if node == one.node or not _is_of(one, node):
                    continue
                end = context.data.find(b"\n", node.start_byte)
                stop = min(node.end_byte, end if end >= 0 else node.end_byte)
                shown = "for … in …" if node.type in _FOLDED else word
                yield Hit(node.start_byte, stop, "default", {"word": shown, "kernel": one.name})


def _is_of(one: Traced, node: Node) -> bool:
    """Whether a node is in the body itself, not in what is refused around it."""
    above = ancestor(node, "function_definition", "lambda", "class_definition", "try_statement")
    # A comprehension over constants is folded where sizes and addresses are given.
    folded = ancestor(node, "keyword_argument")
    return above == one.node and (folded is None or node.type not in _FOLDED)


def unknown_keyword(context: Context) -> Iterator[Hit]:
    """A keyword ``@pl.jit`` does not have."""
    if is_exempt(context):
        return
    for kernel in pro_kernels(context):
        for name, value in kernel.keywords.items():
            holder = value.parent
            where = holder.child_by_field_name("name") if holder is not None else None
            if name in _KEYWORDS or where is None:
                continue
            fix = Fix((Edit(*span(where), "compile_timeout"),)) if name == "timeout" else None
            key = "timeout" if name == "timeout" else "default"
            yield Hit(*span(where), key, {"name": name}, fix)


def mixed_generations(context: Context) -> Iterator[Hit]:
    """``tile_dims=`` in a file that also says ``order=``: no version knows both."""
    transfers = [c for name in _TRANSFERS for c in py.calls(context, name) if "." in c.dotted]
    newer = next((call.keywords["order"] for call in transfers if "order" in call.keywords), None)
    for call in transfers if newer is not None else ():
        value = call.keywords.get("tile_dims")
        holder = value.parent if value is not None else None
        where = holder.child_by_field_name("name") if holder is not None else None
        if where is not None and newer is not None:
            note = {"zh": "这里写的是 order", "en": "here it is order"}
            related = (Related(*span(newer.parent or newer), note),)
            yield Hit(*span(where), "default", {"call": call.dotted}, None, None, related)
    yield from _older_load(context, transfers)


def _older_load(context: Context, transfers: list[py.Call]) -> Iterator[Hit]:
    """``get_subblock_num`` beside a load with ``tile_dims=``, which had gone before it came."""
    old = next((c.keywords["tile_dims"] for c in transfers if "load" in c.name and "tile_dims" in c.keywords), None)
    for call in py.calls(context, "get_subblock_num") if old is not None else ():
        if "." in call.dotted and old is not None:
            note = {"zh": "旧版的参数名", "en": "the keyword of older versions"}
            function = call.node.child_by_field_name("function") or call.node
            related = (Related(*span(old.parent or old), note),)
            yield Hit(*span(function), "subblock", {"call": call.dotted}, None, None, related)


def ambiguous_index(context: Context) -> Iterator[Hit]:
    """``get_block_idx`` before the sections of a kernel that has both kinds."""
    for kernel in pro_kernels(context):
        sections = kernel.calls(*_SECTIONS) if kernel.called.get("get_block_idx") else []
        if len({call.name for call in sections}) < 2:
            continue
        first = min(call.start for call in sections)
        for call in kernel.calls("get_block_idx"):
            divided = call.node.parent is not None and call.node.parent.type == "binary_operator"
            if call.start < first and kernel.owns(call.node) and not divided:
                function = call.node.child_by_field_name("function") or call.node
                yield Hit(*span(function), "default", {"kernel": kernel.name})


def tensor_list(context: Context) -> Iterator[Hit]:
    """A parameter that is a list of tensors."""
    for kernel in pro_kernels(context):
        parameters = kernel.node.child_by_field_name("parameters")
        for child in parameters.named_children if parameters is not None else []:
            annotation = child.child_by_field_name("type")
            if annotation is not None and _LIST.fullmatch(context.text(annotation)):
                name = child.child_by_field_name("name") or (
                    child.named_children[0] if child.named_child_count else child
                )
                args = {"name": context.text(name), "written": context.text(annotation)}
                yield Hit(*span(annotation), "default", args)


def same_name(context: Context) -> Iterator[Hit]:
    """Two kernels of one function name in a file, which the compiled ones are kept by."""
    names = [context.data[start:end].split()[-1] for start, end in context.spans(_KERNEL)]
    if len(set(names)) == len(names):
        return
    seen: dict[tuple[str, str], Traced] = {}
    for kernel in pro_kernels(context):
        given = kernel.keywords.get("name")
        if given is not None and py.string_value(context.file, given) is None:
            continue
        key = (kernel.name, context.text(given) if given is not None else "")
        first = seen.setdefault(key, kernel)
        if first is not kernel:
            note = {"zh": "第一个", "en": "the first"}
            related = (Related(*span(first.name_node), note),)
            lost = all(ancestor(one.node, "function_definition", "class_definition") is None for one in (first, kernel))
            where, args = span(kernel.name_node), {"name": kernel.name}
            yield Hit(*where, "lost" if lost else "default", args, None, "warning" if lost else None, related)


def infinite_constant(context: Context) -> Iterator[Hit]:
    """An infinite constant of the module that a kernel uses."""
    found = {}
    for start, end in context.spans(_INFINITE, "nocomment"):
        match = _INFINITE.match(context.nocomment, start, end)
        if match is not None:
            found[match[1].decode()] = (start + match.start(2) - match.start(), start + match.end(2) - match.start())
    used = {name: where for name, where in found.items() if sum(1 for _ in context.find(name)) > 1}
    if not used:
        return
    kernels = traced(context)
    for name, (start, end) in used.items():
        for one in kernels:
            at = next(iter(one.inside.find(name)), None)
            if at is not None:
                note = {"zh": f"{one.name} 用了它", "en": f"{one.name} uses it"}
                related = (Related(at, at + len(name.encode()), note),)
                yield Hit(start, end, "default", {"name": name, "kernel": one.name}, None, None, related)
                break


def fixed_width(context: Context) -> Iterator[Hit]:
    """A number of blocks written into the launch."""
    for match in _LAUNCH.finditer(context.code, context.start, context.end):
        subscript = context.node_at(match.start(), match.start() + 1)
        call = launched_by(subscript)
        if subscript is None or call is None:
            continue
        entries = subscript.children_by_field_name("subscript")
        value = evaluate(context.text(entries[1]), constants(context.file)) if len(entries) == 2 else None
        function = ancestor(call, "function_definition")
        name = function.child_by_field_name("name") if function is not None else None
        if value is None or value <= 1 or name is None or context.text(name).startswith("test"):
            continue
        kernel = subscript.child_by_field_name("value")
        args = {
            "value": value,
            "kernel": context.text(kernel) if kernel is not None else "",
            "function": context.text(name),
        }
        yield Hit(*span(entries[1]), "default", args)


def unpaired_phase(context: Context) -> Iterator[Hit]:
    """``phase`` on one side of an accumulator only."""
    for kernel in pro_kernels(context):
        products = kernel.calls("matmul", "matmul_acc", "matmul_mx", "matmul_mx_acc")
        drains = kernel.calls("store", "store_tile", "move")
        phased: dict[str, py.Call] = {}
        plain: set[str] = set()
        for call in products:
            for source in tile_names(kernel, call.args[:1]):
                if "phase" in call.keywords:
                    phased.setdefault(source, call)
                else:
                    plain.add(source)
        for source, first in phased.items():
            yield from _never_final(kernel, source, first, products)
        for call in drains:
            read = call.args[1:2]
            for source in sorted(tile_names(kernel, read)):
                args = {"call": call.dotted, "name": context.text(read[0])}
                function = call.node.child_by_field_name("function") or call.node
                if source in phased and source not in plain and "phase" not in call.keywords:
                    related = (
                        Related(*span(phased[source].node), {"zh": "这里用了 phase", "en": "phase is used here"}),
                    )
                    yield Hit(*span(function), "move" if call.name == "move" else "default", args, None, None, related)
                elif source in plain and source not in phased and "phase" in call.keywords:
                    yield Hit(*span(function), "drain", args)


def _never_final(kernel: Traced, source: str, first: py.Call, products: list[py.Call]) -> Iterator[Hit]:
    """An accumulator all of whose products say ``Partial``: nothing ever lets the store begin."""
    phases = [
        call.keywords["phase"]
        for call in products
        if source in tile_names(kernel, call.args[:1]) and "phase" in call.keywords
    ]
    written = [kernel.file.data[p.start_byte : p.end_byte].rpartition(b".")[2] for p in phases]
    if set(written) == {b"Partial"}:
        yield Hit(*span(phases[-1]), "partial", {"name": source, "call": first.dotted})


def accumulator_to_l1(context: Context) -> Iterator[Hit]:
    """``pl.move`` from L0C to L1, which has no path."""
    for kernel in pro_kernels(context):
        for call in kernel.calls("move"):
            if len(call.args) < 2:
                continue
            spaces = [
                {_memory(kernel, source) for source in tile_names(kernel, [argument])} for argument in call.args[:2]
            ]
            if spaces == [{"Mat"}, {"Acc"}]:
                function = call.node.child_by_field_name("function") or call.node
                args = {"target": context.text(call.args[0]), "source": context.text(call.args[1])}
                yield Hit(*span(function), "default", args)


def _memory(kernel: Traced, source: str) -> str:
    group = kernel.tiles.groups.get(source)
    return group.memory if group is not None else memory_of(kernel, kernel.tiles.single[source])


__all__ = [
    "accumulator_to_l1", "ambiguous_index", "fixed_width", "foreign_loop", "infinite_constant", "mixed_generations", "refused_statement",
    "same_name", "tensor_list", "unknown_keyword", "unpaired_phase",
]  # fmt: skip
