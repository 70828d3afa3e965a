"""The host's side of synchronisation: reading results too early, FFTS from the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.sync_fixes import indent_at, related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Event, flow_of
from opdev.syntax.cpp_paths import explore

_NOTES = {"launch": {"zh": "核函数在这里启动", "en": "the kernel is launched here"}}
_LAUNCHES = re.compile(r"(?:[Ll]aunch\w*|\w+_do|\w+_demo|\w+_kernel_launch)")
_LAUNCH_TEXT = re.compile(rb"<<<|\b[Ll]aunch\w*|\b\w+_(?:do|demo|kernel_launch)\b")
_WAITS = re.compile(r"aclrtSynchronize\w*|aclrt(?:Destroy|Reset|Free)\w*|aclFinalize")
_HARMLESS = re.compile(
    r"aclrt\w+|[A-Z][A-Z0-9_]+|c_str|data|size|string|to_string|cout|printf|fprintf|push_back|resize|get|malloc|memset|vector|endl"
    r"|u?int(?:8|16|32|64)_t|size_t|min|max|now|clock"
)
_TO_HOST = "ACL_MEMCPY_DEVICE_TO_HOST"


def read_before_stream_sync(context: Context) -> Iterator[Hit]:
    """A blocking copy to the host after a launch the host has not waited for (SH327)."""
    # Few functions of a host file both launch and read back.
    if not _LAUNCH_TEXT.search(context.code, context.start, context.end):
        return
    flow = flow_of(context)
    if flow is None or not any(e.name == "aclrtMemcpy" and _TO_HOST in e.args for e in flow.events):
        return
    seen: dict[Event, list[Event | None]] = {}

    def step(event: Event, state: Event | None) -> Event | None:
        if event.name == "<<<":
            return event
        if _LAUNCHES.fullmatch(event.name) and any(re.fullmatch(r"\w*stream\w*", a, re.IGNORECASE) for a in event.args):
            return event
        if event.name == "aclrtMemcpy" and _TO_HOST in event.args:
            seen.setdefault(event, []).append(state)
            return state
        if _WAITS.fullmatch(event.name):
            return None
        if not (_HARMLESS.fullmatch(event.name) or event.receiver or _declares(context, event)):
            return None
        return state

    start: Event | None = None
    if explore(flow.body, start, step, repeated=flow.repeated, loops_run=True) is None:
        return
    for copy, states in sorted(seen.items(), key=lambda pair: pair[0].start):
        launches = [e for e in states if e is not None]
        if len(launches) < len(states):
            continue
        launch = max(launches, key=lambda e: e.start)
        # A launcher in another file might wait itself: that is a warning only.
        yield Hit(
            copy.name_start, copy.name_end, args={"launch": launch.written}, severity=None if launch.name == "<<<" else "warning",
            fix=_sync_before(context, copy, launch), related=(related(launch, _NOTES["launch"]),),
        )  # fmt: skip


def _declares(context: Context, event: Event) -> bool:
    """Whether the call is the initialisation of a local, ``std::vector<uint8_t> host(bytes)``."""
    line = context.code[context.code.rfind(b"\n", 0, event.name_start) + 1 : event.name_start]
    before = re.search(rb"(?P<word>\w+|>)[ \t]+$", line)
    return before is not None and before["word"] not in (b"return", b"else", b"throw")


def _sync_before(context: Context, copy: Event, launch: Event) -> Fix | None:
    stream = next((a for a in launch.args if re.fullmatch(r"\w*stream\w*", a, re.IGNORECASE)), None)
    call = cpp.call_at(context.file, copy.name_start, copy.name_end)
    if stream is None or call is None:
        return None
    statement = call.statement
    indent = indent_at(context.data, statement.start_byte)
    if indent is None or statement.parent is None or statement.parent.type != "compound_statement":
        return None
    before = context.data[statement.start_byte : call.start].decode("utf-8", "replace")
    after = context.data[call.end : statement.end_byte].decode("utf-8", "replace")
    # A status that is looked at stays looked at.
    checked = re.fullmatch(r"\s*(?:[A-Z][A-Z0-9_]*\s*\(\s*|\w+\s*\|=\s*)", before) is not None and '"' not in after
    text = " ".join(f"{before}aclrtSynchronizeStream({stream}){after}".split()) if checked else ""
    text = text.replace("( ", "(") or f"aclrtSynchronizeStream({stream});"
    return Fix((Edit(statement.start_byte, statement.start_byte, f"{text}\n{indent}"),))


_NONE = re.compile(
    rb"\bu?int64_t\s+(?P<name>\w*[fF][fF][tT][sS]\w*)\s*(?:=\s*|\{\s*)(?P<value>0[uUlLx0]*|nullptr|NULL)\s*\}?\s*;",
    re.ASCII,
)


def wrong_ffts_source(context: Context) -> Iterator[Hit]:
    """An FFTS address that does not come from util_get_ffts_config (SH313)."""
    for call in cpp.calls(context, "aclrtGetMemInfo"):
        name = next((m.group() for a in call.arg_texts if (m := re.search(r"\w*ffts\w*", a, re.IGNORECASE))), None)
        if name is None:
            continue
        fix = None
        statement = call.statement
        if statement.type == "expression_statement":
            fix = Fix((Edit(statement.start_byte, statement.end_byte, f"{name} = util_get_ffts_config();"),))
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, message="memory", args={"name": name}, fix=fix)
    for match in _NONE.finditer(context.code, context.start, context.end):
        word = match["name"]
        later = context.code[match.end() : context.end]
        if re.search(rb"\b" + word + rb"\s*=(?!=)|&\s*" + word + rb"\b", later):
            continue
        if re.search(rb"[(,]\s*" + word + rb"\s*[,)]", later):
            edit = Edit(match.start("value"), match.end("value"), "util_get_ffts_config()")
            yield Hit(match.start("value"), match.end("value"), args={"name": word.decode()}, fix=Fix((edit,)))


_STREAM_RMA = (
    "aclshmemx_putmem_on_stream",
    "aclshmemx_getmem_on_stream",
    "shmemx_putmem_on_stream",
    "shmemx_getmem_on_stream",
)


def stream_rma_without_handle_wait(context: Context) -> Iterator[Hit]:
    """RDMA transfers on a stream that nobody waits for (SH328)."""
    code = context.code
    if b"ACLSHMEM_DATA_OP_ROCE" not in code and b"SHMEM_DATA_OP_RDMA" not in code:
        return
    if (
        b"handle_wait" in code
        or b"quiet_on_stream" in code
        or b"barrier_on_stream" in code
        or b"barrier_all_on_stream" in code
    ):
        return
    for call in cpp.calls(context, *_STREAM_RMA):
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"call": call.name})
