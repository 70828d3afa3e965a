"""Single cases: a field without a usable value, a scale its bytes do not have, a category nobody knows, an id that misleads."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from opdev.checks.case_lists import COMPUTES, TIERS, design, matrix, op_kind, own_cases
from opdev.design.dtypes import GENERIC, fold_dtype
from opdev.facts.cases import Case, Place, cases_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

CATEGORIES = ("functional", "boundary", "stress", "performance")
_CATEGORY_OF = {
    "功能": "functional", "func": "functional", "smoke": "functional", "basic": "functional", "correctness": "functional",
    "边界": "boundary", "edge": "boundary", "tail": "boundary", "corner": "boundary", "压力": "stress", "repeat": "stress",
    "性能": "performance", "perf": "performance", "bandwidth": "performance", "benchmark": "performance",
}  # fmt: skip
_NEEDED = ("id", "n_pes", "dtype", "rtol", "atol")
_BAD = re.compile(r"[^\w.+-]+|^\.+$")
_PES_IN_ID = re.compile(r"(?:^|[_-])(\d{1,3})pes?(?=[_-]|$)", re.IGNORECASE)
_DTYPE_IN_ID = re.compile(
    r"(?:^|[_-])(fp16|bf16|fp32|float16|bfloat16|float32|int8|int16|int32|int64|uint8)(?=[_-]|$)", re.IGNORECASE
)
_QUOTED = re.compile(rb"""[A-Za-z]*(\"|')([^\"'\n]*)\1""")
_DIVIDES = re.compile(
    r"%\s*(?:n_pes|npes|pe_size|PE\s*数)\s*==\s*0|divisible by (?:n_pes|the PEs?)|被\s*(?:n_pes|PE\s*数)\s*整除"
)
_DENIED = re.compile(r"不|无需|无须|\b(?:not|no)\b")


def incomplete(context: Context) -> Iterator[Hit]:
    """A case without an id, a PE count, a dtype or a tolerance, or with one that cannot be read."""
    found = cases_of(context.file)
    for case in found.cases if found is not None and found.complete else ():
        missing = [name for name in _NEEDED if _said(context, case, name) == "" or not _known(case, name)]
        unread = [name for name in _NEEDED if name in case.places and name not in missing and not _usable(case, name)]
        if missing:
            place = case.places.get("id", (case.start, case.start + 1))
            names = ", ".join("case_id" if name == "id" else name for name in missing)
            yield Hit(*place, args={"missing": names})
        for name in unread:
            args = {"name": case.id, "field": name, "value": _said(context, case, name)}
            yield Hit(*case.places[name], f"unread-{'tolerance' if name.endswith('tol') else name}", args)


def _said(context: Context, case: Case, name: str) -> str | None:
    """A field's value as written, without quotes; None where the case itself has no such field."""
    place = case.places.get(name)
    if place is None:
        return None
    said = context.file.source.text(*place).strip().strip("\"'").strip()
    return "" if said in ("null", "~", "[]", "None") else said


def _known(case: Case, name: str) -> bool:
    """Whether a case has a field, or all cases of the file together do."""
    return name in case.places or bool(case.id if name == "id" else getattr(case, name) is not None)


def _usable(case: Case, name: str) -> bool:
    if name == "n_pes":
        return bool(case.n_pes)
    if name == "dtype":
        return fold_dtype(case.dtype or "") is not None or GENERIC.match(case.dtype or "") is not None
    return name == "id" or getattr(case, name) is not None


def scale_label(context: Context) -> Iterator[Hit]:
    """A scale that is none of the four, or that its bytes per PE do not have."""
    cases = own_cases(context)
    if not cases or op_kind(context) in COMPUTES:
        return
    for case in cases:
        label, right = (case.scale or "").upper(), case.tier
        if not label or label == right or "scale" not in case.places or (label in TIERS and right is None):
            continue
        args = {"name": case.id, "value": case.scale, "right": right, "bytes": _shown(case.bytes_per_pe or 0)}
        fix = _written(context, case.places["scale"], right) if right is not None else None
        yield Hit(*case.places["scale"], "default" if label in TIERS else "unknown", args, fix)


def unknown_category(context: Context) -> Iterator[Hit]:
    """A category that is none of the four, or none where the other cases have one."""
    cases = own_cases(context)
    if any(case.category is None for case in cases) and any(case.category is not None for case in cases):
        for case in cases:
            if case.category is None:
                yield Hit(*case.place("category"), "missing", {"name": case.id})
    for case in cases:
        if case.category is not None and case.category not in CATEGORIES and "category" in case.places:
            nearest = nearest_category(case.category)
            fix = _written(context, case.places["category"], nearest) if nearest else None
            message = "near" if nearest else "default"
            yield Hit(
                *case.places["category"], message, {"name": case.id, "value": case.category, "right": nearest}, fix
            )


def nearest_category(value: str) -> str:
    """The category somebody meant; empty where none is near."""
    lowered = value.strip().lower()[:60]
    known = next((c for word, c in _CATEGORY_OF.items() if word in lowered), "")
    return known or next(iter(difflib.get_close_matches(lowered, CATEGORIES, 1, 0.6)), "")


def malformed_id(context: Context) -> Iterator[Hit]:
    """An id that is no name for a folder, or says other PEs or another dtype than the case."""
    for case in own_cases(context):
        if "id" not in case.places:
            continue
        bad = _BAD.search(case.id)
        if bad:
            right = re.sub(_BAD, "_", case.id.strip()).strip("_")
            fix = _written(context, case.places["id"], right) if right else None
            yield Hit(*case.places["id"], "default", {"name": case.id, "bad": bad.group(), "right": right}, fix)
            continue
        pes = _PES_IN_ID.search(case.id)
        if pes and case.n_pes and int(pes.group(1)) != case.n_pes:
            yield _contradicts(case, pes.group().strip("_-"), "n_pes", str(case.n_pes))
        dtype = _DTYPE_IN_ID.search(case.id)
        own = fold_dtype(case.dtype or "")
        if dtype and own is not None and fold_dtype(dtype.group(1)) != own and not _several(case.id):
            yield _contradicts(case, dtype.group(1), "dtype", case.dtype or "")


def _several(name: str) -> bool:
    return len(_DTYPE_IN_ID.findall(name)) > 1


def _contradicts(case: Case, said: str, field: str, value: str) -> Hit:
    note = {"zh": f"{field} 写在这里", "en": f"its {field} stands here"}
    related = (Related(*case.places[field], note),) if field in case.places else ()
    return Hit(
        *case.places["id"],
        "contradicts",
        {"name": case.id, "said": said, "field": field, "value": value},
        None,
        "warning",
        related,
    )


def duplicate_id(context: Context) -> Iterator[Hit]:
    """Two cases of one id."""
    seen: dict[str, Place] = {}
    taken = {case.id for case in own_cases(context)}
    for case in own_cases(context):
        place = case.places.get("id")
        if place is None or not case.id:
            continue
        if case.id not in seen:
            seen[case.id] = place
            continue
        note = {"zh": "同名用例在这里", "en": "the other case of this id"}
        new = next(n for i in range(2, 10_000) if (n := f"{case.id}_{i}") not in taken)
        taken.add(new)
        fix = _written(context, place, new)
        yield Hit(*place, args={"name": case.id, "new": new}, fix=fix, related=(Related(*seen[case.id], note),))


def indivisible(context: Context) -> Iterator[Hit]:
    """A case whose elements do not divide by its PEs, where the design says they have to."""
    found, document = matrix(context), design(context)
    node = document.get("interface.shape_relations") if document is not None else None
    said = next((n for n in node.walk() if n.kind == "scalar" and _asks(n.said)), None) if node is not None else None
    if found is None or document is None or said is None:
        return
    note = {"zh": "设计的要求", "en": "what the design asks for"}
    related = (Related(said.start, said.end, note, document.file.path),)
    for case in found.cases:
        if case.elements and case.n_pes and case.elements % case.n_pes:
            args = {"name": case.id, "elements": case.elements, "pes": case.n_pes}
            yield Hit(*case.place("shape"), args=args, related=related)


def _asks(text: str) -> bool:
    """Whether a relation asks that the PEs divide; what is denied is not asked."""
    found = _DIVIDES.search(text)
    return found is not None and not _DENIED.search(text[: found.start()])


def _shown(size: int) -> str:
    for unit, factor in (("MB", 1024 * 1024), ("KB", 1024)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"


def _written(context: Context, place: Place, text: str) -> Fix:
    """A value replaced, its quotes kept."""
    start, end = place
    quoted = _QUOTED.fullmatch(context.data, start, end)
    if quoted:
        start, end = quoted.span(2)
    return Fix((Edit(start, end, text),))
