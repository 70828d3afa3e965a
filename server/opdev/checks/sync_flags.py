"""SetFlag and WaitFlag: one without the other, in the wrong order, loops that start unprimed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from opdev.checks.sync_effects import effect, event_id, hard_event, is_entry
from opdev.checks.sync_fixes import by_function, indent_at, related
from opdev.checks.sync_flag_uses import Use, all_even, same_id, uses_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Block, Event, Flow, Loop, Step, blocks, flow_of, function_flow
from opdev.syntax.cpp_paths import explore

if TYPE_CHECKING:
    from tree_sitter import Node

_NOTES = {
    "set": {"zh": "在这里置位", "en": "it is set here"},
    "loop": {"zh": "循环里在这里置位", "en": "the loop sets it here"},
}


def _suspects(context: Context) -> Iterator[tuple[str, Use]]:
    """Functions that alone in their file use a hard event unevenly: nobody else can make up for it."""
    if all_even(context):
        return
    for event, uses in uses_of(context).items():
        odd = [use for use in uses if not use.balanced]
        if len(odd) == 1:
            yield event, odd[0]


def _named(events: tuple[Event, ...], event: str, kind: str) -> list[Event]:
    return [e for e in events if effect(e).kind == kind and "_".join(hard_event(e)) == event]


def unbalanced_event_flag(context: Context) -> Iterator[Hit]:
    """A SetFlag nobody waits for, or a WaitFlag nobody sets (SH303)."""
    for event, use in _suspects(context):
        yield from _kept(context, event, use, "flag", _uneven)


def _kept(
    context: Context,
    event: str,
    use: Use,
    what: str,
    find: Callable[[Context, str, Use, frozenset[str]], Iterator[Hit]],
) -> Iterable[Hit]:
    """What ``find`` says of one function, found once for each text of it."""
    function = use.function
    innocent = _not_using(context, event)
    head = cpp.head(context.file, function)
    key = (what, event, head, innocent, len(uses_of(context)[event]), "header" in context.kinds)
    return by_function(
        key, context.data, function.start_byte, function.end_byte, lambda: find(context, event, use, innocent)
    )


def _uneven(context: Context, event: str, use: Use, innocent: frozenset[str]) -> Iterator[Hit]:
    flow = function_flow(context.file, use.function)
    if flow is None or _waiting_loop(flow, event) is not None or not _comparable(use, flow):
        return
    for identity in use.balance:
        if not any(_handed_on(e, identity) and e.name not in innocent for e in flow.events):
            yield from _unbalanced(flow, event, identity, header="header" in context.kinds)


def _not_using(context: Context, event: str) -> frozenset[str]:
    """Functions of the file that never touch ``event``: they may be given its id."""
    names = context.file.memo(
        "sync.function names",
        lambda: [(f.start_byte, cpp.function_name(context.file, f)) for f in cpp.functions(context)],
    )
    using = {use.function.start_byte for use in uses_of(context)[event]}
    touching = {name for start, name in names if start in using}
    return frozenset(name for _, name in names if name not in touching)


def _comparable(use: Use, flow: Flow) -> bool:
    """Whether equal text means equal id, and different text different ids."""
    names = [i for i in use.balance if not i.isdigit()]
    if not names:
        return True
    if len(use.balance) > 1 or not re.fullmatch(r"\w+", names[0]):
        return False
    return names[0] not in _moving(flow.body)


def _moving(block: Block) -> set[str]:
    found: set[str] = set()
    once: set[str] = set()
    for part in blocks(block):
        for item in part:
            if isinstance(item, Loop):
                found |= item.assigned
            elif isinstance(item, Step):
                found |= item.assigned & once
                once |= item.assigned
    return found


def _unbalanced(flow: Flow, event: str, identity: str, *, header: bool) -> Iterator[Hit]:
    waited: dict[Event, set[bool]] = {}
    sets: set[Event] = set()
    consumed: set[Event] = set()

    def step(call: Event, pending: tuple[Event, ...]) -> tuple[Event, ...]:
        kind = effect(call).kind
        if kind not in ("set", "wait") or "_".join(hard_event(call)) != event or same_id(event_id(call)) != identity:
            return pending
        if kind == "set":
            sets.add(call)
            return (*pending, call)[-4:]
        waited.setdefault(call, set()).add(bool(pending))
        # The latest set is taken for the one waited for: an older one that is left over stays in sight.
        consumed.update(pending[-1:])
        return pending[:-1]

    start: tuple[Event, ...] = ()
    ends = explore(flow.body, start, step, repeated=flow.repeated, loops_run=True)
    if ends is None:
        return
    entry = is_entry(flow.head)
    early = [wait for wait, had in waited.items() if had == {False}]
    left = {e for _, pending in ends for e in pending} - consumed
    # A helper that waits first and sets last is primed by its caller.
    if early and (entry or (sets and len(sets) != len(waited)) or not (sets or header)):
        for wait in sorted(early, key=lambda e: e.start):
            yield Hit(wait.start, wait.end, message="wait", args={"event": event, "id": event_id(wait)})
    elif not early and (waited or entry or not header):
        for one in sorted(left, key=lambda e: e.start):
            yield Hit(one.start, one.end, args={"event": event, "id": event_id(one)})


def _handed_on(event: Event, identity: str) -> bool:
    """Whether a helper gets the event id, to set or wait for itself."""
    return effect(event).kind == "helper" and any(same_id(a) == identity for a in event.args)


def _waiting_loop(flow: Flow, event: str) -> tuple[Loop, Event, Event] | None:
    """The first loop whose round begins with waiting for ``event`` and ends with setting it."""
    for part in blocks(flow.body):
        for item in part:
            if not isinstance(item, Loop):
                continue
            waits = [e for i in item.body if isinstance(i, Step) for e in _named(i.events, event, "wait")]
            inside = [e for p in blocks(item.body) for i in p if isinstance(i, Step) for e in i.events]
            sets = _named(tuple(inside), event, "set")
            if waits and sets and waits[0].start < min(s.start for s in sets):
                return item, waits[0], max(sets, key=lambda s: s.start)
    return None


def unprimed_flag_loop(context: Context) -> Iterator[Hit]:
    """A ping-pong loop that waits before anybody set, or leaves what it set unwaited (SH305)."""
    for event, use in _suspects(context):
        called = _is_called(context, use.function)
        yield from _kept(context, event, use, f"loop {called}", partial(_unprimed, called=called))


def _unprimed(context: Context, event: str, use: Use, innocent: frozenset[str], *, called: bool) -> Iterator[Hit]:
    flow = function_flow(context.file, use.function)
    found = _waiting_loop(flow, event) if flow is not None else None
    if flow is None or found is None:
        return
    loop, wait, last = found
    every = [e for e in flow.events if effect(e).kind in ("set", "wait") and "_".join(hard_event(e)) == event]
    if any(_handed_on(e, same_id(event_id(c))) and e.name not in innocent for e in flow.events for c in every):
        return
    primed = any(effect(e).kind == "set" and e.start < loop.start for e in every)
    drained = any(effect(e).kind == "wait" and e.start > loop.end for e in every)
    if primed and drained:
        return
    fix = _prime(context, loop, event, primed=primed, drained=drained)
    args = {"event": event, "id": event_id(wait)}
    if not primed:
        # What is called from elsewhere only, a part of a class template say, may well be primed there.
        if called or is_entry(flow.head):
            yield Hit(wait.start, wait.end, args=args, fix=fix, related=(related(last, _NOTES["loop"]),))
    elif is_entry(flow.head) or len(uses_of(context)[event]) == 1:
        yield Hit(last.start, last.end, message="undrained", args=args, fix=fix, severity="warning")


def _is_called(context: Context, function: Node) -> bool:
    """Whether the file itself calls a function: who does is in sight then."""
    name = cpp.function_name(context.file, function)
    return bool(name) and bool(cpp.calls(Context(context.file, 0, len(context.data)), name))


def _prime(context: Context, loop: Loop, event: str, *, primed: bool, drained: bool) -> Fix | None:
    """Set every event id the loop names before it, wait for each behind it."""
    indent = indent_at(context.data, loop.start)
    text = context.code[loop.start : loop.end].decode("utf-8", "replace")
    ids = sorted(set(re.findall(r"\b(?:AscendC::)?EVENT_ID\d\b", text)))
    if indent is None or not ids:
        return None
    edits = []
    if not primed:
        lines = "".join(f"AscendC::SetFlag<AscendC::HardEvent::{event}>({i});\n{indent}" for i in ids)
        edits.append(Edit(loop.start, loop.start, lines))
    if not drained:
        lines = "".join(f"\n{indent}AscendC::WaitFlag<AscendC::HardEvent::{event}>({i});" for i in ids)
        edits.append(Edit(loop.end, loop.end, lines))
    return Fix(tuple(edits), "default" if not primed else "drain")


_ALTERNATES = r"\b{name}\s*=\s*[^;=?]*(?:==|!=|%|&)?[^;?]*\?[^;:]*:[^;]*;"


def single_event_ping_pong(context: Context) -> Iterator[Hit]:
    """Two buffers take turns under one event id (SH304)."""
    flow = flow_of(context)
    if flow is None:
        return
    told: set[int] = set()
    for part in blocks(flow.body):
        for item in part:
            if isinstance(item, Loop):
                text = context.code[item.start : item.end].decode("utf-8", "replace")
                steps = (i for block in blocks(item.body) for i in block if isinstance(i, Step))
                for hit in (hit for step in steps for hit in _one_id(step, text)):
                    if hit.start not in told:
                        told.add(hit.start)
                        yield hit


def _one_id(step: Step, text: str) -> Iterator[Hit]:
    for event in step.events:
        what = effect(event)
        if what.kind != "issue" or what.engine != "mte" or len(event.args) < 6:
            continue
        name = re.fullmatch(r"\w+", event.arg(2))
        constant = re.fullmatch(r"(?:AscendC::)?EVENT_ID\d", event.arg(-1))
        if name and constant and re.search(_ALTERNATES.format(name=name.group()), text):
            yield Hit(
                event.name_start, event.name_end,
                args={"call": event.written, "buffer": event.arg(2), "id": event.arg(-1)},
            )  # fmt: skip
