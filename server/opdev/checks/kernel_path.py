"""What a delivered kernel should not carry: dead branches, debug output, fixed launches, impossible tiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.api import in_library
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|endif)\b(?P<rest>[^\n]*)", re.MULTILINE)


def _conditional_ranges(file: File) -> list[tuple[int, int]]:
    """Ranges under ``#if``; include guards left out."""

    def collect() -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        stack: list[tuple[int, bool]] = []
        for match in _CONDITION.finditer(file.code):
            if match["word"] != b"endif":
                guard = match["word"] == b"ifndef" and (
                    re.match(rb"\s*#[ \t]*define[ \t]+" + re.escape(match["rest"].strip()), file.code[match.end() :])
                    is not None
                )
                stack.append((match.start(), guard))
            elif stack:
                start, guard = stack.pop()
                if not guard:
                    found.append((start, match.end()))
        return found

    return file.memo("kernel_path.conditionals", collect)


_OUTPUT = re.compile(rb"\b(?:printf|PRINTF|DumpTensor|DumpAccChkPoint|InitDump)\b(?=\s*[(<])")


def unguarded_debug_output(context: Context) -> Iterator[Hit]:
    """Device printing or dumping that is compiled into every build."""
    if in_library(context.file):
        return
    for call in cpp.calls_matching(context, _OUTPUT):
        if call.namespace not in ("", "AscendC") or not cpp.is_device(context.file, call.function):
            continue
        if any(start < call.start < end for start, end in _conditional_ranges(context.file)):
            continue
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"name": call.name})


_DEAD = re.compile(rb"\bif\s*(?:constexpr\s*)?(\(\s*(?:0|false)\s*\))")


def dead_branch(context: Context) -> Iterator[Hit]:
    """``if (0)`` and ``if (false)``."""
    for match in _DEAD.finditer(context.code, context.start, context.end):
        node = context.file.root.named_descendant_for_byte_range(match.start(), match.end())
        while node is not None and node.type != "if_statement":
            node = node.parent
        if node is None or node.start_byte != match.start():
            continue
        fix = None
        inside_else = node.parent is not None and node.parent.type == "else_clause"
        if node.child_by_field_name("alternative") is None and not inside_else:
            fix = Fix((_whole_lines(context.file, node),))
        yield Hit(match.start(1), match.end(1), args={"condition": match[1].decode()}, fix=fix)


def _whole_lines(file: File, node: Node) -> Edit:
    """An edit that removes a statement, with its line where it stands alone."""
    start, end = node.start_byte, node.end_byte
    line = file.data.rfind(b"\n", 0, start) + 1
    stop = file.data.find(b"\n", end)
    stop = len(file.data) if stop < 0 else stop + 1
    if not file.data[line:start].strip() and not file.data[end:stop].strip():
        start, end = line, stop
    return Edit(start, end, "")


_NULL_RETURN = re.compile(
    rb"\bif\s*\(\s*(?P<test>(?P<name>[A-Za-z_]\w*)\s*==\s*(?:nullptr|NULL))\s*\)\s*(?:\{\s*return\b[^;{}]*;\s*\}|return\b[^;{}]*;)"
)


def device_null_check(context: Context) -> Iterator[Hit]:
    """``if (p == nullptr) return;`` in device code."""
    for match in _NULL_RETURN.finditer(context.code, context.start, context.end):
        node = context.node_at(*match.span("name"))
        if node is not None and cpp.is_device(context.file, ancestor(node, "function_definition")):
            yield Hit(match.start("test"), match.end("test"), args={"name": match["name"].decode()})


_INLINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+inline[ \t]+inline[ \t]+(?P<typo>attribute)(?=[ \t]*\(\()")


def inline_attribute_typo(context: Context) -> Iterator[Hit]:
    """``#define inline inline attribute((always_inline))``."""
    for at in context.find("attribute"):
        match = _INLINE.match(context.code, context.code.rfind(b"\n", 0, at) + 1)
        if match is not None:
            start, end = match.span("typo")
            yield Hit(start, end, fix=Fix((Edit(start, end, "__attribute__"),)))


_LAUNCH = re.compile(rb"\b(?P<kernel>[A-Za-z_]\w*)\s*(?:<[^<>;{}]*>)?\s*<<<\s*(?P<dim>\d+)[uUlL]*\s*,")
_MEASURES = re.compile(rb"(?i)latency|pingpong|perftest|single_?core|_one_")
_ONE_BLOCK = re.compile(r"(?i)block_?dim\W{0,8}1\b")


def fixed_block_dim(context: Context) -> Iterator[Hit]:
    """A kernel launched with a literal number of blocks."""
    project = context.project
    if project is None:
        return
    for match in _LAUNCH.finditer(context.code) if b"<<<" in context.code else ():
        dim = match["dim"].decode()
        if _MEASURES.search(match["kernel"]):
            continue
        if dim == "1" and _single_core(project):
            return
        args = {"kernel": match["kernel"].decode(), "dim": dim}
        if dim == "1":
            # Without a design nobody says that one core is not what is wanted.
            designed = any(True for _ in project.files("design-doc"))
            yield Hit(*match.span("dim"), args=args, severity=None if designed else "warning")
        else:
            yield Hit(*match.span("dim"), message="literal", args=args, severity="warning")


def _single_core(project: Project) -> bool:
    from opdev.design.cross_schedule import single_core

    texts = [f.data.decode("utf-8", "replace") for f in project.files("design-doc")]
    return any(single_core(text) or _ONE_BLOCK.search(text) for text in texts)


_SIZE_SUFFIX = re.compile(r"(?P<stem>\w+?)_(?P<size>small|large|big)(?:_data)?")
_OPPOSITE = {"small": ("large", "big"), "large": ("small",), "big": ("small",)}


def size_split_kernels(context: Context) -> Iterator[Hit]:
    """Two device functions of one name that differ in ``_small`` and ``_large``."""
    found: dict[str, dict[str, Node]] = {}
    for function in cpp.functions(context):
        match = _SIZE_SUFFIX.fullmatch(cpp.function_name(context.file, function))
        if match and cpp.is_device(context.file, function):
            found.setdefault(match["stem"], {})[match["size"]] = function
    for by_size in found.values():
        if "small" not in by_size or len(by_size) < 2:
            continue
        size, function = min(by_size.items(), key=lambda item: item[1].start_byte)
        other = next((by_size[s] for s in _OPPOSITE[size] if s in by_size), None)
        if other is None:
            continue
        name, twin = (cpp.function_name(context.file, one) for one in (function, other))
        at = context.code.find(name.encode(), function.start_byte)
        there = context.code.find(twin.encode(), other.start_byte)
        if at < 0 or there < 0:
            continue  # behind a comment nobody closed
        related = (Related(there, there + len(twin), {"zh": "另一份在这里", "en": "the other one is here"}),)
        yield Hit(at, at + len(name), args={"name": name, "other": twin}, related=related)


_SHAPE = re.compile(
    rb"\b(?P<which>L1TileShape|L0TileShape)?\s*(?:=\s*)?(?:[\w:]+::)?\b(?:Gemm|Matmul)Shape\s*<"
    rb"\s*(?P<m>\d+)\s*,\s*(?P<n>\d+)\s*,\s*(?P<k>\d+)\s*>"
)
_NARROW = re.compile(rb"\b(?:int8_t|uint8_t|int4b_t|fp8\w*|float8\w*|hifloat8\w*)\b")
_L1_BYTES, _L0_BYTES, _L0C_BYTES = 512 * 1024, 64 * 1024, 128 * 1024


def bad_cube_tile(context: Context) -> Iterator[Hit]:
    """Cube tiles off the grid of 16, larger than their buffers, or of different size in L1 and L0."""
    l1: tuple[int, int, int] | None = None
    # The element's least size: judged by what surely does not fit.
    size = 1 if _NARROW.search(context.code) else 2
    for match in _SHAPE.finditer(context.code):
        m, n, k = (int(match[part]) for part in ("m", "n", "k"))
        for part in ("m", "n", "k"):
            if int(match[part]) % 16:
                yield Hit(*match.span(part), args={"dimension": part.upper(), "value": int(match[part])})
        which = match["which"]
        span = match.span("m")[0], match.span("k")[1]
        if which == b"L1TileShape":
            l1 = (m, n, k)
            need = (m + n) * k * size
            if need > _L1_BYTES:
                yield Hit(*span, message="buffer", args={"buffer": "L1", "need": need, "has": _L1_BYTES})
        elif which == b"L0TileShape":
            for name, need, has in (
                ("L0A", m * k * size, _L0_BYTES),
                ("L0B", k * n * size, _L0_BYTES),
                ("L0C", m * n * 4, _L0C_BYTES),
            ):
                if need > has:
                    yield Hit(*span, message="buffer", args={"buffer": name, "need": need, "has": has})
                    break
            if l1 is not None and (m, n) != l1[:2]:
                args = {"l0": f"{m} × {n}", "l1": f"{l1[0]} × {l1[1]}"}
                yield Hit(match.start("m"), match.end("n"), message="differs", args=args, severity="warning")
