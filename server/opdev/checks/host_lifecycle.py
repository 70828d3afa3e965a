"""The order of ACL and SHMEM set-up and tear-down within one function.

A call counts as out of order only if it is so on every path that reaches it; what other functions
do is not known and not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Event, Flow, flow_of
from opdev.syntax.cpp_paths import explore
from opdev.syntax.tree import ancestor

INIT = ("aclshmemx_init_attr", "aclshmem_init", "aclshmem_init_attr")
FINALIZE = ("aclshmem_finalize", "aclshmemx_finalize")
MALLOC = (
    "aclshmem_malloc",
    "aclshmem_calloc",
    "aclshmem_align",
    "aclshmemx_malloc",
    "aclshmemx_calloc",
    "aclshmemx_align",
)
_ROLE = {
    "aclInit": "aclInit", "aclFinalize": "aclFinalize", "aclrtSetDevice": "device", "aclrtResetDevice": "reset",
    "aclrtResetDeviceForce": "reset", "aclrtMalloc": "acl", "aclrtCreateStream": "acl", "aclrtMallocHost": "acl",
    "aclrtDestroyStream": "release", "aclrtFree": "release", "aclrtFreeHost": "release", "aclrtDestroyEvent": "release",
    "aclshmemx_set_conf_store_tls": "tls", "aclshmemx_instance_ctx_set": "switch",
    **dict.fromkeys(INIT, "init"), **dict.fromkeys(FINALIZE, "finalize"), **dict.fromkeys(MALLOC, "malloc"),
}  # fmt: skip
# What undoes what: after it, the earlier call counts as not made.
_UNDOES = {"aclInit": ("aclFinalize",), "device": ("reset",), "init": ("finalize",), "aclFinalize": ("aclInit",),
           "reset": ("device", "acl"), "finalize": ("init", "malloc", "switch")}  # fmt: skip
# What must not have happened before.
_ORDER = {"aclInit": ("device", "acl", "init"), "device": ("init",), "init": ("malloc",),
          "finalize": ("reset", "aclFinalize"), "reset": ("aclFinalize",)}  # fmt: skip
_RELEASE = {"release": ("reset", "aclFinalize")}
_TLS = {"tls": ("init",)}

State = frozenset[tuple[str, str, int]]
"""What has happened: role, name as written, offset."""


@dataclass(slots=True)
class _Seen:
    late: tuple[str, str, int] | None = None
    fine: bool = False


def _out_of_order(flow: Flow, forbidden: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Event, tuple[str, str, int]]]:
    """Events that follow a forbidden one on every path to them, with that one."""
    seen: dict[Event, _Seen] = {}

    def step(event: Event, state: State) -> State:
        role = _ROLE.get(event.name)
        if role is None or event.receiver:
            return state
        happened = seen.setdefault(event, _Seen())
        roles = {r for r, _, _ in state}
        # A device that was set before is only selected again.
        again = role == "device" and "device" in roles
        late = [] if again else [s for s in state if s[0] in forbidden.get(role, ())]
        if late:
            happened.late = max(late, key=lambda s: s[2])
        else:
            happened.fine = True
        undone = _UNDOES.get(role, ())
        return frozenset(s for s in state if s[0] not in undone and s[0] != role) | {(role, event.written, event.start)}

    nothing: State = frozenset()
    if explore(flow.body, nothing, step, repeated=flow.repeated) is None:
        return
    for event, what in seen.items():
        if what.late is not None and not what.fine:
            yield event, what.late


def _hits(context: Context, forbidden: Mapping[str, tuple[str, ...]]) -> Iterator[Hit]:
    flow = flow_of(context)
    if flow is None:
        return
    for event, (_, earlier, at) in _out_of_order(flow, forbidden):
        notes = {"zh": f"{earlier} 在这里已经执行", "en": f"{earlier} has run here"}
        related = (Related(at, at + len(earlier), notes),)
        args = {"call": event.written, "earlier": earlier}
        yield Hit(event.name_start, event.name_end, args=args, related=related)


def lifecycle_order(context: Context) -> Iterator[Hit]:
    """Set-up or tear-down calls in an order that fails."""
    yield from _hits(context, _ORDER)


def release_after_reset(context: Context) -> Iterator[Hit]:
    """Streams and memory released after their device was reset."""
    yield from _hits(context, _RELEASE)


def tls_after_init(context: Context) -> Iterator[Hit]:
    """TLS settings made when the connection stands already."""
    yield from _hits(context, _TLS)


_INSTANCE = re.compile(rb"\b(?P<attr>[A-Za-z_]\w*)\s*(?:\.|->)\s*instance_id\s*=(?!=)\s*(?P<value>[^;]+);")


def finalize_of_other_instance(context: Context) -> Iterator[Hit]:
    """``aclshmem_finalize`` where a non-zero instance was made: it ends the active one."""
    made = next(
        (m for m in _INSTANCE.finditer(context.code, context.start, context.end)
         if m["value"].strip() not in (b"0", b"0U", b"0UL", b"0ULL")),
        None,
    )  # fmt: skip
    flow = flow_of(context) if made is not None else None
    if flow is None or made is None:
        return
    value = f"{made['attr'].decode()}{'->' if b'->' in made.group() else '.'}instance_id"
    switched = [e.start for e in flow.named("aclshmemx_instance_ctx_set")]
    for event in flow.named("aclshmem_finalize"):
        if event.start > made.start() and not any(made.start() < at < event.start for at in switched):
            edit = Edit(event.name_start, event.end, f"aclshmemx_finalize({value})")
            args = {"instance": made["value"].decode("utf-8", "replace").strip()}
            yield Hit(event.name_start, event.end, args=args, fix=Fix((edit,)))


_TEAM = (
    "aclshmem_team_split_strided",
    "aclshmem_team_split_2d",
    "aclshmem_team_translate_pe",
    "aclshmem_team_get_config",
)


def team_on_other_instance(context: Context) -> Iterator[Hit]:
    """Team calls after a switch to an instance other than 0."""
    flow = flow_of(context)
    if flow is None:
        return
    switches = [e for e in flow.events if e.name == "aclshmemx_instance_ctx_set"]
    for event in flow.named(*_TEAM):
        last = next((s for s in reversed(switches) if s.end <= event.start), None)
        if last is not None and re.fullmatch(r"0*[1-9]\d*[uUlL]*", last.arg(0)):
            args = {"call": event.written, "instance": last.arg(0)}
            yield Hit(event.name_start, event.name_end, args=args)


def global_exit_on_success(context: Context) -> Iterator[Hit]:
    """``aclshmem_global_exit`` as the ordinary way out."""
    for call in cpp.calls(context, "aclshmem_global_exit", "shmem_global_exit"):
        zero = bool(call.args) and context.text(call.args[0]) in ("0", "EXIT_SUCCESS", "ACLSHMEM_SUCCESS")
        guarded = ancestor(call.node, "if_statement", "catch_clause", "case_statement", "lambda_expression") is not None
        function = call.function
        in_main = function is not None and cpp.function_name(context.file, function) == "main"
        if zero or (in_main and not guarded):
            yield Hit(call.start, call.end)
