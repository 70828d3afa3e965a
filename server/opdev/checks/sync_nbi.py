"""Transfers that are used before they are done: no fence, the wrong quiet, none at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opdev.checks.sync_effects import base, effect, hard_event, is_entry, pipe
from opdev.checks.sync_fixes import block_of, insert_before, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Block, Event, Flow, Loop, Step, blocks, flow_of, function_flow
from opdev.syntax.cpp_paths import explore
from opdev.syntax.view import View

_QUEUES = ("sdma", "udma", "roce")
_EVENT_CONSTANT = re.compile(r"(?:AscendC::)?EVENT_ID\d")
_NOTES = {
    "put": {"zh": "数据在这里发出", "en": "the data is sent here"},
    "issue": {"zh": "传输在这里发起", "en": "the transfer is issued here"},
    "first": {"zh": "上一次传输仍在读写这块 UB", "en": "the transfer before still uses this UB"},
}


def _fences_mte(event: Event) -> str:
    """``all``: MTE3 is drained for the scalar unit too; ``part``: only for another pipe; empty: neither."""
    what = effect(event)
    if what.kind in ("helper", "barrier", "cores") or (what.kind == "quiet" and what.engine in ("mte", "any")):
        return "all"
    if what.kind == "pipe":
        return "all" if pipe(event) in ("ALL", "", "MTE3") else ""
    if what.kind == "wait":
        source, target = hard_event(event)
        if source in ("", "MTE3"):
            return "all" if target in ("", "S") else "part"
    return ""


def signal_before_data(context: Context) -> Iterator[Hit]:
    """A signal that overtakes the data it announces (SH331)."""
    flow = flow_of(context)
    if flow is None or not (flow.named("aclshmemx_signal_op")):
        return
    seen: dict[Event, set[tuple[Event | None, bool]]] = {}

    def step(event: Event, state: tuple[Event | None, bool]) -> tuple[Event | None, bool]:
        what = effect(event)
        if (
            what.kind == "issue"
            and what.engine in ("mte", "any")
            and "put" in event.name
            and "signal" not in event.name
        ):
            return (event, False)
        if what.kind == "signal":
            seen.setdefault(event, set()).add(state)
            return state
        fenced = _fences_mte(event)
        if fenced == "all":
            return (None, False)
        return (state[0], True) if fenced else state

    start: tuple[Event | None, bool] = (None, False)
    if explore(flow.body, start, step, repeated=flow.repeated, loops_run=True) is None:
        return
    for signal, states in sorted(seen.items(), key=lambda pair: pair[0].start):
        puts = [put for put, _ in states if put is not None]
        if len(puts) < len(states):
            continue
        put = max(puts, key=lambda event: event.start)
        weak = all(partly for _, partly in states)
        identifier = put.args[-1] if put.args else ""
        text = "aclshmemx_mte_quiet();"
        if _EVENT_CONSTANT.fullmatch(identifier):
            text = (
                f"AscendC::SetFlag<AscendC::HardEvent::MTE3_S>({identifier});\n"
                f"AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>({identifier});"
            )
        edit = insert_before(context, signal, text)
        yield Hit(
            signal.name_start,
            signal.name_end,
            message="weak" if weak else "default",
            args={"put": put.written, "signal": signal.written},
            fix=Fix((edit,)) if edit else None,
            severity="warning" if weak else None,
            related=(related(put, _NOTES["put"]),),
        )


def wrong_engine_quiet(context: Context) -> Iterator[Hit]:
    """A quiet that does not drain the engine the transfers went through (SH301)."""
    flow = flow_of(context)
    if flow is None:
        return
    issued = [(event, effect(event).engine) for event in flow.events if effect(event).kind in ("issue", "atomic")]
    engines: set[str] = {engine for _, engine in issued}
    if "any" in engines:
        return
    for engine in _QUEUES:
        if engine in engines:
            yield from _wrong_quiet(context, flow, engine, engines, [e for e, by in issued if by == engine])


def _wrong_quiet(context: View, flow: Flow, engine: str, engines: set[str], issued: list[Event]) -> Iterator[Hit]:
    good: set[Event] = set()
    bad: set[Event] = set()

    def step(event: Event, state: tuple[bool, frozenset[Event]]) -> tuple[bool, frozenset[Event]]:
        pending, wrong = state
        what = effect(event)
        if what.kind in ("issue", "atomic") and what.engine == engine:
            return (True, wrong)
        if what.kind in ("barrier", "helper") or (what.kind == "quiet" and what.engine == engine):
            good.update(wrong)
            return (False, frozenset())
        if what.kind == "quiet":
            other = "mte" if what.engine == "any" else what.engine
            if other in engines:
                return state
            if pending:
                return (True, wrong | {event})
            good.add(event)
        return state

    start: tuple[bool, frozenset[Event]] = (False, frozenset())
    ends = explore(flow.body, start, step, repeated=flow.repeated, loops_run=True)
    for _, (_, wrong) in ends or ():
        bad |= wrong
    for quiet in sorted(bad - good, key=lambda event: event.start):
        before = [event for event in issued if event.start < quiet.start] or issued
        text = (
            _matching_quiet(engine, before[-1]) if block_of(context, before[-1]) == block_of(context, quiet) else None
        )
        yield Hit(
            quiet.name_start,
            quiet.name_end,
            args={"quiet": quiet.written, "issue": before[-1].written, "right": f"aclshmemx_{engine}_quiet"},
            fix=Fix((Edit(quiet.start, quiet.end, text),)) if text else None,
            related=(related(before[-1], _NOTES["issue"]),),
        )


def _matching_quiet(engine: str, issue: Event) -> str | None:
    """The quiet for a transfer, from its own arguments; None where they do not say all of it."""
    count = len(issue.args)
    if "atomic" in issue.name or "signal" in issue.name or "cmo" in issue.name:
        return f"aclshmemx_udma_quiet({issue.args[-1]})" if engine == "udma" and count else None
    if engine == "udma" and count >= 4:
        return f"aclshmemx_udma_quiet({issue.args[-1]})"
    if engine == "roce" and count == 6:
        return f"aclshmemx_roce_quiet({issue.args[4]}, {issue.args[2]}, {issue.args[5]})"
    if engine == "sdma" and count == 7:
        return f"aclshmemx_sdma_quiet({issue.args[2]}, {issue.args[3]}, {issue.args[6]})"
    if engine == "sdma" and count == 6:
        return f"aclshmemx_sdma_quiet({issue.args[2]}, {issue.args[5]})"
    return None


def read_before_complete(context: Context) -> Iterator[Hit]:
    """A get whose destination is read with nothing in between that completes it (SH300)."""
    flow = flow_of(context)
    if flow is None:
        return
    for block in blocks(flow.body):
        pending: list[tuple[Event, re.Pattern[str]]] = []
        for item in block:
            if not isinstance(item, Step):
                pending = []
                continue
            if pending:
                text = context.code[item.start : item.end].decode("utf-8", "replace")
                for get, pattern in list(pending):
                    match = pattern.search(text)
                    if match is not None and not _clears(item):
                        at = item.start + len(text[: match.start("read")].encode())
                        size = len(match["read"].encode())
                        yield Hit(
                            at, at + size, args={"get": get.written, "name": base(get.arg(0))},
                            related=(related(get, _NOTES["issue"]),),
                        )  # fmt: skip
                        pending.remove((get, pattern))
            if _clears(item):
                pending = []
            for event in item.events:
                if "_get" not in event.name or len(item.events) != 1 or effect(event).kind != "issue":
                    continue
                name = base(event.arg(0))
                if name and re.fullmatch(r"[\w.&*+ ]+", event.arg(0)):
                    pending.append((event, _read_of(name)))


def _read_of(name: str) -> re.Pattern[str]:
    """A use of what ``name`` points to that is no assignment to it."""
    return re.compile(
        rf"(?:^|[=(,;!&|<>{{]|return)\s*(?P<read>\*\s*{name}\b|{name}\.GetValue\b|{name}\[[^\]]*\])(?!\s*=(?!=))"
    )


def _clears(step: Step) -> bool:
    return any(_fences_mte(e) or effect(e).kind in ("quiet", "wait", "pipe", "poll") for e in step.events)


def ub_reused_in_flight(context: Context) -> Iterator[Hit]:
    """Two MTE transfers through one UB buffer with nothing that waits for the first (SH306)."""
    flow = flow_of(context)
    if flow is None:
        return
    unstable = _unstable(flow.body)
    seen: dict[Event, set[Event | None]] = {}

    def buffer(event: Event) -> str:
        what = effect(event)
        if what.kind != "issue" or what.engine != "mte" or len(event.args) < 6:
            return ""
        return "" if unstable & set(re.findall(r"[A-Za-z_]\w*", event.args[2])) else event.args[2]

    def step(event: Event, state: frozenset[tuple[str, Event]]) -> frozenset[tuple[str, Event]]:
        if _fences_mte(event):
            return frozenset()
        name = buffer(event)
        if not name:
            return state
        before = next((e for text, e in state if text == name), None)
        seen.setdefault(event, set()).add(before)
        return frozenset(pair for pair in state if pair[0] != name) | {(name, event)}

    start: frozenset[tuple[str, Event]] = frozenset()
    if explore(flow.body, start, step, repeated=flow.repeated, loops_run=True) is None:
        return
    for event, befores in sorted(seen.items(), key=lambda pair: pair[0].start):
        known = [e for e in befores if e is not None]
        # The first round of a loop has nothing before it: one earlier use on some path is enough.
        if not known or (len(known) < len(befores) and event not in known):
            continue
        first = max(known, key=lambda e: e.start)
        # The same bytes again do no harm (a benchmark that sends one block over and over).
        moving = _moved_around(flow.body, event) if first is event else unstable
        if first.arg(1) == event.arg(1) and not moving & set(re.findall(r"[A-Za-z_]\w*", event.arg(1))):
            continue
        yield Hit(
            event.name_start, event.name_end, message="loop" if first is event else "default",
            args={"call": event.written, "buffer": event.args[2]},
            related=() if first is event else (related(first, _NOTES["first"]),),
        )  # fmt: skip


def _unstable(block: Block) -> set[str]:
    """Names assigned in a loop, or more than once: what they stand for changes."""
    counted: dict[str, int] = {}

    def count(names: Iterable[str], times: int) -> None:
        for name in names:
            counted[name] = counted.get(name, 0) + times

    for part in blocks(block):
        for item in part:
            if isinstance(item, Step):
                count(item.assigned, 1)
            elif isinstance(item, Loop):
                count(item.assigned, 2)
    return {name for name, times in counted.items() if times > 1}


def _moved_around(block: Block, event: Event) -> set[str]:
    """Names that the loops around a call assign."""
    found: set[str] = set()
    for part in blocks(block):
        for item in part:
            if isinstance(item, Loop) and item.start <= event.start < item.end:
                found |= item.assigned
    return found


_OTHER_ENGINES = re.compile(
    rb"\b(?:acl)?shmem[xi]?_(?:sdma|roce|rdma|udma)_|\b(?:acl)?shmem_(?:\w+_)?i?(?:put|get)(?:mem|\d+)?(?:_\w*mem)?(?:_signal)?(?:_nbi)?\s*\("
    rb"|\b(?:acl)?shmem_\w+_(?:[pg]|atomic_\w+)\s*\(|\bsimt::"
)


def global_quiet_on_mte_path(context: Context) -> Iterator[Hit]:
    """aclshmem_quiet where only MTE carries data (SH302)."""
    if _OTHER_ENGINES.search(context.code) or b"_mte_" not in context.code:
        return
    calls = [
        call
        for call in cpp.calls(context, "aclshmem_quiet", "shmem_quiet")
        if cpp.is_device(context.file, call.function) and not call.args
    ]
    if calls:
        # What is said is true of the file: once is enough, and the fix takes all.
        places = [(call.name_node.start_byte, call.name_node.end_byte) for call in calls]
        fix = Fix(tuple(Edit(start, end, "aclshmemx_mte_quiet") for start, end in places))
        yield Hit(*places[0], args={"name": calls[0].name}, fix=fix)


_HOST_COMPLETES = (b"handle_wait", b"quiet_on_stream")
_DRAINS = re.compile(rb"\b(?:acl)?shmem[xi]?_(?:roce_|rdma_)?(?:barrier|sync|team_sync)\w*\s*\(")


def undrained_engine(context: Context) -> Iterator[Hit]:
    """Transfers or atomics of a queue engine that nothing in the operator ever completes (SH326)."""
    project = context.project
    assert project is not None  # a project check is only run with one
    if b"_nbi" not in context.code and b"_atomic_" not in context.code:
        return
    for host in project.files("host"):
        if any(word in host.code for word in _HOST_COMPLETES):
            return
    kernels = b"\n".join(file.code for file in project.files("kernel"))
    barrier = _DRAINS.search(kernels) is not None
    quiets = {e: rf"\b(?:acl)?shmem[xi]?_{e}_quiet\b".replace("_roce_", "_(?:roce|rdma)_") for e in _QUEUES}
    drained = {e for e, quiet in quiets.items() if barrier or re.search(quiet.encode(), kernels)}
    for function in cpp.functions(context):
        if not cpp.is_device(context.file, function):
            continue
        flow = function_flow(context.file, function)
        # Where flags are polled, the peer's answer may be what completes the transfer.
        if flow is None or any(e.name.startswith("dcci") or effect(e).kind == "poll" for e in flow.events):
            continue
        for engine in _QUEUES:
            if engine in drained and not is_entry(flow.head):
                continue
            yield from _undrained(flow, engine)


def _undrained(flow: Flow, engine: str) -> Iterator[Hit]:
    completed: set[Event] = set()
    left: set[Event] = set()

    def step(event: Event, state: frozenset[Event]) -> frozenset[Event]:
        what = effect(event)
        if what.kind in ("issue", "atomic") and what.engine == engine:
            return state | {event}
        # A quiet of another engine is wrong-engine-quiet's to report.
        if what.kind in ("barrier", "helper", "quiet", "poll"):
            completed.update(state)
            return frozenset()
        return state

    start: frozenset[Event] = frozenset()
    for _, state in explore(flow.body, start, step, repeated=flow.repeated, loops_run=True) or ():
        left |= state
    for event in sorted(left - completed, key=lambda e: e.start):
        atomic = effect(event).kind == "atomic"
        yield Hit(
            event.name_start, event.name_end, message="atomic" if atomic else "default",
            args={"call": event.written, "quiet": f"aclshmemx_{engine}_quiet"},
        )  # fmt: skip
