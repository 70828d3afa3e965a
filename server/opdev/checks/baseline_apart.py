"""The baseline apart from the operator: its calls in baseline/ alone, its files where they are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opdev.facts.heap_calls import ALLOCATORS, argument_name
from opdev.facts.local_values import function_range, values_given
from opdev.facts.memory_origins import origins
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import cpp

_CALL = re.compile(rb"(?<![\w.>])(?P<name>(?:Hccl|aclnn)[A-Z]\w*)[ \t]*\(")
_MAIN = re.compile(rb"\bmain[ \t]*\(")
_NOTHING = re.compile(r"\s*(?:\([\w\s*]+\))?\s*(?:nullptr|NULL|0|\{\s*\})\s*")
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
    known = origins(context)
    for call in cpp.calls(context, *_ON_HOST):
        given = values_given(context.file, *function_range(context, call.start))
        for index in _ON_HOST[call.name][: len(call.args)]:
            node, name = call.args[index], argument_name(call.arg_texts[index])
            from_ = known.of(context, name, call.start)
            if (
                from_
                and all(one.on_device for one in from_)
                and not any(_host(text) for _, text in given.get(name, ()))
            ):
                yield Hit(node.start_byte, node.end_byte, args={"call": call.name, "name": name})


def _host(value: str) -> bool:
    """Whether a pointer is given something else than nothing and an allocation: what that is is not known here."""
    return not _NOTHING.fullmatch(value) and not any(allocator in value for allocator in ALLOCATORS)
