"""Engines and instances: what the host switches on and what the kernel then uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.api import table
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp

_BIT = re.compile(rb"\bACLSHMEM_DATA_OP_(MTE|SDMA|ROCE|UDMA)\b")
_ASSIGNED = re.compile(rb"\bdata_op_engine_type\s*(?:\|\s*)?=(?!=)\s*([^;{}]*);")
# What an engine expression may hold and still be read: the bits, casts, operators.
_READABLE = re.compile(
    rb"(?:ACLSHMEM_DATA_OP_\w+|static_cast|data_op_engine_type_t|\(|\)|<|>|\||\s|[\w.\->]*data_op_engine_type)*"
)
_INIT = re.compile(rb"\b(?:aclshmemx_init_attr|aclshmem_init|shmem_init)\s*\(")
# An attribute handed to a function of the operator's own, or of a header outside it, may be changed there.
_HANDED_ON = re.compile(rb"\b([A-Za-z_]\w*)\s*\([^;{}()]*(?:&\s*|\b)attr(?:ibute)?s?\b(?!\s*[.\-\[])[^;{}()]*\)")
_HARMLESS = frozenset({b"aclshmemx_init_attr", b"aclshmem_init", b"shmem_init", b"shmem_init_attr", b"memset", b"sizeof",
                       b"aclshmemx_set_attr_uniqueid_args", b"aclshmemx_set_attr", b"if", b"while", b"return"})  # fmt: skip


@dataclass(frozen=True)
class Engines:
    """Engines the operator's host code switches on; ``explicit`` if it says so at all."""

    enabled: frozenset[str]
    explicit: bool


def engines_of(project: Project) -> Engines | None:
    """What the host enables; None where the text does not tell (helpers, no init, Python)."""
    enabled: set[str] = set()
    explicit = initialised = handed_on = False
    for file in project.files("cpp"):
        code = file.code
        if b"ACLSHMEM_DATA_OP_" in code:
            enabled.update(m[1].decode() for m in _BIT.finditer(code))
        for match in _ASSIGNED.finditer(code):
            explicit = True
            if not _READABLE.fullmatch(match[1]):
                return None
        if _INIT.search(code):
            initialised = True
            if b"data_op_engine_type" not in code:
                # A main of its own that says nothing gets the default.
                enabled.add("MTE")
                handed_on = handed_on or any(m[1] not in _HARMLESS for m in _HANDED_ON.finditer(code))
    if not initialised or (not explicit and (handed_on or enabled - {"MTE"})):
        return None
    return Engines(frozenset(enabled or {"MTE"}), explicit)


_ENGINE_CALL = re.compile(rb"\baclshmemx_(?:sdma|roce|udma|cmo)_\w+|\baclshmem_roce_ptr\b|\bshmem_roce_\w+")
_ENGINE_OF = {"sdma": "SDMA", "cmo": "SDMA", "roce": "ROCE", "udma": "UDMA"}


def engine_not_enabled(context: Context) -> Iterator[Hit]:
    """An engine's call in a kernel while the host leaves that engine off."""
    if context.project is None:
        return
    first: dict[str, cpp.Call] = {}
    for call in cpp.calls_matching(context, _ENGINE_CALL):
        engine = next((e for word, e in _ENGINE_OF.items() if f"_{word}_" in call.name), None)
        if engine and engine not in first and table.lookup(call.name) and cpp.is_device(context.file, call.function):
            first[engine] = call
    if not first:
        return
    engines = engines_of(context.project)
    if engines is None:
        return
    for engine, call in first.items():
        if engine not in engines.enabled:
            args = {"name": call.name, "engine": engine, "enabled": " | ".join(sorted(engines.enabled))}
            yield Hit(
                call.name_node.start_byte,
                call.name_node.end_byte,
                message="default" if engines.explicit else "unset",
                args=args,
            )


def transport_bit(context: Context) -> Iterator[Hit]:
    """``ACLSHMEM_TRANSPORT_*`` given to ``data_op_engine_type``."""
    for match in _ASSIGNED.finditer(context.code, context.start, context.end):
        for bit in re.finditer(rb"\bACLSHMEM_TRANSPORT_(MTE|ROCE|SDMA|UDMA)\b", match[1]):
            start = match.start(1) + bit.start()
            new = "ACLSHMEM_DATA_OP_" + bit[1].decode()
            fix = Fix((Edit(start, start + len(bit.group()), new),))
            yield Hit(start, start + len(bit.group()), args={"name": bit.group().decode(), "new": new}, fix=fix)


_LOGIC = re.compile(rb"\b(?:acl)?shmem_u?int(?:32|64)_atomic_(?:fetch_)?(?:and|or|xor)\b")
_PUT_SIGNAL = re.compile(rb"\b(?:acl)?shmemx?_(?!udma)\w*put\w*_signal(?:_nbi)?\b|\bshmem_put_\w+_signal(?:_nbi)?\b")


def logic_atomic_over_mte(context: Context) -> Iterator[Hit]:
    """Bitwise atomics while neither RDMA nor UDMA is on."""
    found = cpp.calls_matching(context, _LOGIC)
    engines = engines_of(context.project) if found and context.project is not None else None
    if engines is None or engines.enabled & {"ROCE", "UDMA"}:
        return
    for call in found:
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"name": call.name})


def signal_add_over_rdma(context: Context) -> Iterator[Hit]:
    """``ACLSHMEM_SIGNAL_ADD`` while RDMA is the only engine."""
    found = list(context.find("ACLSHMEM_SIGNAL_ADD"))
    if not found or context.project is None:
        return
    engines = engines_of(context.project)
    if engines is None or engines.enabled != {"ROCE"}:
        return
    for at in found:
        node = context.node_at(at, at + 19)
        if node is not None and node.parent is not None and node.parent.type == "argument_list":
            yield Hit(at, at + 19)


def put_signal_without_mte(context: Context) -> Iterator[Hit]:
    """The put-with-signal family while MTE is off."""
    found = [
        call
        for call in cpp.calls_matching(context, _PUT_SIGNAL)
        if (api := table.lookup(call.name)) is not None and "_udma_" not in api.name
    ]
    engines = engines_of(context.project) if found and context.project is not None else None
    if engines is None or "MTE" in engines.enabled:
        return
    for call in found:
        args = {"name": call.name, "enabled": " | ".join(sorted(engines.enabled))}
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args=args)


_RELAY = ("aclshmemx_udma_relay_put_nbi", "aclshmemx_udma_relay_get_nbi")


def unchecked_relay(context: Context) -> Iterator[Hit]:
    """A relayed UDMA call in a function that never compares its relay PE."""
    for call in cpp.calls(context, *_RELAY):
        if len(call.args) < 6 or call.function is None:
            continue
        relay = call.arg_texts[5]
        if not re.fullmatch(r"[A-Za-z_]\w*", relay):
            continue
        passed_in = any(name == relay for _, name in cpp.parameters(context.file, call.function))
        if passed_in and not cpp.is_kernel_entry(context.file, call.function):
            continue
        body = context.code[call.function.start_byte : call.start]
        word = re.escape(relay.encode())
        if not re.search(rb"\b" + word + rb"\s*[!=]=|[!=]=\s*" + word + rb"\b", body):
            node = call.args[5]
            yield Hit(node.start_byte, node.end_byte, args={"name": call.name, "relay": relay})


_DEFINED = re.compile(rb"\bMULTI_INSTANCE\b")


def _multi_instance(project: Project) -> bool:
    """Whether the operator is built with MULTI_INSTANCE."""
    if any(_DEFINED.search(f.nocomment) or b"-DMULTI_INSTANCE" in f.nocomment for f in project.files("cmake")):
        return True
    return any(re.search(rb"#[ \t]*define[ \t]+MULTI_INSTANCE\b", f.code) for f in project.files("cpp"))


def instance_without_macro(context: Context) -> Iterator[Hit]:
    """``aclshmemx_instance_ctx_set`` in device code of a build without MULTI_INSTANCE."""
    for call in cpp.calls(context, "aclshmemx_instance_ctx_set"):
        if context.project is None or not cpp.is_device(context.file, call.function):
            continue
        if not any(True for _ in context.project.files("cmake")) or _multi_instance(context.project):
            return
        yield Hit(call.name_node.start_byte, call.name_node.end_byte, args={"name": call.name})


def missing_instance_context(context: Context) -> Iterator[Hit]:
    """A kernel of a multi-instance build that uses SHMEM without choosing its instance."""
    if context.project is None or next(context.find("aclshmemx_instance_ctx_set"), None) is not None:
        return
    entries = [f for f in cpp.functions(context) if cpp.is_kernel_entry(context.file, f)]
    if not entries or not _multi_instance(context.project):
        return
    if any(b"aclshmemx_instance_ctx_set" in f.words for f in context.project.files("kernel")):
        return
    for entry in entries:
        for match in re.finditer(rb"\baclshmemx?_\w+(?=\s*[(<])", context.code[entry.start_byte : entry.end_byte]):
            start = entry.start_byte + match.start()
            call = cpp.call_at(context.file, start, start + len(match.group()))
            if call is not None and table.lookup(call.name) is not None:
                args = {"name": call.name, "kernel": cpp.function_name(context.file, entry)}
                yield Hit(call.name_node.start_byte, call.name_node.end_byte, args=args)
                break
