"""The baseline apart from the operator: its calls in baseline/ alone, its files where they are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import cpp

_CALL = re.compile(rb"(?<![\w.>])(?P<name>(?:Hccl|aclnn)[A-Z]\w*)[ \t]*\(")
_MAIN = re.compile(rb"\bmain[ \t]*\(")
_NAME = re.compile(rb"[A-Za-z_]\w*\Z")
_ON_HOST: Mapping[str, tuple[int, ...]] = {
    "HcclAlltoAllV": (1, 2, 5, 6), "HcclAllGatherV": (3, 4), "HcclReduceScatterV": (1, 2),
}  # fmt: skip
"""The arguments that are arrays of the host: counts and displacements, by call."""
_MOST = 20


def call_in_source(context: Context) -> Iterator[Hit]:
    """A call of the library that is measured against, in the operator's own program."""
    if not context.place.relative.startswith("src/"):
        return
    told: set[bytes] = set()
    for match in _CALL.finditer(context.code):
        name = match["name"]
        if name in told or len(told) >= _MOST:
            continue
        # A type of the library and a declaration look the same: `aclnnStatus (*ask)(void *)`.
        if cpp.call_at(context.file, *match.span("name")) is None:
            continue
        told.add(name)
        yield Hit(*match.span("name"), args={"call": name.decode()})


def misplaced(context: Context) -> Iterator[Hit]:
    """A baseline's source of another name or place, or one without what builds and runs it."""
    relative, project = context.place.relative, context.project
    if project is None or not relative.startswith("baseline/") or not relative.endswith((".cpp", ".cc")):
        return
    if not _MAIN.search(context.code):
        return  # A part of the program, not the program.
    start, end = context.file.source.line_range(0)
    named = f"baseline/src/{project.name}"
    if relative == f"{named}_hccl.cpp":
        yield Hit(start, end, "default", {"wanted": f"{named}_baseline.cpp"}, None, "info")
    elif relative != f"{named}_baseline.cpp":
        yield Hit(start, end, "default", {"wanted": f"{named}_baseline.cpp"})
    lacking = [p for p in ("baseline/CMakeLists.txt", "baseline/scripts/run_baseline.sh") if not project.exists(p)]
    if lacking:
        yield Hit(start, end, "lacking", {"files": "、".join(lacking)})


def counts_on_device(context: Context) -> Iterator[Hit]:
    """Counts or displacements of a call with different lengths that stand in device memory: the library reads them on the host."""
    code = context.code
    for call in cpp.calls(context, *_ON_HOST):
        for index in _ON_HOST[call.name]:
            if index >= len(call.args):
                break
            node = call.args[index]
            name = _NAME.search(code[node.start_byte : node.end_byte].rstrip(b" )"))
            if name is not None and _from_device(code, name[0]):
                yield Hit(node.start_byte, node.end_byte, args={"call": call.name, "name": name[0].decode()})


def _from_device(code: bytes, name: bytes) -> bool:
    """Whether a pointer is given device memory anywhere in the file, and nothing else."""
    word = re.escape(name)
    given = re.search(rb"\baclrtMalloc[ \t]*\([^;,]{0,80}&[ \t]*" + word + rb"\b|\b" + word + rb"[ \t]*=[^;=]{0,80}\baclshmem_(?:malloc|calloc)\b", code)  # fmt: skip
    host = re.search(rb"\b" + word + rb"[ \t]*(?:\[|=[^;=]{0,120}(?:\bnew\b|\.data[ \t]*\(|(?<![_\w])malloc\b))|\baclrtMallocHost[ \t]*\([^;,]{0,80}&[ \t]*" + word + rb"\b", code)  # fmt: skip
    return given is not None and host is None
