"""Barriers between cube and vector cores need the address of the FFTS: kernels that never set it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.sync_effects import effect
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.cpp_flow import (
    function_flow,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_MIX_BARRIER = ("aclshmem_barrier", "aclshmem_barrier_all", "aclshmemx_barrier_vec", "aclshmemx_barrier_all_vec",
                "aclshmem_sync", "aclshmem_sync_all", "shmem_barrier", "shmem_barrier_all", "shmemx_barrier_vec",
                "shmemx_barrier_all_vec")  # fmt: skip
_FFTS = re.compile(
    rb"\b(?:util_set_ffts_config|shmemx_set_ffts_config|SetSyncBaseAddr|set_ffts_base_addr|SetFftsBaseAddr)\b"
)
# Ascend950 needs no FFTS, and these are found on it only.
_ONLY_950 = (b"aclshmemx_udma_", b"simt::", b"__simt_vf__", b"VF_CALL", b"__DAV_C310", b"ascend950", b"Ascend950")
_FFTS_PARAM = re.compile(r"\bu?int64_t\s+(?P<name>\w*ffts\w*)", re.IGNORECASE)


def barrier_without_ffts(context: Context) -> Iterator[Hit]:
    """A device barrier in a kernel that never sets the FFTS address (SH312)."""
    code = context.code
    if any(word in code for word in _ONLY_950) or not (b"__global__" in code or b"SHMEM_GLOBAL" in code):
        return
    if _FFTS.search(context.code):
        yield from _entries_without_ffts(context)
        return
    for call in cpp.calls(context, *_MIX_BARRIER):
        function = call.function
        if function is not None and cpp.is_device(context.file, function):
            yield _no_ffts(context, call, function)
            return


def _no_ffts(context: Context, call: cpp.Call, function: Node) -> Hit:
    fix = None
    head = cpp.head(context.file, function).decode("utf-8", "replace")
    parameter = _FFTS_PARAM.search(head)
    body = function.child_by_field_name("body")
    if parameter is not None and body is not None and body.named_child_count:
        first = body.named_children[0]
        text = f"util_set_ffts_config({parameter['name']});\n" + " " * first.start_point[1]
        fix = Fix((Edit(first.start_byte, first.start_byte, text),))
    return Hit(call.name_node.start_byte, call.name_node.end_byte, args={"call": call.name}, fix=fix)


def _entries_without_ffts(context: Context) -> Iterator[Hit]:
    """Kernels that call a barrier themselves while only other kernels of the file set the address."""
    calls = [c for c in cpp.calls(context, *_MIX_BARRIER) if c.function is not None]
    if not calls:
        return
    setting = {
        cpp.function_name(context.file, f)
        for f in cpp.functions(context)
        if _FFTS.search(context.code, f.start_byte, f.end_byte)
    }
    own = {cpp.function_name(context.file, f) for f in cpp.functions(context)}
    told: set[int] = set()
    for call in calls:
        function = call.function
        if function is None or function.start_byte in told:
            continue
        told.add(function.start_byte)
        if not cpp.is_kernel_entry(context.file, function):
            # A helper that is handed the address and does nothing with it.
            given = _FFTS_PARAM.search(cpp.head(context.file, function).decode("utf-8", "replace"))
            body = function.child_by_field_name("body")
            if given is not None and body is not None and cpp.is_device(context.file, function):
                used = re.search(
                    rb"\b" + given["name"].encode() + rb"\b", context.code[body.start_byte : body.end_byte]
                )
                if used is None:
                    yield _no_ffts(context, call, function)
            continue
        flow = function_flow(context.file, function)
        if flow is None or _FFTS.search(context.code, function.start_byte, function.end_byte):
            continue
        # A helper may set it; one that is not in this file may be handed the address.
        if any(e.name in setting or (effect(e).kind == "helper" and e.name not in own) for e in flow.events):
            continue
        if not any(e.name in own for e in flow.events) or not setting:
            yield _no_ffts(context, call, function)
