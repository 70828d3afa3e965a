"""UB addresses as they are written: named, and on a 32-byte block."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.ub_pointers import UbPointer, label, pointers, scope_end
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit


def misaligned_offset(context: Context) -> Iterator[Hit]:
    """A UB address handed to a transfer that is not on a 32-byte block."""
    for pointer in pointers(context):
        offset = pointer.offset
        if offset is None or offset % 32 == 0 or not _handed_on(context, pointer):
            continue
        rounded = (offset + 31) // 32 * 32
        fix = None
        if re.fullmatch(r"\d+", pointer.text):
            fix = Fix((Edit(*pointer.operand, str(rounded)),))
        args = {"name": label(pointer), "offset": offset, "rounded": rounded}
        yield Hit(*pointer.operand, args=args, fix=fix)


def _handed_on(context: Context, pointer: UbPointer) -> bool:
    """Whether the pointer is an argument somewhere (a scalar access needs no alignment)."""
    if not pointer.name:
        return True
    after = context.code[pointer.operand[1] : scope_end(context, pointer)]
    return re.search(rb"[(,]\s*" + re.escape(pointer.name.encode()) + rb"\s*[,)]", after) is not None


def magic_offset(context: Context) -> Iterator[Hit]:
    """A UB address written as a number where it is used."""
    for pointer in pointers(context):
        bare = re.sub(r"\b(?:u?int(?:32|64)_t|size_t)\b|static_cast\s*<[^<>]*>", "", pointer.text)
        if not re.search(r"\d", bare) or re.search(r"(?<![\w'])[A-Za-z_]", bare):
            continue
        if pointer.offset == 0 and _explained(context, pointer):
            continue
        name = f"kUb{_camel(pointer.name)}Offset" if pointer.name else "kUb…Offset"
        args = {"text": " ".join(pointer.text.split()), "constant": name}
        yield Hit(*pointer.operand, args=args, fix=_named_offset(context, pointer, name))


def _explained(context: Context, pointer: UbPointer) -> bool:
    """Whether a comment stands on the pointer's line or on the one above."""
    data = context.data
    begin = max(data.rfind(b"\n", context.start, pointer.start) + 1, context.start)
    end = data.find(b"\n", pointer.start, context.end)
    shown = data[begin : end if end >= 0 else context.end]
    above = data[
        max(data.rfind(b"\n", context.start, max(begin - 1, context.start)) + 1, context.start) : begin
    ].strip()
    return b"//" in shown or b"/*" in shown or above.startswith((b"//", b"*", b"/*"))


def _named_offset(context: Context, pointer: UbPointer, constant: str) -> Fix | None:
    """The constant, defined on a line of its own before the declaration."""
    if not pointer.name:
        return None
    source = context.file.source
    begin, _ = source.line_range(source.line_of(pointer.start))
    lead = context.data[begin : pointer.start]
    indent = lead[: len(lead) - len(lead.lstrip())]
    if (
        not re.match(rb"\s*(?:const\s+|auto\s+|__ubuf__\b)", lead)
        or constant.encode() in context.code[context.start : context.end]
    ):
        return None
    inner = pointer.text
    wrapped = re.fullmatch(r"(?:u?int64_t|static_cast\s*<\s*u?int64_t\s*>)\s*\((.*)\)", inner, re.DOTALL)
    if wrapped and wrapped[1].count("(") == wrapped[1].count(")"):
        inner = wrapped[1].strip()
    line = f"{indent.decode()}constexpr uint64_t {constant} = {inner};\n"
    return Fix((Edit(begin, begin, line), Edit(*pointer.operand, constant)))


def _camel(name: str) -> str:
    parts = [part for part in name.split("_") if part.lower() != "ub"]
    return "".join(part[:1].upper() + part[1:] for part in parts)
