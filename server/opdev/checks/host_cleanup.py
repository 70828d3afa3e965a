"""Ways out of a function that leave behind what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.host_lifecycle import FINALIZE, INIT, MALLOC
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax.cpp_flow import Event, Flow, Jump, flow_of
from opdev.syntax.cpp_paths import explore

_TAKES = {
    "aclInit": "ACL", "aclrtSetDevice": "device", "aclrtCreateStream": "stream", "aclrtMalloc": "device memory",
    "aclrtMallocHost": "host memory", **dict.fromkeys(INIT, "SHMEM"), **dict.fromkeys(MALLOC, "symmetric memory"),
}  # fmt: skip
_GIVES = {
    "aclFinalize": "ACL", "aclrtResetDevice": "device", "aclrtResetDeviceForce": "device", "aclrtDestroyStream": "stream",
    "aclrtDestroyStreamForce": "stream", "aclrtFree": "device memory", "aclrtFreeHost": "host memory",
    "aclshmem_free": "symmetric memory", "aclshmemx_free": "symmetric memory", **dict.fromkeys(FINALIZE, "SHMEM"),
}  # fmt: skip
_ZH = {"ACL": "ACL 运行环境", "device": "设备", "stream": "流", "device memory": "显存", "host memory": "锁页内存",
       "SHMEM": "SHMEM", "symmetric memory": "对称内存"}  # fmt: skip
_CLEANS = re.compile(r"(?i)clean|release|tear_?down|destroy|dealloc|finali[sz]e|shutdown|\{")
_EXITS = frozenset({"exit", "_exit", "_Exit", "abort", "quick_exit"})
_RETURNING_MACRO = re.compile(r"\breturn\b(?!\s*(?:0|EXIT_SUCCESS)?\s*$)")

Held = frozenset[tuple[str, str, int]]
"""What is held: resource, call that took it, offset."""


def _after(event: Event, held: Held) -> Held:
    if event.receiver:
        return held
    if event.name in _TAKES:
        return held | {(_TAKES[event.name], event.written, event.start)}
    if event.name in _GIVES:
        given = _GIVES[event.name]
        # The end of ACL or of SHMEM ends what was allocated with it.
        also = {"SHMEM": ("symmetric memory",), "ACL": ("device", "stream", "device memory", "host memory")}.get(
            given, ()
        )
        return frozenset(h for h in held if h[0] != given and h[0] not in also)
    return frozenset() if _CLEANS.search(event.name) else held


def exit_holding_resources(context: Context) -> Iterator[Hit]:
    """``exit`` and its like while something taken in the same function is held."""
    flow = flow_of(context)
    if flow is None or not any(e.name in _EXITS for e in flow.events):
        return
    reached: dict[Event, list[Held]] = {}

    def step(event: Event, held: Held) -> Held:
        if event.name in _EXITS and not event.receiver:
            reached.setdefault(event, []).append(held)
            return held
        return _after(event, held)

    nothing: Held = frozenset()
    if explore(flow.body, nothing, step, repeated=flow.repeated) is None:
        return
    for event, states in reached.items():
        always = frozenset.intersection(*states)
        if always:
            what, call, at = min(always, key=lambda h: h[2])
            notes = {"zh": f"{_ZH[what]}在这里取得", "en": f"the {what} is taken here"}
            args = {"call": event.written, "taker": call}
            related = (Related(at, at + len(call), notes),)
            yield Hit(event.name_start, event.end, args=args, related=related)


def leaking_return(context: Context) -> Iterator[Hit]:
    """A failure return that skips releases the function makes further down."""
    flow = flow_of(context)
    if flow is None:
        return
    owned = {_GIVES[e.name] for e in flow.events if e.name in _GIVES}
    if not owned:
        return
    leaks: dict[tuple[int, int], list[Held]] = {}

    def step(event: Event, held: Held) -> Held:
        if "CHECK" in event.name and any(_RETURNING_MACRO.search(a) for a in event.args[1:]):
            leaks.setdefault((event.name_start, event.end), []).append(held)
        return _after(event, held)

    nothing: Held = frozenset()
    ends = explore(flow.body, nothing, step, repeated=flow.repeated)
    if ends is None:
        return
    for jump, held in ends:
        if jump is not None and jump.kind == "return" and _is_failure(jump):
            leaks.setdefault((jump.start, jump.end), []).append(_without_last(held))
    yield from _first_leak(flow, leaks, owned)


def _is_failure(jump: Jump) -> bool:
    return re.fullmatch(r"-\s*\d+|[1-9]\d*|false|nullptr|EXIT_FAILURE|ret|status|err\w*", jump.value) is not None


def _without_last(held: Held) -> Held:
    """The newest one may be what failed."""
    return held - {max(held, key=lambda h: h[2])} if held else held


def _first_leak(flow: Flow, leaks: dict[tuple[int, int], list[Held]], owned: set[str]) -> Iterator[Hit]:
    found = []
    for (start, end), states in sorted(leaks.items()):
        kept = sorted(
            {h for held in [frozenset.intersection(*states)] for h in held if h[0] in owned}, key=lambda h: h[2]
        )
        # Released further down, or it is not this exit that forgets it.
        kept = [h for h in kept if any(e.start > end and _GIVES.get(e.name) == h[0] for e in flow.events)]
        if kept:
            found.append((start, end, kept))
    if not found:
        return
    start, end, kept = found[0]
    names = list(dict.fromkeys(h[0] for h in kept))
    args = {
        "what": ", ".join(names), "what_zh": "、".join(_ZH[n] for n in names), "count": len(found),
    }  # fmt: skip
    what, call, at = kept[0]
    notes = {"zh": f"{_ZH[what]}在这里取得", "en": f"the {what} is taken here"}
    message = "several" if len(found) > 1 else "default"
    yield Hit(start, end, message, args, related=(Related(at, at + len(call), notes),))
