"""Where data goes in main.cpp against the design's placement, and what the design wants delivered for Torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.designed import design_of, note, said, shown
from opdev.design.cross_schedule import placement
from opdev.design.document import document_of
from opdev.facts.bindings import binding_classes
from opdev.facts.calls import api_calls
from opdev.facts.kernels import kernels, launchers
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = ("for_statement", "while_statement", "do_statement")
_MEASURED = re.compile(
    rb"(?i)\b\w*(?:perf_?times|perf_?iters?|measure\w*|bench_?iters?|timed_?iters?|repeat_?times)\w*\b"
)
_WARM = re.compile(rb"(?i)warm")
_COPIES = ("aclrtMemcpy", "aclrtMemcpyAsync")
_NO_COPY = re.compile(
    r"aclrt(?!Memcpy)\w+|ACL_CHECK\w*|CHECK\w*|now|Now|time_since_epoch|count|duration\w*|push_back|emplace_back|size|data"
    r"|\w*[bB]arrier\w*|(?!aclrt)\w*[sS]ync\w*|static_cast|reinterpret_cast|uint\w+_t|int\w*|util_get_ffts_config|printf|min|max"
)


def _measured_loop(context: Context, node: Node) -> Node | None:
    """The measured loop around a node; None for warm-up and everything else."""
    for above in ancestors(node):
        if above.type in ("function_definition", "lambda_expression"):
            return None
        body = above.child_by_field_name("body") if above.type in _LOOPS else None
        if body is None:
            continue
        head = context.code[above.start_byte : body.start_byte]
        if _MEASURED.search(head) and not _WARM.search(head):
            return above
    return None


def _starters(project: Project) -> set[str]:
    """Functions that launch a kernel, and the kernels."""
    files = list(project.files("kernel", "host"))
    return {one.name for f in files for one in launchers(f)} | {k.name for f in files for k in kernels(f)}


def copy_in_measured_loop(context: Context) -> Iterator[Hit]:
    """Placement A: a copy from device to device by the host inside the measured loop."""
    project = context.project
    document = design_of(project)
    node, where = placement(document) if document is not None else (None, "")
    if project is None or document is None or node is None or where != "A":
        return
    for call in cpp.calls(context, *_COPIES):
        if not any("DEVICE_TO_DEVICE" in text for text in call.arg_texts):
            continue
        loop = _measured_loop(context, call.node)
        if loop is None or not _starts(context, loop, _starters(project)):
            continue
        related = (shown(document, node, "设计写的计时位置", "the placement the design names"),)
        yield Hit(call.start, call.end, args={"call": call.name}, fix=_dropped(context, call), related=related)


def _starts(context: Context, loop: Node, names: set[str]) -> bool:
    code = context.code[loop.start_byte : loop.end_byte]
    return b"<<<" in code or any(re.search(rb"\b%s\s*\(" % re.escape(n.encode()), code) for n in names)


def _dropped(context: Context, call: cpp.Call) -> Fix | None:
    """The statement's lines taken out, where nothing else stands on them."""
    statement = call.statement
    begin = context.data.rfind(b"\n", 0, statement.start_byte) + 1
    newline = context.data.find(b"\n", statement.end_byte)
    end = len(context.data) if newline < 0 else newline + 1
    if statement.type != "expression_statement" or statement.parent is None:
        return None
    if statement.parent.type != "compound_statement" or context.data[begin : statement.start_byte].strip():
        return None
    return Fix((Edit(begin, end, ""),)) if not context.data[statement.end_byte : end].strip() else None


def staging_outside_loop(context: Context) -> Iterator[Hit]:
    """Placement B: a measured loop that launches and copies nothing into the symmetric heap."""
    project = context.project
    document = design_of(project)
    node, where = placement(document) if document is not None else (None, "")
    if project is None or document is None or node is None or where != "B":
        return
    names, seen = _starters(project), set[int]()
    for name in sorted(names):
        for call in cpp.calls(context, name):
            loop = _measured_loop(context, call.node)
            if loop is None or loop.start_byte in seen:
                continue
            seen.add(loop.start_byte)
            called = re.findall(
                rb"\b([A-Za-z_]\w*)\s*(?:<[^<>;{}]*>)?\s*\(", context.code[loop.start_byte : loop.end_byte]
            )
            words = {w.decode() for w in called} - {"for", "while", "if", "switch", "return", "sizeof"}
            # Whatever else is called may copy.
            if not all(word in names or _NO_COPY.fullmatch(word) for word in words):
                continue
            related = (shown(document, node, "设计写的计时位置", "the placement the design names"),)
            yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"name": name}, related=related)


_DEBUG = re.compile("(?i)debug|test|demo|verify|check|调试|测试|校验".encode())


def host_data_path(context: Context) -> Iterator[Hit]:
    """The host moves data between PEs although the design gives that to the kernel."""
    project = context.project
    document = design_of(project)
    plane = said(document, "schedule.core_partition.cross_pe_dataplane")
    if project is None or document is None or plane is None or "aclshmem" not in plane.said:
        return
    if re.search(r"(?i)host|on_stream", plane.said):
        return
    for call in api_calls(context.file):
        if call.device or call.act not in ("put", "get", "put-signal"):
            continue
        line = context.data.rfind(b"\n", 0, context.data.rfind(b"\n", 0, call.start)) + 1
        comments = context.data[line : context.data.find(b"\n", call.call_end)]
        if _DEBUG.search(comments) or _in_kernel_text(context, call.start):
            continue
        related = (shown(document, plane, "设计的数据面", "the design's data plane"),)
        yield Hit(call.start, call.end, args={"call": call.name}, related=related)


def _in_kernel_text(context: Context, at: int) -> bool:
    """Whether a place may be device code although nothing in its head says so: templates, macros, lambdas."""
    function = cpp.function_at(context.file, at)
    if function is None:
        return True
    body = context.code[function.start_byte : function.end_byte]
    return re.search(rb"__gm__|__ubuf__|GM_ADDR|GetBlockIdx|AscendC", body) is not None


def missing_torch_test(context: Context) -> Iterator[Hit]:
    """A design that asks for Torch, a binding that is there, and no test of it."""
    project = context.project
    document = document_of(context.file)
    wanted = document.get("meta.torch_required")
    if project is None or wanted is None or wanted.data() is not True or "design-doc" not in context.kinds:
        return
    binding = project.beside(f"torch_binding/src/torch_bind_{project.name}.cpp")
    if binding is None:
        return
    if any(True for _ in project.files("torch-test")) or project.exists(f"scripts/torch_test_{project.name}.py"):
        return
    classes = binding_classes(binding)
    start, end = (classes[0].start, classes[0].end) if classes else (0, 0)
    related = (Related(start, end, note("绑定已经写好", "the binding is there"), binding.path),)
    yield Hit(*wanted.where, args={"operator": project.name}, related=related)
