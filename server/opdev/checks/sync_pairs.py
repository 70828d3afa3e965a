"""Pairs that must close: profiling probes, and flags between cube and vector cores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.sync_effects import is_entry
from opdev.checks.sync_fixes import by_function, indent_at, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Event, Flow, Jump, function_flow
from opdev.syntax.cpp_paths import explore
from opdev.syntax.cpp_text import split_args, squeeze

if TYPE_CHECKING:
    from tree_sitter import Node

_NOTES = {"start": {"zh": "在这里开始计时", "en": "the timing starts here"}}


def unbalanced_prof_frame(context: Context) -> Iterator[Hit]:
    """SHMEMI_PROF_START and END that do not pair on some way through the function (SH332)."""
    code = context.code
    # Probes by function, from the text alone: a START here and an END there are a pair, for all anybody can tell.
    halves: dict[int, set[bytes]] = {}
    functions = []
    at = code.find(b"SHMEMI_PROF_")
    for function in cpp.functions(context):
        while 0 <= at < function.start_byte:
            at = code.find(b"SHMEMI_PROF_", at + 12)
        while 0 <= at < function.end_byte:
            if function.start_byte not in halves:
                functions.append(function)
            halves.setdefault(function.start_byte, set()).add(code[at + 12 : at + 13])
            at = code.find(b"SHMEMI_PROF_", at + 12)
    split = {b"S"} in halves.values() and {b"E"} in halves.values()
    for function in functions:
        start, end = function.start_byte, function.end_byte
        if _may_be_uneven(code, start, end):
            key = ("prof", split, "header" in context.kinds, cpp.head(context.file, function))
            yield from by_function(key, context.data, start, end, lambda f=function: _frames(context, f, split=split))  # type: ignore[misc]  # bound early


def _frames(context: Context, function: Node, *, split: bool) -> Iterator[Hit]:
    flow = function_flow(context.file, function)
    if flow is None:
        return
    frames: dict[str, list[Event]] = {}
    for event in flow.named("SHMEMI_PROF_START", "SHMEMI_PROF_END"):
        frames.setdefault(event.arg(0), []).append(event)
    for frame, events in frames.items():
        yield from _frame(context, flow, frame, events, split=split)


_PROF = re.compile(rb"\bSHMEMI_PROF_(?P<what>START|END)\s*\((?P<frame>[^()]*)\)|\b(?:return|continue|break|goto)\b")


def _may_be_uneven(code: bytes, start: int, end: int) -> bool:
    """Whether the probes of a function are worth following: uneven in number, or a jump between them."""
    open_frames: dict[bytes, int] = {}
    for match in _PROF.finditer(code, start, end):
        if match["what"] is None:
            if any(open_frames.values()):
                return True
            continue
        frame = match["frame"].strip()
        open_frames[frame] = open_frames.get(frame, 0) + (1 if match["what"] == b"START" else -1)
        if open_frames[frame] not in (0, 1):
            return True
    return any(open_frames.values())


def _frame(context: Context, flow: Flow, frame: str, events: list[Event], *, split: bool) -> Iterator[Hit]:
    seen: dict[Event, set[int]] = {}

    def step(event: Event, count: int) -> int:
        if event.name not in ("SHMEMI_PROF_START", "SHMEMI_PROF_END") or event.arg(0) != frame:
            return count
        seen.setdefault(event, set()).add(count)
        return min(count + 1, 3) if event.name.endswith("START") else max(count - 1, 0)

    ends = explore(flow.body, 0, step, repeated=flow.repeated, loops_run=True)
    if ends is None:
        return
    starts = [e for e in events if e.name.endswith("START")]
    stops = [e for e in events if e.name.endswith("END")]
    if not starts or not stops:
        alone = is_entry(flow.head) or not (split or "header" in context.kinds)
        for event in events if alone else ():
            yield Hit(event.start, event.end, message="alone" if starts else "end", args={"frame": frame})
        return
    by_exit: dict[Jump | None, set[int]] = {}
    for jump, count in ends:
        by_exit.setdefault(jump, set()).add(count)
    for jump, counts in by_exit.items():
        if min(counts) == 0:
            continue
        opened = max((e for e in starts if jump is None or e.start < jump.start), key=lambda e: e.start)
        if jump is None:
            yield Hit(opened.start, opened.end, message="alone", args={"frame": frame})
            continue
        fix = _close(context, jump, frame)
        yield Hit(jump.start, jump.end, args={"frame": frame}, fix=fix, related=(related(opened, _NOTES["start"]),))
    for stop in stops:
        if seen.get(stop) == {0}:
            yield Hit(stop.start, stop.end, message="end", args={"frame": frame})


def _close(context: Context, jump: Jump, frame: str) -> Fix | None:
    indent = indent_at(context.data, jump.start)
    node = context.node_at(jump.start, jump.end)
    if indent is None or node is None or node.parent is None or node.parent.type != "compound_statement":
        return None
    return Fix((Edit(jump.start, jump.start, f"SHMEMI_PROF_END({frame});\n{indent}"),))


_CROSS = re.compile(rb"\bCrossCore(?P<what>Set|Wait)Flag\s*(?:<[^;(){}]*?>)?\s*\((?P<args>[^;{}]*?)\)\s*;")
_ARRAY = re.compile(rb"\bCrossCoreFlag\w*\s+(?P<name>\w+)\s*\[\s*(?P<size>[^\]]+?)\s*\]")


def unpaired_cross_core_flag(context: Context) -> Iterator[Hit]:
    """A flag between cube and vector cores that only one side uses (SH320)."""
    project = context.project
    assert project is not None  # a project check is only run with one
    sides: dict[str, set[bytes]] = {}
    for file in project.files("kernel", "header"):
        for match in _CROSS.finditer(file.code):
            sides.setdefault(_flag(match["args"]), set()).add(match["what"])
    if len(set().union(*sides.values())) < 2:
        return
    stages = cpp.constants(context.file).get("WORKSPACE_STAGES")
    for match in _CROSS.finditer(context.code):
        name = _flag(match["args"])
        function = cpp.function_at(context.file, match.start())
        named = {n for _, n in cpp.parameters(context.file, function)} if function is not None else set()
        if len(sides.get(name, ())) == 1 and name and name not in named:
            text = match.group().rstrip(b"; \t\r\n")
            key = "default" if match["what"] == b"Set" else "wait"
            yield Hit(match.start(), match.start() + len(text), message=key, args={"flag": name})
    if stages is not None:
        for match in _ARRAY.finditer(context.code):
            size = cpp.evaluate(match["size"].decode("utf-8", "replace"), cpp.constants(context.file))
            if size is not None and size != stages:
                args = {"flag": match["name"].decode("utf-8", "replace"), "size": size, "stages": stages}
                yield Hit(match.start("size"), match.end("size"), message="size", args=args)


def _flag(text: bytes) -> str:
    """The flag a call names, without the stage it is indexed by or offset with; empty for none."""
    args = split_args(text.decode("utf-8", "replace"))
    return re.split(r"[\[+]", squeeze(args[0]), maxsplit=1)[0] if args else ""
