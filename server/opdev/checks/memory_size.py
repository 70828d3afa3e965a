"""How large: the heap every PE reserves, and what an allocation's size is counted in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.facts.heap_calls import Allocation, allocations, is_test, names_pe
from opdev.facts.local_values import function_range, value
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp

_HEAP = re.compile(rb"\blocal_mem_size\s*=(?!=)\s*(?P<value>[^;{}]+);")
_MOST = 40 << 30
_PAGE = 2 << 20
_INT_MAX = (1 << 31) - 1
_DIVIDED = re.compile(r"\s*/\s*sizeof\s*\([^()]*\)")
_MULTIPLIED = re.compile(r"\*\s*sizeof\b|\bsizeof\s*\([^()]*\)\s*\*")
_SLOTS = re.compile(r"\b\w*SYNC_FLAG_INTERVAL\b")
_BYTES = re.compile(r"\b\w*(?i:bytes|_size|size_)\w*\b")


def heap_size(context: Context) -> Iterator[Hit]:
    """``local_mem_size`` by PE, out of range, wrapped round, or not in whole pages."""
    if is_test(context):
        return
    for match in _HEAP.finditer(context.code):
        start, end = match.span("value")
        text = context.code[start:end].decode("utf-8", "replace")
        if _is_default(context, match.start()):
            continue
        if names_pe(text):
            yield Hit(start, end, "by-pe", {"value": text.strip()})
            continue
        number = value(context, text, match.start())
        if number is None:
            continue
        if _overflows(text):
            literal = re.search(r"\d+", text)
            fix = None
            if literal is not None:
                fix = Fix((Edit(start + literal.end(), start + literal.end(), "UL"),), "overflow", "safe")
            yield Hit(start, end, "overflow", {"value": text.strip(), "number": number}, fix)
        elif number <= 0:
            yield Hit(start, end, "zero", {"value": number})
        elif number > _MOST:
            yield Hit(start, end, "large", {"value": number})
        elif number % _PAGE:
            rounded = (number + _PAGE - 1) // _PAGE * _PAGE
            fix = None
            if re.fullmatch(r"[\d\s*+()uUlL]+", text):
                fix = Fix((Edit(start, end, f"{rounded}UL"),))
            yield Hit(start, end, args={"value": number, "rounded": rounded}, fix=fix, severity="warning")


def _is_default(context: Context, at: int) -> bool:
    """Whether this is a member's or a parameter's default, a placeholder until it is set."""
    node = context.node_at(at, at + 1)
    return node is not None and node.parent is not None and node.parent.type in (
        "field_declaration", "optional_parameter_declaration",
    )  # fmt: skip


def _overflows(text: str) -> bool:
    """Whether a product of plain int literals leaves the range of int on the way."""
    if not re.fullmatch(r"[\d\s*]+", text.strip()):
        return False
    product = 1
    for factor in text.split("*"):
        number = int(factor) if factor.strip().isdecimal() else 0
        if number > _INT_MAX:
            return False
        product *= number
        if product > _INT_MAX:
            return True
    return False


def mixed_units(context: Context) -> Iterator[Hit]:
    """A size that adds bytes and elements, or counts int32 flag slots as elements of T."""
    for one in allocations(context):
        if one.call.name.endswith("_calloc") or not one.size_text:
            continue
        index = 1 if one.call.name.endswith("_align") else 0
        node = one.call.args[index]
        start, text = node.start_byte, one.size_text
        if re.fullmatch(r"[A-Za-z_]\w*", text):
            found = _definition(context, text, one.call.start)
            if found is None:
                continue
            start, text = found
        yield from _judge(context, one, start, text)


def _definition(context: Context, name: str, at: int) -> tuple[int, str] | None:
    """(offset, text) of the expression a local size was given."""
    begin, _ = function_range(context, at)
    pattern = re.compile(rb"(?<![\w.>])" + re.escape(name.encode()) + rb"\s*=(?!=)\s*(?P<v>[^;{}]+);")
    found = list(pattern.finditer(context.code, begin, at))
    if not found:
        return None
    start, end = found[-1].span("v")
    return start, context.data[start:end].decode("utf-8", "replace").rstrip()


def _judge(context: Context, one: Allocation, start: int, text: str) -> Iterator[Hit]:
    slots = _slots_as_elements(context, one, start, text)
    if slots is not None:
        yield slots
        return
    terms = _terms(text)
    in_bytes = [t for _, t in terms if _MULTIPLIED.search(t) or (_BYTES.search(t) and not _DIVIDED.search(t))]
    for offset, term in terms:
        begin = start + len(text[:offset].encode())
        stop = begin + len(term.encode())
        divided = _DIVIDED.search(term)
        others = [t for t in in_bytes if t is not term]
        if divided is not None and others and not _MULTIPLIED.search(term):
            low = begin + len(term[: divided.start()].encode())
            high = begin + len(term[: divided.end()].encode())
            fix = Fix((Edit(low, high, ""),))
            yield Hit(begin, stop, args={"term": term, "call": one.call.name}, fix=fix)
        elif _counts_slots(context, term) and (others or len(terms) == 1):
            fix = Fix((Edit(stop, stop, " * sizeof(int32_t)"),), "slots")
            yield Hit(begin, stop, "slots", {"term": term, "call": one.call.name}, fix)


def _counts_slots(context: Context, term: str) -> bool:
    """Whether a term is a number of int32 slots (an interval of 64 and more is in bytes already)."""
    found = _SLOTS.search(term)
    if found is None or "sizeof" in term:
        return False
    return cpp.constants(context.file).get(found.group(), 16) < 64


def _terms(text: str) -> list[tuple[int, str]]:
    """(offset, term) of a sum's terms outside parentheses; the whole text where it is no sum."""
    terms: list[tuple[int, str]] = []
    depth = at = 0
    for index, char in enumerate(text + "+"):
        depth += (char in "([") - (char in ")]")
        if char == "+" and depth == 0:
            piece = text[at:index]
            lead = len(piece) - len(piece.lstrip())
            terms.append((at + lead, piece.strip()))
            at = index + 1
    return terms


_COUNTED = re.compile(r"\(\s*(?P<sum>[^()]*)\)\s*\*\s*sizeof\s*\(\s*(?P<type>[\w:]+)\s*\)")
_FOUR_BYTES = {"int32_t", "uint32_t", "int", "float", "unsigned"}


def _slots_as_elements(context: Context, one: Allocation, start: int, text: str) -> Hit | None:
    """``(elems + n * SYNC_FLAG_INTERVAL) * sizeof(T)``: the flags are int32, not T."""
    match = _COUNTED.fullmatch(text.strip())
    name = re.fullmatch(r"([A-Za-z_]\w*)\s*\*\s*sizeof\s*\(\s*([\w:]+)\s*\)", text.strip())
    if match is not None:
        total, kind = match["sum"], match["type"]
    elif name is not None:
        found = _definition(context, name[1], one.call.start)
        if found is None:
            return None
        total, kind = found[1], name[2]
    else:
        return None
    terms = [t for _, t in _terms(total)]
    flags = [t for t in terms if _counts_slots(context, t)]
    if len(terms) < 2 or not flags or kind.rpartition("::")[2] in _FOUR_BYTES:
        return None
    fix = None
    if match is not None:
        parts = [f"{t} * sizeof({'int32_t' if t in flags else kind})" for t in terms]
        fix = Fix((Edit(start, start + len(text.encode()), " + ".join(parts)),), "split")
    args = {"term": flags[0], "type": kind, "call": one.call.name}
    return Hit(start, start + len(text.encode()), "elements", args, fix)
