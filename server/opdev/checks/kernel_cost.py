"""What costs a kernel its time without need: profiling left in, contributions added one peer at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?P<name>[^>\"\n]*shmemi_prof\.h)[>\"]", re.MULTILINE)
_PERF_RUN = re.compile(rb"--perf\b|perf_?times?|perf_?iters?|\[PERF\]|prof_export|SHMEM_CYCLE_PROF", re.IGNORECASE)
_LOOPS = ("for_statement", "while_statement", "for_range_loop")
_PEERS = re.compile(rb"(?i)n_?pes|pe_?num|pe_?size|rank_?(?:num|size|count)|num_?ranks|peer|world_?size|\bpes\b")
_GET = re.compile(rb"\b(?:acl)?shmemx?_(?:mte_)?(?:\w+_)?get(?:mem)?\w*\b")
_OTHER_ENGINE = re.compile(rb"(?i)\b\w*(?:sdma|roce|rdma|udma)\w*\b")


def profiling_left_in(context: Context) -> Iterator[Hit]:
    """Cycle profiling compiled into every build of an operator that nobody measures."""
    project = context.project
    if project is None or context.place.operator is None:
        return
    for match in _INCLUDE.finditer(context.nocomment):
        node = context.node_at(match.start("name"), match.end("name"))
        if node is None or any(a.type.startswith("preproc_if") and not _is_guard(context, a) for a in ancestors(node)):
            continue
        measured = list(project.files("perf-script", "baseline-script")) or any(
            _PERF_RUN.search(f.data)
            for f in project.files("host", "run-script", "case-runner")
            if f.path != context.file.path
        )
        if not measured:
            yield Hit(match.start("name"), match.end("name"), args={"name": match["name"].decode()})


def _is_guard(context: Context, node: Node) -> bool:
    """A header's own include guard."""
    name = node.child_by_field_name("name")
    return (
        node.type == "preproc_ifdef"
        and name is not None
        and context.data[node.start_byte : node.start_byte + 7] == b"#ifndef"
        and re.search(rb"#\s*define\s+" + re.escape(context.text(name).encode()) + rb"\s*$", context.data, re.MULTILINE)
        is not None
    )


def serial_accumulation(context: Context) -> Iterator[Hit]:
    """A reduce that fetches from one peer after the other and adds in UB."""
    if {b"SetAtomicAdd", b"SetAtomicMax", b"SetAtomicMin"} & context.file.words:
        return
    name = f"{context.place.operator or ''} {context.file.path.rpartition('/')[2]}".lower()
    for call in cpp.calls(context, "Add"):
        if len(call.args) < 4 or not cpp.is_device(context.file, call.function):
            continue
        function = cpp.function_name(context.file, call.function) if call.function is not None else ""
        if "reduce" not in name and "reduce" not in function.lower():
            continue
        loop, get = _loop_of_gets(context, call.node)
        if loop is None or get is None or _OTHER_ENGINE.search(context.code, loop.start_byte, loop.end_byte):
            continue
        note = {"zh": "这里取一个 PE 的数据", "en": "one PE's data are fetched here"}
        related = (Related(*get.span(), note),)
        yield Hit(call.start, call.end, args={"get": get.group().decode()}, related=related)


def _loop_of_gets(context: Context, add: Node) -> tuple[Node | None, re.Match[bytes] | None]:
    """The loop over peers around an addition, and the fetch before the addition in it."""
    for above in ancestors(add):
        if above.type == "function_definition":
            break
        body = above.child_by_field_name("body") if above.type in _LOOPS else None
        if body is None or not _PEERS.search(context.code, above.start_byte, body.start_byte):
            continue
        gets = list(_GET.finditer(context.code, body.start_byte, add.start_byte))
        if gets:
            return above, gets[-1]
    return None, None
