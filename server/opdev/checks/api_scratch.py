"""Scratch buffers and request sizes the engines insist on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opdev.checks.api_args import element_type
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import cpp

_SIZES = {
    "int8_t": 1, "uint8_t": 1, "char": 1, "bool": 1, "half": 2, "bfloat16_t": 2, "int16_t": 2, "uint16_t": 2,
    "int32_t": 4, "uint32_t": 4, "int": 4, "float": 4, "int64_t": 8, "uint64_t": 8, "double": 8,
}  # fmt: skip
_RDMA_LEAST = 128
_SDMA_STEP = 64
_UDMA_MOST = 256 * 1024 * 1024

# call → index of its scratch size by the number of arguments
_SDMA_SIZED = {
    "aclshmemx_sdma_put_nbi": {7: 3}, "aclshmemx_sdma_get_nbi": {7: 3}, "aclshmemx_cmo_nbi": {6: 4},
    "aclshmemx_sdma_quiet": {3: 1}, "aclshmemx_sdma_notify_record": {3: 1}, "aclshmemx_set_sdma_config": {3: 1},
}  # fmt: skip
_RDMA_SIZED = ("aclshmemx_set_rdma_config", "aclshmemx_set_udma_config")
_RDMA_BUFFER = {
    "aclshmemx_roce_put_nbi": 2, "aclshmemx_roce_get_nbi": 2, "aclshmemx_roce_quiet": 1, "aclshmemx_udma_put_nbi": 2,
    "aclshmemx_udma_get_nbi": 2, "aclshmemx_udma_put_signal_nbi": 6, "aclshmemx_udma_relay_put_nbi": 2,
    "aclshmemx_udma_relay_get_nbi": 2, "shmem_roce_put_mem_nbi": 2, "shmem_roce_get_mem_nbi": 2,
}  # fmt: skip
_RDMA = frozenset((*_RDMA_SIZED, *_RDMA_BUFFER))
_SCRATCH = re.compile(rb"(?:aclshmemx_(?:sdma|cmo|roce|udma|set)_|shmem_roce_)\w+")


def undersized_scratch(context: Context) -> Iterator[Hit]:
    """Scratch below what RDMA, UDMA or SDMA need, or of a size SDMA does not take."""
    every = [c for c in cpp.calls_matching(context, _SCRATCH) if c.name in _SDMA_SIZED or c.name in _RDMA]
    if not every:
        return
    known = cpp.constants(context.file)
    for call in (c for c in every if c.name in _SDMA_SIZED):
        index = _SDMA_SIZED[call.name].get(len(call.args))
        if index is None:
            continue
        node, text = call.args[index], call.arg_texts[index]
        value = cpp.evaluate(text, known)
        if value is not None and (value < _SDMA_STEP or value % _SDMA_STEP):
            yield Hit(node.start_byte, node.end_byte, message="sdma", args={"name": call.name, "value": value})
    for call in (c for c in every if c.name in _RDMA_SIZED):
        if len(call.args) == 3:
            node = call.args[1]
            value = cpp.evaluate(call.arg_texts[1], known)
            if value is not None and value < _RDMA_LEAST:
                yield Hit(node.start_byte, node.end_byte, args=_rdma(call.name, value))
    for call in (c for c in every if c.name in _RDMA_BUFFER):
        index = _RDMA_BUFFER[call.name]
        if index >= len(call.args) or any("PIPE_S" in t for t in call.targs):
            continue
        node = call.args[index]
        value = _buffer_bytes(context, call, call.arg_texts[index], known)
        if value is not None and value < _RDMA_LEAST:
            yield Hit(node.start_byte, node.end_byte, args=_rdma(call.name, value))


def _rdma(name: str, value: int) -> dict[str, object]:
    engine = "UDMA" if "udma" in name else "RDMA"
    return {"name": name, "value": value, "least": f"ACLSHMEM_{engine}_MTE_STAGING_UB_SIZE"}


def _buffer_bytes(context: Context, call: cpp.Call, text: str, known: Mapping[str, int]) -> int | None:
    """Bytes behind a scratch argument: tensor ← ``TBuf::Get`` ← ``InitBuffer``, all in the call's function."""
    word = re.search(r"([A-Za-z_]\w*)\s*(?:\.\s*GetPhyAddr\s*\(\s*\))?\s*\)?$", text)
    if word is None or call.function is None:
        return None
    body = context.code[call.function.start_byte : call.start].decode("utf-8", "replace")
    tensors = re.findall(
        rf"\b{word[1]}\s*=\s*(\w+)\s*\.\s*(Get|GetWithOffset)\s*<\s*([\w:]+)\s*>\s*\(\s*([^;]*?)\s*\)\s*;", body
    )
    if len(tensors) != 1:
        return None
    queue, method, kind, args = tensors[0]
    size = _SIZES.get(kind)
    if args and size is not None and (method == "GetWithOffset" or "," not in args):
        count = cpp.evaluate(args.split(",", 1)[0], known)
        return None if count is None else count * size
    if args:
        return None
    buffers = re.findall(rf"\bInitBuffer\s*\(\s*{queue}\s*,\s*([^;]+?)\s*\)\s*;", body)
    return cpp.evaluate(buffers[0], known) if len(buffers) == 1 and "," not in buffers[0] else None


_UDMA_COUNT = {
    "aclshmemx_udma_put_nbi": 3, "aclshmemx_udma_get_nbi": 3, "aclshmemx_udma_put_signal_nbi": 2,
    "aclshmemx_udma_relay_put_nbi": 3, "aclshmemx_udma_relay_get_nbi": 3,
}  # fmt: skip


def oversized_udma_request(context: Context) -> Iterator[Hit]:
    """A single UDMA request of more than 256 MiB."""
    for call in cpp.calls(context, *_UDMA_COUNT):
        index = _UDMA_COUNT[call.name]
        if index >= len(call.args):
            continue
        count = cpp.evaluate(call.arg_texts[index], cpp.constants(context.file))
        if count is None:
            continue
        # Every element has at least one byte.
        total = count * _SIZES.get(element_type(context, call) or "", 1)
        if total > _UDMA_MOST:
            node = call.args[index]
            yield Hit(node.start_byte, node.end_byte, args={"name": call.name, "bytes": total})
