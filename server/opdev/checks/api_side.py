"""Calls on the wrong side: host functions in device code, device functions on the host, SIMT without its namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from opdev.api import table
from opdev.checks.api import in_library, vector_only
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.file import File

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLED = re.compile(rb"\b(?:(?:acl)?shmemx?_\w+|util_[gs]et_ffts_config)(?=\s*[(<])")
# What no device code contains, and what no host code does.
_HOST_ONLY = re.compile(rb"\baclrt\w+|\baclInit\b|\baclFinalize\b|\bstd::(?:cout|cerr|vector|string|thread|ofstream|ifstream)\b"
                        rb"|<<<|\bfopen\b|\bgetenv\b|\bshmemx?_init\w*|\baclshmemx?_(?:init|finalize|malloc|free)\w*")  # fmt: skip
_DEVICE_WORDS = re.compile(
    rb"__gm__|__ubuf__|__cbuf__|GM_ADDR|\b(?:Local|Global)Tensor\b|\bTPipe\b|\bGetBlockIdx\b|\bASCEND_IS_|\bSetFlag\b"
)
_BOTH = re.compile(rb"__host|HOST_DEVICE|HOST_AND_DEVICE")


@cache
def _sided(side: str) -> frozenset[str]:
    """Names (old spellings too) declared on one side alone."""
    found: set[str] = set()
    for name in table.names():
        api = table.lookup(name)
        if api is None or api.kind != "function":
            continue
        if (side == "host" and api.scopes == {"host"}) or (side == "device" and "host" not in api.scopes):
            found.add(name)
    for old, new in table.aliases().items():
        if all(name in found for name in new):
            found.add(old)
    return frozenset(found)


def host_call_on_device(context: Context) -> Iterator[Hit]:
    """A function only the host has, called in an ``__aicore__`` function."""
    function = _definition(context)
    if function is None:
        return
    for match in _CALLED.finditer(context.code, context.start, context.end):
        name = match.group().decode()
        if name not in _sided("host"):
            continue
        call = cpp.call_at(context.file, *match.span())
        if call is None or not _plain(call) or call.function is None or not cpp.is_device(context.file, call.function):
            continue
        if _BOTH.search(cpp.head(context.file, call.function)):
            continue
        yield Hit(*match.span(), args={"name": name})


def device_call_on_host(context: Context) -> Iterator[Hit]:
    """A function only device code has, called in a function that surely runs on the host."""
    function = _definition(context)
    if function is None:
        return
    for match in _CALLED.finditer(context.code, context.start, context.end):
        name = match.group().decode()
        if name not in _sided("device"):
            continue
        call = cpp.call_at(context.file, *match.span())
        if call is None or not _plain(call) or not _surely_host(context.file, call.function):
            continue
        if name in ("aclshmem_quiet", "shmem_quiet"):
            yield Hit(*match.span(), message="quiet", args={"name": name})
        else:
            yield Hit(*match.span(), args={"name": name})


def _definition(context: Context) -> Node | None:
    """The item, unless it is no definition of a function (a macro, a class without bodies)."""
    return context.node if b"{" in context.code[context.start : context.end] else None


def _plain(call: cpp.Call) -> bool:
    """Whether the call is SHMEM's own function, no method and nobody's namespace."""
    callee = call.callee
    return "." not in callee and "->" not in callee and call.namespace in ("", "simt")


def _surely_host(file: File, function: Node | None) -> bool:
    if function is None or cpp.is_device(file, function):
        return False
    head = cpp.head(file, function)
    if _DEVICE_WORDS.search(head) or _BOTH.search(head):
        return False
    body = file.code[function.start_byte : function.end_byte]
    if _DEVICE_WORDS.search(body):
        return False
    return cpp.function_name(file, function) == "main" or _HOST_ONLY.search(body) is not None


_GROUP = re.compile(rb"aclshmemx_\w+_(?:block|warp)\b")
_USING = re.compile(rb"\busing\s+namespace\s+simt\b|\bnamespace\s+simt\b|\bnamespace\s+\w+\s*=\s*simt\b")


def _calls_groups(text: bytes) -> bool:
    return b"_block(" in text or b"_warp(" in text


def missing_simt_namespace(context: Context) -> Iterator[Hit]:
    """A block- or warp-wide call without ``simt::``."""
    code = context.code
    if not context.holds(_calls_groups) or in_library(context.file):
        return
    using = _USING.search(code) is not None
    brought_in = {name.decode() for name in re.findall(rb"\busing\s+simt::(\w+)", code)}
    for call in cpp.calls_matching(context, _GROUP):
        api = table.lookup(call.name)
        if api is None or api.namespace != "simt" or not _plain(call) or call.namespace:
            continue
        start, end = call.name_node.start_byte, call.name_node.end_byte
        if using or call.name in brought_in:
            continue
        yield Hit(start, end, args={"name": call.name}, fix=Fix((Edit(start, start, "simt::"),)))


_RDMA_SYNC = (
    "aclshmemx_roce_team_sync", "aclshmemx_roce_sync", "aclshmemx_roce_sync_all", "aclshmemx_roce_barrier",
    "aclshmemx_roce_barrier_all",
)  # fmt: skip
_AIV_GUARD = re.compile(rb"\bASCEND_IS_(?:NOT_)?AI[VC]\b|\bg_coreType\b")


def rdma_sync_on_cube(context: Context) -> Iterator[Hit]:
    """RDMA sync in a kernel entry that cube cores run as well."""
    for call in cpp.calls(context, *_RDMA_SYNC):
        function = call.function
        if function is None or not cpp.is_kernel_entry(context.file, function):
            continue
        body = context.code[function.start_byte : function.end_byte]
        if vector_only(cpp.head(context.file, function), body) or _AIV_GUARD.search(body):
            continue
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"name": call.name})
