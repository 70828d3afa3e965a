"""Signals: values that never match, slots several cores share, signals nobody waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.sync_effects import base, effect, is_entry
from opdev.checks.sync_fixes import related
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import Block, Branch, Event, Jump, Loop, Step, blocks, blocks_in, flow_of
from opdev.syntax.cpp_text import squeeze

_NOTES = {
    "signal": {"zh": "信号在这里发出", "en": "the signal is sent here"},
    "wait": {"zh": "等待在这里", "en": "the wait is here"},
}
_CASTS = re.compile(r"(?:reinterpret_cast|static_cast)<[^()]*?>|\((?:__gm__ )?[\w: ]+\*+\)")


def _address(text: str) -> str:
    """An address in one spelling: casts and outer parentheses left out."""
    return squeeze(_CASTS.sub("", text))


def _number(text: str) -> int | None:
    return cpp.evaluate(text) if re.search(r"\d", text) and not re.search(r"[A-Za-z_]\w{2,}", text) else None


_CONSUMES = re.compile(
    rb"\b(?:acl)?shmem[xi]?_\w*(?:_wait|_wait_until\w*|_test\w*|signal_fetch|_get\w*|getmem\w*|_g|_ptr)\s*\(|\bdcci\w*\s*\("
    rb"|DataCacheCleanAndInvalid"
)


_DEVICE_BARRIER = re.compile(rb"\b(?:acl)?shmem[xi]?_(?:roce_)?(?:barrier|sync|team_sync)\w*\s*\(")


def signal_without_wait(context: Context) -> Iterator[Hit]:
    """A signal in an operator that never reads one (SH307)."""
    project = context.project
    assert project is not None  # a project check is only run with one
    if any(_CONSUMES.search(file.code) for file in project.files("cpp")):
        return
    if _DEVICE_BARRIER.search(context.code):
        # The barrier does the work; the signal is no more than superfluous.
        return
    for call in cpp.calls_matching(
        context, re.compile(rb"\b(?:aclshmemx_signal_op|shmemx_signal_op|aclshmem\w*_put\w*_signal\w*)\b")
    ):
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"call": call.name})


def signal_value_mismatch(context: Context) -> Iterator[Hit]:
    """A wait for a value the signals on that address never have (SH308)."""
    flow = flow_of(context)
    if flow is None:
        return
    signals = flow.named("aclshmemx_signal_op")
    for wait in flow.named("aclshmem_signal_wait_until"):
        if len(wait.args) < 3 or wait.arg(1) != "ACLSHMEM_CMP_EQ":
            continue
        here = [s for s in signals if len(s.args) >= 4 and _address(s.arg(0)) == _address(wait.arg(0))]
        if not here:
            continue
        args = {"wait": wait.arg(2), "address": wait.arg(0), "signal": here[0].arg(1)}
        notes = (related(here[0], _NOTES["signal"]),)
        if all(s.arg(2) == "ACLSHMEM_SIGNAL_ADD" for s in here):
            yield Hit(wait.name_start, wait.name_end, message="add", args=args, severity="warning", related=notes)
        elif all(s.arg(2) == "ACLSHMEM_SIGNAL_SET" for s in here):
            expected, sent = _number(wait.arg(2)), [_number(s.arg(1)) for s in here]
            if expected is not None and None not in sent and expected not in sent:
                yield Hit(wait.name_start, wait.name_end, args=args, related=notes)


_EPOCH = re.compile(r"magic|epoch|count|iter|round|seq|step|gen|token|version|loop|stamp|turn", re.IGNORECASE)


def signal_without_epoch(context: Context) -> Iterator[Hit]:
    """A kernel that signals and waits for the same literal at every launch (SH309)."""
    flow = flow_of(context)
    if flow is None or not is_entry(flow.head) or _EPOCH.search(flow.head.partition("(")[2]):
        return
    text = context.code[flow.start : flow.end].decode("utf-8", "replace")
    for signal in flow.named("aclshmemx_signal_op"):
        name = base(signal.arg(0))
        others = [s for s in flow.named("aclshmemx_signal_op") if s is not signal and s.arg(1) != signal.arg(1)]
        waits = [w for w in flow.named("aclshmem_signal_wait_until") if w.arg(2) == signal.arg(1)]
        if signal.arg(2) != "ACLSHMEM_SIGNAL_SET" or _number(signal.arg(1)) is None or not waits or others or not name:
            continue
        reset = re.search(
            rf"\*\s*\(?[^;=]*\b{name}\b[^;=]*=(?!=)|\b{name}\s*\[[^\]]*\]\s*=(?!=)|_p\(\s*{name}\b|\b{name}\.SetValue",
            text,
        )
        if reset is None and not any(effect(e).kind == "helper" for e in flow.events):
            yield Hit(
                signal.name_start, signal.name_end, args={"value": signal.arg(1), "address": signal.arg(0)},
                related=(related(waits[0], _NOTES["wait"]),),
            )  # fmt: skip


_CORE = re.compile(r"\b(?:GetBlockIdx|get_block_idx|GetSubBlockIdx|get_subblockid)\s*\(")


def _of_core(text: str) -> set[str]:
    """Names whose value depends on the core, followed through assignments."""
    names: set[str] = set()
    assigned = [
        (name, set(re.findall(r"[A-Za-z_]\w*", value)), _CORE.search(value) is not None)
        for name, value in re.findall(r"\b([A-Za-z_]\w*)\s*(?:[-+*/%]?=)(?!=)\s*([^;]*)", text)
    ]
    for _ in range(4):
        before = len(names)
        for name, words, direct in assigned:
            if direct or not names.isdisjoint(words):
                names.add(name)
        if len(names) == before:
            break
    return names


def shared_flag_slot(context: Context) -> Iterator[Hit]:
    """All cores signal into one slot (SH310)."""
    flow = flow_of(context)
    if flow is None:
        return
    text = context.code[flow.start : flow.end].decode("utf-8", "replace")
    if not _CORE.search(text):
        return
    cores = _of_core(text)
    for signal in flow.named("aclshmemx_signal_op"):
        said = " ".join(signal.args)
        if signal.arg(2) != "ACLSHMEM_SIGNAL_SET" or len(signal.args) < 4 or _depends(said, cores):
            continue
        if any(effect(e).kind in ("cores", "barrier", "helper") and e.start < signal.start for e in flow.events):
            continue
        if not _for_some_cores(flow.body, signal, cores):
            yield Hit(signal.name_start, signal.name_end, args={"address": signal.arg(0)})


def _depends(text: str, cores: set[str]) -> bool:
    return bool(_CORE.search(text) or cores & set(re.findall(r"[A-Za-z_]\w*", text)))


def _for_some_cores(block: Block, event: Event, cores: set[str]) -> bool:
    """Whether a branch on the core stands around the call, or one with a return before it."""
    for item in block:
        if isinstance(item, Branch):
            chosen = not item.cond or _depends(item.cond, cores)
            inside = any(_holds(arm, event) for arm in item.arms)
            leaves = any(isinstance(last, Jump) for arm in item.arms for last in arm[-1:])
            if chosen and (inside or (leaves and item.start < event.start)):
                return True
        if isinstance(item, Loop) and _depends(" ".join(item.variables), cores):
            return True
        if any(_for_some_cores(one, event, cores) for one in blocks_in(item) if _holds(one, event)):
            return True
    return False


def _holds(block: Block, event: Event) -> bool:
    return any(isinstance(item, Step) and event in item.events for part in blocks(block) for item in part)


_INTERVAL = re.compile(
    rb"\b(?P<name>(?:\w+_)?FLAG_INTERVAL)\b(?:\s*=\s*|\s*\{\s*|[ \t]+)(?P<value>\d+)\b(?=\s*[;}\r\n,]|[uUlL]|$)",
    re.MULTILINE,
)


def narrow_flag_interval(context: Context) -> Iterator[Hit]:
    """Flags of several cores within one cache line (SH311)."""
    for match in _INTERVAL.finditer(context.code, context.start, context.end):
        if 0 < int(match["value"]) < 16:
            edit = Edit(match.start("value"), match.end("value"), "16")
            args = {"name": match["name"].decode(), "value": int(match["value"]), "bytes": int(match["value"]) * 4}
            yield Hit(match.start("value"), match.end("value"), args=args, fix=Fix((edit,)))


_SPINS = re.compile(rb"\bwhile\s*\([^{};]*(?<![\w)\]])\s*\*\s*\w")


def spin_on_cached_flag(context: Context) -> Iterator[Hit]:
    """A wait loop that reads GM through the cache and never drops the line (SH330)."""
    # Most loops are decided by their head, without looking at the function.
    if not _SPINS.search(context.code, context.start, context.end):
        return
    flow = flow_of(context)
    if flow is None:
        return
    whole = (flow.head + context.code[flow.start : flow.end].decode("utf-8", "replace")).replace("\n", " ")
    for loop in _loops(flow.body):
        test = context.code[loop.test.start : loop.test.end].decode("utf-8", "replace")
        inside = [e for part in blocks(loop.body) for i in part if isinstance(i, Step) for e in i.events]
        if (
            loop.once
            or loop.test.events
            or any(effect(e).kind != "neutral" or "ache" in e.name or "dcci" in e.name for e in inside)
        ):
            continue
        if any(isinstance(i, Jump) for part in blocks(loop.body) for i in part) or loop.assigned:
            continue
        read = re.search(r"(?:^|[(!=<>&|])\s*(?P<read>\*\s*(?P<name>\w+))\s*(?:[!=<>&|)]|$)", test)
        if read is None or not _in_gm(whole, read["name"]):
            continue
        at = loop.test.start + len(test[: read.start("read")].encode())
        fix = _wait_call(loop, squeeze(test), read["name"], whole)
        yield Hit(at, at + len(read["read"].encode()), args={"name": read["name"]}, fix=fix)


def _in_gm(text: str, name: str) -> bool:
    declared = re.search(rf"(?P<head>[^;,(){{}}]*)\b{name}\s*(?:[=,);]|$)", text)
    written = re.findall(rf"([^;,(){{}}]*[\s*]){name}\s*[=,);]", text)
    declares = [w for w in written if "__gm__" in w or "GM_ADDR" in w]
    return declared is not None and bool(declares) and not any("volatile" in w for w in declares)


def _wait_call(loop: Loop, test: str, name: str, text: str) -> Fix | None:
    match = re.fullmatch(rf"\*{name}!=(?P<value>[\w.+\-*]+)", test)
    if match is None or loop.body or not re.search(rf"__gm__\s+int32_t\s*\*\s*{name}\b", text):
        return None
    line = f"aclshmem_signal_wait_until({name}, ACLSHMEM_CMP_EQ, {match['value']});"
    return Fix((Edit(loop.start, loop.end, line),))


def _loops(block: Block) -> Iterator[Loop]:
    for part in blocks(block):
        yield from (item for item in part if isinstance(item, Loop))
