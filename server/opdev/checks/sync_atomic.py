"""Atomic regions (SetAtomicAdd … SetAtomicNone) and scalar atomics whose result is used too early."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.sync_effects import base, effect, hard_event, is_entry, pipe
from opdev.checks.sync_fixes import indent_at, insert_before, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.cpp_flow import Block, Event, Flow, Jump, Loop, Step, blocks, flow_of
from opdev.syntax.cpp_paths import explore
from opdev.syntax.view import View

_OPENS = re.compile(r"SetAtomic(?:Add|Max|Min|Type)|set_atomic_add|EnableDmaAtomic")
_CLOSES = re.compile(r"SetAtomicNone|set_atomic_none|DisableDmaAtomic")
_NOTES = {
    "open": {"zh": "原子模式在这里打开", "en": "atomic mode starts here"},
    "atomic": {"zh": "原子操作在这里发出", "en": "the atomic is issued here"},
    "put": {"zh": "最后一次传输在这里", "en": "the last transfer is here"},
}


def unclosed_atomic_region(context: Context) -> Iterator[Hit]:
    """A way out of the function that leaves atomic mode on (SH316)."""
    flow = flow_of(context)
    if flow is None:
        return
    opened = [e for e in flow.events if _OPENS.fullmatch(e.name)]
    closed = [e for e in flow.events if _CLOSES.fullmatch(e.name)]

    def step(event: Event, state: Event | None) -> Event | None:
        if _OPENS.fullmatch(event.name):
            return event
        if _CLOSES.fullmatch(event.name) or (effect(event).kind == "helper" and not closed):
            return None
        return state

    start: Event | None = None
    ends = explore(flow.body, start, step, repeated=flow.repeated, loops_run=True)
    if ends is None or not opened or not (closed or is_entry(flow.head)):
        return
    by_exit: dict[Jump | None, list[Event | None]] = {}
    for jump, state in ends:
        by_exit.setdefault(jump, []).append(state)
    for jump, states in by_exit.items():
        known = [e for e in states if e is not None]
        if len(known) < len(states):
            continue
        call = known[0]
        if jump is None:
            yield Hit(call.start, call.end, args={"call": call.written})
        else:
            yield Hit(
                jump.start, jump.end, message="return", args={"call": call.written},
                related=(related(call, _NOTES["open"]),),
            )  # fmt: skip


def undrained_atomic_region(context: Context) -> Iterator[Hit]:
    """Atomic mode switched off while a transfer of it may still be under way (SH316)."""
    flow = flow_of(context)
    if flow is None or not any(_CLOSES.fullmatch(e.name) for e in flow.events):
        return
    seen: dict[Event, list[Event | None]] = {}

    def step(event: Event, state: Event | None) -> Event | None:
        what = effect(event)
        if _CLOSES.fullmatch(event.name):
            seen.setdefault(event, []).append(state)
            return None
        if what.kind == "issue" and what.engine in ("mte", "any"):
            return event
        drains = what.kind in ("quiet", "barrier", "cores", "helper") or (what.kind == "pipe" and pipe(event) in ("ALL", "MTE3", ""))  # fmt: skip
        return None if drains or (what.kind == "wait" and hard_event(event)[0] in ("", "MTE3")) else state

    start: Event | None = None
    if explore(flow.body, start, step, repeated=flow.repeated, loops_run=True) is None:
        return
    for close, states in seen.items():
        known = [e for e in states if e is not None]
        if len(known) < len(states):
            continue
        put = max(known, key=lambda e: e.start)
        edit = insert_before(context, close, "AscendC::PipeBarrier<PIPE_ALL>();")
        yield Hit(
            close.name_start, close.name_end, args={"close": close.written, "put": put.written},
            fix=Fix((edit,)) if edit else None, related=(related(put, _NOTES["put"]),),
        )  # fmt: skip


def _regions(flow: Flow) -> Iterator[tuple[Event, int]]:
    """Atomic regions that open and close in one block: the opening call, and where it closes."""
    for part in blocks(flow.body):
        opened: Event | None = None
        for item in part:
            if not isinstance(item, Step):
                continue
            for event in item.events:
                if _OPENS.fullmatch(event.name):
                    opened = event
                elif _CLOSES.fullmatch(event.name) and opened is not None:
                    yield opened, event.start
                    opened = None


_STORE = re.compile(r"^\s*(?:\*\s*(?P<star>\w+)|(?P<name>\w+)\s*\[[^\]=]*\])\s*=(?!=)")


def plain_store_in_atomic_region(context: Context) -> Iterator[Hit]:
    """A scalar store to GM inside an atomic region (SH318)."""
    flow = flow_of(context)
    if flow is None:
        return
    whole = flow.head + _text(context, flow.start, flow.end)
    for opened, close in _regions(flow):
        for part in blocks(flow.body):
            for item in part:
                if isinstance(item, Step) and opened.end <= item.start < close:
                    yield from _stores(context, item, opened, whole)


def _stores(context: View, item: Step, opened: Event, whole: str) -> Iterator[Hit]:
    text = _text(context, item.start, item.end)
    match = _STORE.match(text)
    name = (match["star"] or match["name"]) if match else ""
    if match and re.search(rf"(?:__gm__[^;,(){{}}]*[\s*]|GM_ADDR\s+){name}\s*[=,);]", whole):
        at = item.start + len(text[: len(match.group()) - len(match.group().lstrip())].encode())
        end = item.start + len(match.group().rstrip("= \t").encode())
        yield Hit(at, end, args={"name": name, "open": opened.written}, related=(related(opened, _NOTES["open"]),))
    for event in item.events:
        if event.name == "SetValue" and event.receiver == ".":
            owner = re.search(r"(\w+)\s*\.\s*$", _text(context, item.start, event.start))
            if owner and re.search(rf"GlobalTensor\s*<[^;]*>\s*[&\w,\s]*\b{owner[1]}\b", whole):
                yield Hit(
                    event.name_start, event.name_end, args={"name": owner[1], "open": opened.written},
                    related=(related(opened, _NOTES["open"]),),
                )  # fmt: skip


def _text(view: View, start: int, end: int) -> str:
    return view.code[start:end].decode("utf-8", "replace")


_WORLD = re.compile(
    r"(?:<|!=)\s*(?:n_?pes|pe_size|rank_size|n_ranks|world_size|pe_count|rankSize|peSize|npes|(?:acl)?shmem_n_pes\(\))"
)


def self_not_skipped(context: Context) -> Iterator[Hit]:
    """An atomic loop over all PEs that adds to its own PE as well (SH319)."""
    flow = flow_of(context)
    if flow is None:
        return
    opened = [e for e in flow.events if _OPENS.fullmatch(e.name)]
    closed = [e for e in flow.events if _CLOSES.fullmatch(e.name)]
    for part in blocks(flow.body):
        for item in part:
            if not isinstance(item, Loop) or len(item.variables) != 1:
                continue
            variable = next(iter(item.variables))
            text = _text(context, item.start, item.end)
            inside = any(o.start < item.end for o in opened) and any(c.end > item.start for c in closed)
            if not inside or not _WORLD.search(_text(context, item.test.start, item.test.end)):
                continue
            if re.search(rf"\b{variable}\b\s*[=!]=|[=!]=\s*\b{variable}\b", text) or re.search(
                rf"\b{variable}\s*=(?!=)(?!\s*0\b)", text
            ):
                continue
            put = _put_to(item.body, variable)
            if put is not None:
                yield Hit(
                    put.name_start, put.name_end, args={"put": put.written, "peer": variable},
                    fix=_skip_self(context, flow, item, variable),
                )  # fmt: skip


def _put_to(body: Block, variable: str) -> Event | None:
    for part in blocks(body):
        for item in part:
            for event in item.events if isinstance(item, Step) else ():
                if effect(event).kind == "issue" and "_put" in event.name and variable in event.args[3:]:
                    return event
    return None


def _skip_self(context: Context, flow: Flow, loop: Loop, variable: str) -> Fix | None:
    mine = re.search(r"\b(\w+)\s*=\s*(?:acl)?shmem_my_pe\(\)", _text(context, flow.start, flow.end))
    first = next((i for i in loop.body if isinstance(i, Step)), None)
    if mine is None or first is None:
        return None
    indent = indent_at(context.data, first.start)
    if indent is None:
        return None
    lines = (f"if ({variable} == {mine[1]}) {{", "    continue;", "}")
    return Fix((Edit(first.start, first.start, "".join(f"{line}\n{indent}" for line in lines)),))


def atomic_result_unfenced(context: Context) -> Iterator[Hit]:
    """A scalar MTE atomic whose target is used before anything waits for it (SH325)."""
    flow = flow_of(context)
    if flow is None:
        return
    for part in blocks(flow.body):
        pending: list[Event] = []
        for item in part:
            if not isinstance(item, Step):
                pending = []
                continue
            kinds = [effect(e) for e in item.events]
            if any(k.kind in ("wait", "pipe", "quiet", "barrier", "cores", "helper", "poll") for k in kinds):
                pending = []
            atomics = [
                e for e, k in zip(item.events, kinds, strict=True) if k.kind == "atomic" and k.engine in ("mte", "any")
            ]
            if pending and not atomics:
                text = _text(context, item.start, item.end)
                for atomic in pending:
                    used = re.search(rf"\b{base(atomic.arg(0))}\b", text)
                    # A fetching atomic waits by itself.
                    if used is None or any("_atomic_" in e.name for e in item.events):
                        continue
                    at = item.start + len(text[: used.start()].encode())
                    quiet = "aclshmemx_mte_quiet();" if effect(atomic).engine == "mte" else "aclshmem_quiet();"
                    indent = indent_at(context.data, item.start)
                    edit = Edit(item.start, item.start, f"{quiet}\n{indent}") if indent is not None else None
                    yield Hit(
                        at, at + len(used.group().encode()), args={"atomic": atomic.written, "name": used.group()},
                        fix=Fix((edit,)) if edit and effect(atomic).engine == "mte" else None,
                        related=(related(atomic, _NOTES["atomic"]),),
                    )  # fmt: skip
                    pending = []
                    break
            pending += [a for a in atomics if base(a.arg(0))]


def unbarriered_atomic_region(context: Context) -> Iterator[Hit]:
    """A kernel that adds into other PEs' memory and never meets them (SH317)."""
    flow = flow_of(context)
    if flow is None or not is_entry(flow.head):
        return
    if any(effect(e).kind in ("barrier", "poll", "signal", "helper") for e in flow.events):
        return
    for opened, close in _regions(flow):
        puts = [
            e for e in flow.events if opened.end <= e.start < close and effect(e).kind == "issue" and "_put" in e.name
        ]
        if puts:
            yield Hit(
                opened.name_start, opened.name_end, args={"open": opened.written, "put": puts[0].written},
                related=(related(puts[0], _NOTES["put"]),),
            )  # fmt: skip
            return
