"""What the calls of a kernel do to transfers in flight: issue, complete, signal, wait, or nothing.

A call nobody knows (a helper of the operator, a method, a macro) may do any of it; checks take
that as a reason to say nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from opdev.syntax.cpp_flow import Event

Kind = Literal[
    "issue", "atomic", "quiet", "barrier", "set", "wait", "pipe", "cores", "signal", "poll", "neutral", "helper"
]
Engine = Literal["", "mte", "sdma", "udma", "roce", "any"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What one call does, and through which engine (``any``: chosen at run time; empty: none)."""

    kind: Kind
    engine: Engine = ""


_ISSUE = re.compile(r"aclshmemx_(mte|sdma|udma|roce)_(?:put|get)(?:mem)?(?:_signal)?_nbi|aclshmemx_(cmo)_nbi")
_ISSUE_ANY = re.compile(r"aclshmemx?_(?:\w+_)?(?:put|get)(?:mem)?\d*(?:_signal)?_nbi")
_ATOMIC = re.compile(r"aclshmemx_(mte|udma|roce)_atomic_(?:add|inc|set|and|or|xor)")
_ATOMIC_ANY = re.compile(r"aclshmem_\w+_atomic_(?:add|inc|set|and|or|xor)")
_QUIET = re.compile(r"aclshmemx_(mte|sdma|udma|roce)_quiet")
_BARRIER = re.compile(
    r"aclshmemx?_(?:barrier|sync)(?:_all)?(?:_vec)?|aclshmemx_roce_(?:barrier|team_sync|sync)(?:_all)?|aclshmem_team_sync"
)
_POLL = re.compile(
    r"aclshmem_(?:signal_|\w+_)?(?:wait|test)(?:_until)?(?:_all|_any|_some)?(?:_vector)?|aclshmem_signal_fetch"
)
_BLOCKING = re.compile(
    r"aclshmem_(?:\w+_)?i?(?:put|get)(?:mem)?\d*(?:_signal)?|aclshmem_\w+_[pg]|aclshmem\w*_atomic_\w+"
)
_NEUTRAL = re.compile(
    r"aclshmemx?_(?:team_)?(?:my_pe|n_pes|ptr|roce_ptr|translate_pe|pe_mapping)|aclshmem_team_\w+|aclshmemi_get_\w+"
    r"|aclshmemx_set_\w+_config|util_set_ffts_config|SetSyncBaseAddr|SHMEMI_PROF_(?:START|END)|KERNEL_TASK_TYPE\w*"
    r"|Get(?:Sub)?BlockIdx|GetBlockNum|GetTaskRation?|GetSystemCycle|get_block_(?:idx|num)|get_subblockid|GetProgramId"
    r"|min|max|Min|Max|abs|swap|CeilDiv|DivCeil|AlignUp|RoundUp|printf|PRINTF|DumpTensor|assert|ASCENDC_ASSERT|UNUSED\w*"
    r"|DataCopy\w*|copy_gm_to_ubuf\w*|copy_ubuf_to_gm\w*|dcci\w*|DataCacheCleanAndInvalid|Duplicate|Adds?|Muls?|Sub|Div|Cast"
    r"|Set(?:Atomic\w+|GlobalBuffer|Value|FixpipePreQuantFlag|MaskNorm|VectorMask)|Get(?:Value|PhyAddr|Size|WithOffset)|Get"
    r"|InitBuffer|FetchEventID|AllocEventID|ReleaseEventID|ReinterpretCast|numeric_limits|is_same\w*|DisableDmaAtomic"
    r"|u?int(?:8|16|32|64)_t|int|float|half|bool|size_t|T|uintptr_t|GM_ADDR"
)


def effect(event: Event) -> Effect:
    """What a call does; ``helper`` for a call nobody knows."""
    if event.receiver and not _NEUTRAL.fullmatch(event.name):
        return _HELPER
    return _by_name(event.name)


_HELPER = Effect("helper")


@lru_cache(maxsize=4096)
def _by_name(name: str) -> Effect:
    for pattern, kind in ((_ISSUE, "issue"), (_ATOMIC, "atomic"), (_QUIET, "quiet")):
        match = pattern.fullmatch(name)
        if match:
            engine = next(group for group in match.groups() if group)
            return Effect(kind, "sdma" if engine == "cmo" else engine)  # type: ignore[arg-type]  # the patterns name both
    if _ISSUE_ANY.fullmatch(name):
        return Effect("issue", "any")
    if _ATOMIC_ANY.fullmatch(name):
        return Effect("atomic", "any")
    if name in ("aclshmem_quiet", "aclshmem_fence"):
        return Effect("quiet", "any")
    if _BARRIER.fullmatch(name):
        return Effect("barrier", "roce" if "_roce_" in name else "any")
    if name in ("SetFlag", "set_flag"):
        return Effect("set")
    if name in ("WaitFlag", "wait_flag"):
        return Effect("wait")
    if name in ("PipeBarrier", "pipe_barrier"):
        return Effect("pipe")
    if name in ("SyncAll", "CrossCoreSetFlag", "CrossCoreWaitFlag", "IBSet", "IBWait"):
        return Effect("cores")
    if name == "aclshmemx_signal_op":
        return Effect("signal")
    if _POLL.fullmatch(name):
        return Effect("poll")
    if _NEUTRAL.fullmatch(name) or _BLOCKING.fullmatch(name):
        return Effect("neutral")
    return _HELPER


def hard_event(event: Event) -> tuple[str, str]:
    """Source and destination pipe of a SetFlag or WaitFlag; empty where they are not written out."""
    if event.name in ("set_flag", "wait_flag"):
        return (event.arg(0).removeprefix("PIPE_"), event.arg(1).removeprefix("PIPE_"))
    if not event.targs:
        return ("", "")
    source, _, target = event.targs[0].rpartition("::")[2].partition("_")
    return (source, target)


def event_id(event: Event) -> str:
    """The event id a SetFlag, WaitFlag or transfer is given."""
    return event.arg(-1).removeprefix("AscendC::")


def pipe(event: Event) -> str:
    """The pipe a PipeBarrier names: ``ALL``, ``MTE3``; empty where it is not written out."""
    text = event.targs[0] if event.targs else event.arg(0)
    return text.rpartition("::")[2].removeprefix("PIPE_") if text else ""


def is_entry(head: str) -> bool:
    """Whether a function with this head is launched from the host."""
    return "__global__" in head or "ACLSHMEM_GLOBAL" in head or "SHMEM_GLOBAL" in head


BASE = re.compile(r"[A-Za-z_]\w*")
_CAST = re.compile(
    r"(?:reinterpret_cast|static_cast|const_cast)<[^()]*?>\(|\((?:const )?(?:__gm__|__ubuf__)[^()]*\)|\([\w: ]+\*+\)"
)


def base(expression: str) -> str:
    """The first name an address expression is built on, casts left out: ``gva`` of ``(T*)gva + i``."""
    found = BASE.search(_CAST.sub("", expression))
    return found.group() if found else ""
