"""Barriers not everybody reaches, and mixed kinds of barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.checks.sync_effects import base, effect
from opdev.checks.sync_fixes import related
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax.cpp_flow import (
    Block,
    Branch,
    Event,
    Flow,
    Jump,
    Loop,
    Step,
    blocks,
    blocks_in,
    flow_of,
)
from opdev.syntax.cpp_paths import explore
from opdev.syntax.cpp_text import atoms
from opdev.syntax.view import View

_NOTES = {
    "later": {"zh": "其它 PE 或核会走到这里", "en": "the other PEs or cores get here"},
    "cond": {"zh": "分支条件因 PE 或核而异", "en": "the condition differs between PEs or cores"},
    "sync": {"zh": "另一种同步在这里", "en": "the other kind of synchronisation is here"},
    "put": {"zh": "另一半核在这里写", "en": "the other cores write here"},
}
_PE = re.compile(
    r"(?<![\w.>])(?:my_?pe|mype|myPe|my_?rank|myRank|pe_?id|peId|rank_?id|rankId|local_?rank|global_?rank|rank|pe)_?(?![\w(.\[])"
)
_PE_CALL = re.compile(r"\b(?:acl)?shmem_my_pe\(")
_CORE_CALL = re.compile(r"\b(?:GetBlockIdx|get_block_idx|GetSubBlockIdx|get_subblockid)\(")
_CALLS = re.compile(r"\w\(")
_COLLECTIVE = re.compile(
    r"aclshmemx?_(?:barrier|sync)_all(?:_vec)?|aclshmemx_barrier_all_on_stream|aclshmem_(?:free|finalize)"
    r"|aclshmemx_roce_(?:barrier|sync)_all"
)
_OF_TEAM = re.compile(r"aclshmemx?_(?:barrier|sync)(?:_vec)?|aclshmemx_barrier_on_stream")
_FAILED = re.compile(
    r"(?:-\s*\d+|[1-9]\d*|false|nullptr|EXIT_FAILURE|\w*(?:ERR|FAIL|INVALID)\w*|(?:ret|status|err)\w*)$", re.IGNORECASE
)
_STOPS = frozenset({"exit", "_exit", "abort", "quick_exit", "trap", "aclshmem_global_exit", "ACLSHMEM_CHECK_RET"})


def _collective(event: Event) -> bool:
    """Whether all PEs (and on the device all cores) must make this call together."""
    if _COLLECTIVE.fullmatch(event.name):
        return not event.receiver
    return bool(_OF_TEAM.fullmatch(event.name)) and "ACLSHMEM_TEAM_WORLD" in event.args


def _is_known(event: Event) -> bool:
    """Whether a call surely makes no collective call of its own."""
    if event.name in _HARMLESS or event.name.startswith(("aclrt", "ACL_LOG", "LOG_")):
        return True
    return effect(event).kind != "helper"


_HARMLESS = frozenset(
    [
        "cout",
        "cerr",
        "endl",
        "printf",
        "fprintf",
        "fflush",
        "c_str",
        "to_string",
        "string",
        "size",
        "data",
        "push_back",
        "append",
        "str",
        "begin",
        "end",
        "at",
        "open",
        "close",
        "good",
        "is_open",
        "read",
        "write",
        "flush",
        "GetBlockNum",
        "memcpy",
        "memset",
    ]
)


@dataclass(frozen=True)
class Divergence:
    """A branch after which PEs or cores disagree about their barriers."""

    branch: Branch
    extra: Event | None
    """The call only one arm makes; None where an arm leaves early."""
    leaves: Jump | None
    skipped: Event | None
    of_cores: bool


def divergences(view: View) -> list[Divergence]:
    """Branches on the PE or the core whose arms make different collective calls, whatever else happens."""
    flow = flow_of(view)
    if flow is None or not any(_collective(e) for e in flow.events):
        return []
    return view.file.memo(("sync.divergences", flow.start), lambda: list(_divergences(view, flow)))


def _divergences(view: View, flow: Flow) -> Iterator[Divergence]:
    device = re.search(r"__aicore__|\[aicore\]|ACLSHMEM_DEVICE|__global__|ACLSHMEM_GLOBAL|SHMEM_DEVICE", flow.head)
    pes, cores = _tainted(view, flow)
    for branch, rest in _branches(flow.body):
        words = set(re.findall(r"[A-Za-z_]\w*", branch.cond))
        if words & branch.within or _CALLS.search(_CORE_CALL.sub("", _PE_CALL.sub("", branch.cond))):
            # Compared with what a loop moves, each PE takes the arm in a round of its own; a call
            # (is this PE in the list?) may stand for a world of its own.
            continue
        of_pe = bool(_PE_CALL.search(branch.cond) or words & pes)
        of_core = bool(device) and bool(_CORE_CALL.search(branch.cond) or words & cores)
        if not (of_pe or of_core):
            continue
        if of_core and not of_pe and any("_roce_" in e.name for e in flow.events if _collective(e)):
            continue
        found = _compare(flow, branch, rest, of_cores=of_core and not of_pe)
        if found is not None:
            yield found


def _tainted(view: View, flow: Flow) -> tuple[set[str], set[str]]:
    """Names that hold the PE's number, and names that hold the core's."""
    text = view.code[flow.start : flow.end].decode("utf-8", "replace")
    looped: set[str] = set()
    for part in blocks(flow.body):
        looped |= {name for item in part if isinstance(item, Loop) for name in item.variables}
    pes = {m.group() for m in _PE.finditer(flow.head + text)} - looped
    assigned = re.findall(r"\b([A-Za-z_]\w*)\s*=\s*([^=;][^;]*);", text)
    for name, value in assigned:
        if "my_pe" in value and re.fullmatch(
            r"(?:\([\w ]+\)|static_cast<[\w ]+>\()?\s*(?:acl)?shmem_my_pe\(\)\s*\)?", value.strip()
        ):
            pes.add(name)
    cores = {
        name
        for name, value in assigned
        if "lock" in value and re.fullmatch(r"(?:static_cast<[\w ]+>\()?\s*(?:AscendC::)?(?:GetBlockIdx|get_block_idx|GetSubBlockIdx)\(\)\s*\)?", value.strip())
    }  # fmt: skip
    return pes - looped, cores - looped


def _branches(block: Block, after: tuple[Block, ...] | None = ()) -> Iterator[tuple[Branch, tuple[Block, ...] | None]]:
    """Every ``if`` with what follows it to the function's end (None in a loop or a switch)."""
    for index, item in enumerate(block):
        rest = None if after is None else (block[index + 1 :], *after)
        if isinstance(item, Branch):
            if item.cond:
                yield item, rest
            for arm in item.arms:
                yield from _branches(arm, rest)
        else:
            for inner in blocks_in(item):
                yield from _branches(inner, None)


Trace = tuple[str, ...]


@dataclass
class _Traces:
    """Collective calls on all paths through a block, by how the path ends (``return`` or empty)."""

    found: set[tuple[str, Trace]]
    calls: list[Event]
    hidden: bool
    """Whether a helper may make more of them."""

    @property
    def ways(self) -> set[str]:
        return {way for way, _ in self.found}

    @property
    def shortest(self) -> int:
        return min(len(trace) for _, trace in self.found)

    @property
    def longest(self) -> int:
        return max(len(trace) for _, trace in self.found)


def _traces(flow: Flow, block: Block) -> _Traces | None:
    """The traces of a block; None where there are too many, or where every path ends in an error."""
    calls: list[Event] = []
    hidden = False

    def step(event: Event, state: Trace) -> Trace:
        nonlocal hidden
        if _collective(event):
            calls.append(event)
            return (*state, event.name)[:6]
        if event.name in _STOPS:
            return ("!",)
        hidden = hidden or not _is_known(event)
        return state

    start: Trace = ()
    ends = explore(block, start, step, repeated=flow.repeated, loops_run=True)
    if ends is None:
        return None
    out: set[tuple[str, Trace]] = set()
    for jump, trace in ends:
        failed = jump is not None and (jump.kind == "throw" or _FAILED.match(jump.value))
        if "!" not in trace and not failed:
            out.add(("return" if jump else "", trace))
    calls.sort(key=lambda event: event.start)
    return _Traces(out, calls, hidden) if out else None


def _compare(flow: Flow, branch: Branch, rest: tuple[Block, ...] | None, *, of_cores: bool) -> Divergence | None:
    items = [item for arm in branch.arms for part in blocks(arm) for item in part]
    if any(isinstance(item, Jump) and item.kind in ("break", "continue") for item in items):
        return None
    one, other = (_traces(flow, arm) for arm in branch.arms)
    if one is None or other is None:
        return None
    if one.ways == other.ways == {""}:
        return None if _asked_again(flow, branch) else _unequal(branch, one, other, of_cores=of_cores)
    for index, (leaving, going) in enumerate(((one, other), (other, one))):
        if leaving.ways != {"return"} or going.ways != {""} or rest is None or leaving.hidden:
            continue
        following = _traces(flow, (*branch.arms[1 - index], *(item for part in rest for item in part)))
        if following is None or leaving.longest >= following.shortest:
            return None
        jumps = (i for part in blocks(branch.arms[index]) for i in part if isinstance(i, Jump))
        return Divergence(branch, None, next(jumps, None), following.calls[0], of_cores)
    return None


def _unequal(branch: Branch, one: _Traces, other: _Traces, *, of_cores: bool) -> Divergence | None:
    short, long = sorted((one, other), key=lambda t: t.longest)
    if short.hidden or not long.calls:
        return None
    apart = short.longest < long.shortest if long.hidden else not short.found & long.found
    return Divergence(branch, long.calls[0], None, None, of_cores) if apart else None


def _asked_again(flow: Flow, branch: Branch) -> bool:
    """Whether the condition is tested elsewhere, where the other half of the calls may stand."""
    return any(atom in flow.repeated for holds in (True, False) for atom, _ in atoms(branch.cond, holds=holds))


def barrier_in_branch(context: Context) -> Iterator[Hit]:
    """A collective call only some PEs or cores make (SH323)."""
    for found in divergences(context):
        if found.extra is not None:
            call = found.extra
            yield Hit(
                call.name_start, call.name_end, message="core" if found.of_cores else "default",
                args={"call": call.written, "cond": _short(found.branch.cond)},
                related=(_cond(found.branch),),
            )  # fmt: skip


def early_return_skips_barrier(context: Context) -> Iterator[Hit]:
    """A return on the PE or core in front of a collective call the others make (SH324)."""
    for found in divergences(context):
        if found.leaves is not None and found.skipped is not None:
            yield Hit(
                found.leaves.start, found.leaves.end, message="core" if found.of_cores else "default",
                args={"call": found.skipped.written, "cond": _short(found.branch.cond)},
                related=(related(found.skipped, _NOTES["later"]),),
            )  # fmt: skip


def _cond(branch: Branch) -> Related:
    return Related(branch.start, branch.end, _NOTES["cond"])


def _short(cond: str) -> str:
    return cond if len(cond) <= 60 else cond[:57] + "…"


def mixed_sync_kinds(context: Context) -> Iterator[Hit]:
    """SyncAll and a device barrier in one function (SH314)."""
    flow = flow_of(context)
    if flow is None:
        return
    barriers = [e for e in flow.events if effect(e).kind == "barrier" and "_roce_" not in e.name]
    for sync in flow.named("SyncAll"):
        if barriers and not sync.args:
            yield Hit(
                sync.name_start, sync.name_end, args={"call": barriers[0].written},
                related=(related(barriers[0], _NOTES["sync"]),),
            )  # fmt: skip
            return


def half_cores_unsynchronised(context: Context) -> Iterator[Hit]:
    """Half of the cores put, the other half get the same memory, and nothing separates them (SH322)."""
    flow = flow_of(context)
    if flow is None:
        return
    _, cores = _tainted(context, flow)
    for branch, _ in _branches(flow.body):
        words = set(re.findall(r"[A-Za-z_]\w*", branch.cond))
        if not (words & cores or _CORE_CALL.search(branch.cond)) or not all(branch.arms):
            continue
        arms = [
            [e for part in blocks(arm) for i in part if isinstance(i, Step) for e in i.events] for arm in branch.arms
        ]
        for mine, theirs in ((arms[0], arms[1]), (arms[1], arms[0])):
            written = {base(e.arg(0)): e for e in mine if effect(e).kind == "issue" and "_put" in e.name}
            for event in theirs:
                if effect(event).kind in ("helper", "barrier", "cores", "poll", "signal"):
                    break
                if effect(event).kind == "issue" and "_get" in event.name and base(event.arg(1)) in written:
                    put = written[base(event.arg(1))]
                    yield Hit(
                        event.name_start, event.name_end,
                        args={"get": event.written, "put": put.written, "name": base(event.arg(1))},
                        related=(related(put, _NOTES["put"]),),
                    )  # fmt: skip
                    return
