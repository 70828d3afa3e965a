"""Atomics: which types and which chips carry them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from opdev.api import table
from opdev.checks.api_args import element_type
from opdev.rules.context import Context, Project
from opdev.rules.model import Hit
from opdev.syntax import cpp

_ATOMIC = re.compile(rb"\b(?:aclshmemx?|shmem)_\w*atomic_\w+(?=\s*[(<])")
_TYPED = re.compile(r"(?:acl)?shmem_(?P<type>u?int(?:8|16|32|64)|half|float|bfloat16|double|char)_atomic_(?P<op>\w+)")
_ENGINE = re.compile(r"aclshmemx_(?:mte|roce|udma)_atomic_\w+")
_SHORT = {
    "int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64", "uint8_t": "uint8",
    "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64", "float": "float", "half": "half",
    "bfloat16_t": "bfloat16", "double": "double", "char": "char", "int": "int32", "float16_t": "half",
}  # fmt: skip


@cache
def _typed_forms(operation: str) -> tuple[str, ...]:
    """Types for which ``aclshmem_<T>_atomic_<operation>`` exists."""
    found = (table.lookup(f"aclshmem_{t}_atomic_{operation}") for t in dict.fromkeys(_SHORT.values()))
    return tuple(api.type_arg for api in found if api is not None)


def unsupported_atomic_type(context: Context) -> Iterator[Hit]:
    """An atomic on a type it does not exist for."""
    for call in cpp.calls_matching(context, _ATOMIC):
        start, end = call.name_node.start_byte, call.name_node.end_byte
        typed = _TYPED.fullmatch(call.name)
        if typed:
            types = _typed_forms(typed["op"])
            if types and typed["type"] not in types:
                yield Hit(start, end, args={"name": call.name, "type": typed["type"], "types": ", ".join(types)})
            continue
        api = table.lookup(call.name)
        if api is None or not api.types or not _ENGINE.fullmatch(api.name):
            continue
        written = call.targs[0] if call.targs else _pointee(context, call)
        short = _SHORT.get(written or "")
        if short is not None and short not in api.types:
            args = {"name": call.name, "type": written, "types": ", ".join(api.types)}
            yield Hit(start, end, message="engine", args=args)


def _pointee(context: Context, call: cpp.Call) -> str | None:
    """The type behind the first argument alone: the others are values."""
    text = call.arg_texts[0] if call.arg_texts else ""
    cast = re.match(r"\(\s*__gm__\s+([\w:]+)\s*\*\s*\)|reinterpret_cast\s*<\s*__gm__\s+([\w:]+)\s*\*\s*>", text)
    if cast:
        return cast[1] or cast[2]
    if not re.fullmatch(r"[A-Za-z_]\w*(?:\s*\+.*)?", text) or call.function is None:
        return None
    declared = context.file.memo(("api_atomic.declared", context.start, context.end), lambda: _declared(context))
    known = declared.get(text.split("+", 1)[0].strip().encode(), {})
    kinds = [kind for kind, at in known.items() if at < call.function.end_byte]
    return kinds[0] if len(kinds) == 1 else None


_POINTER = re.compile(rb"__gm__\s+(?P<type>\w+)\s*\*\s*(?P<name>\w+)\s*[=,;)]")


def _declared(context: Context) -> dict[bytes, dict[str, int]]:
    """Pointers to GM by name: the types each is declared with, and where that is first."""
    found: dict[bytes, dict[str, int]] = {}
    for match in _POINTER.finditer(context.code, context.start, context.end):
        found.setdefault(match["name"], {}).setdefault(match["type"].decode(), match.start())
    return found


_TARGET = re.compile(rb"\btarget_soc\b[\"'`]?\s*(?::|\|)[^\n]*")
# What the older chips carry: addition on these types, through UB.
_ADD_TYPES = frozenset({"int8", "int16", "half", "bfloat16", "int32", "float"})


def _older_chip(project: Project) -> str | None:
    """The 910B/910C target of the design, if all its targets are of that generation."""
    for file in project.files("design-doc"):
        match = _TARGET.search(file.data)
        if match:
            targets = re.findall(rb"(?i)ascend\w+", match.group())
            if targets and all(re.match(rb"(?i)ascend910(?:b|c|_93)", t) for t in targets):
                return str(targets[0].decode())
    return None


def atomic_needs_newer_chip(context: Context) -> Iterator[Hit]:
    """An atomic that Ascend950 has and the design's 910B/910C target lacks."""
    if context.project is None:
        return
    chip: str | None = None
    for call in cpp.calls_matching(context, _ATOMIC):
        api = table.lookup(call.name)
        if api is None or not cpp.is_device(context.file, call.function):
            continue
        if api.name == "aclshmemx_mte_atomic_add" or api.family == "aclshmem_<T>_atomic_add":
            kind = api.type_arg or _SHORT.get((call.targs[0] if call.targs else element_type(context, call)) or "", "")
            if not kind or kind in _ADD_TYPES:
                continue
        chip = chip or _older_chip(context.project)
        if chip is None:
            return
        start, end = call.name_node.start_byte, call.name_node.end_byte
        yield Hit(start, end, args={"name": call.name, "chip": chip})
