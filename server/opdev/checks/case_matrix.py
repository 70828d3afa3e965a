"""Whether the case matrix as a whole covers what it has to: counts, scales, PEs, edges, dtypes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.case_fields import CATEGORIES
from opdev.checks.case_lists import COMPUTES, TIERS, data_dtypes, design, matrix, op_kind, scale_of
from opdev.design.dtypes import fold_dtype
from opdev.facts.cases import Case, CaseList
from opdev.rules.context import Context
from opdev.rules.model import Hit

_FEWEST = 20
_SHAPES = 4
_EDGES = 4
_UB = (185 * 1024, 195 * 1024)
_BLOCK = 32
_LABEL = re.compile(r"\bB([1-8])\b")
_UNMET = re.compile(r"未满足|不满足|暂不|无法|受限|unmet|not met|cannot", re.IGNORECASE)
_ONCE = re.compile(
    r"(?:signal|信号|状态|state)[^\n。；;]{0,30}(?:不复用|不会复用|不重复使用|never reused|not reused)"
    r"|(?:不复用|从不复用|no reuse of)[^\n。；;]{0,12}(?:signal|信号|状态|state)",
    re.IGNORECASE,
)
_WORDS: dict[int, re.Pattern[str]] = {
    1: re.compile(r"尾块|chunk[_ -]?tail|tail[_ -]?chunk|不整除 ?chunk", re.IGNORECASE),
    3: re.compile(r"非对齐|不对齐|未对齐|unaligned|非 ?2 ?(?:的)?幂", re.IGNORECASE),
    4: re.compile(r"退化|单元素|单行|degenerate|single (?:element|row)", re.IGNORECASE),
    5: re.compile(r"UB ?(?:边界|容量)|ub[_ -]?(?:edge|boundary|limit)", re.IGNORECASE),
}
_MUST = (1, 2, 3, 5)
_SHOULD = (4, 7, 8)


def too_few(context: Context) -> Iterator[Hit]:
    """Fewer than twenty cases."""
    found = matrix(context)
    if found is not None and len(found.cases) < _FEWEST:
        yield _whole(found, count=len(found.cases), lacking=_FEWEST - len(found.cases))


def scales(context: Context) -> Iterator[Hit]:
    """A scale no case has, and nobody says why."""
    found = matrix(context)
    if found is None or not found.cases or any(scale_of(c) is None for c in found.cases):
        return
    there = {scale_of(c) for c in found.cases}
    lacking = [t for t in TIERS if t not in there and not _excused(context, found, t)]
    if lacking:
        yield _whole(found, missing=", ".join(lacking))


def _excused(context: Context, found: CaseList, tier: str) -> bool:
    """Whether somewhere it is said that cases of this scale cannot be."""
    document = design(context)
    texts = [t for c in found.cases for t in (c.special, c.purpose) if t]
    if document is not None:
        node = document.get("correctness")
        texts += node.text.splitlines() if node is not None else []
    named = re.compile(rf"(?<![A-Za-z]){tier}(?![A-Za-z])")
    return any(_UNMET.search(t[:300]) and named.search(t[:300]) for t in texts)


def pe_counts(context: Context) -> Iterator[Hit]:
    """No case on 2 PEs or none on 8; none on 4 is a hint."""
    found = matrix(context)
    if found is None or not found.cases or any(c.n_pes is None for c in found.cases):
        return
    there = {c.n_pes for c in found.cases}
    lacking = [str(n) for n in (2, 8) if n not in there]
    if lacking:
        yield _whole(found, missing=", ".join(lacking))
    elif 4 not in there:
        yield Hit(found.start, found.end, "four", severity="hint")


def functional(context: Context) -> Iterator[Hit]:
    """Fewer functional cases (large performance ones counted) than four shapes for each dtype."""
    found = matrix(context)
    # A category that is missing or misspelt is told, and may be the one that is counted.
    if found is None or not found.cases or any(c.category not in CATEGORIES for c in found.cases):
        return
    counted = [
        c for c in found.cases if c.category == "functional" or (c.category == "performance" and scale_of(c) == "L")
    ]
    dtypes = {fold_dtype(c.dtype or "") for c in found.cases} - {None}
    wanted = _SHAPES * max(1, len(dtypes))
    if len(counted) < wanted:
        yield _whole(found, count=len(counted), wanted=wanted, dtypes=len(dtypes))


def boundary(context: Context) -> Iterator[Hit]:
    """Edges no case tests; a case that says it divides unevenly and does not."""
    found = matrix(context)
    if found is None or not found.cases:
        return
    for case in found.cases:
        if 2 in _labels(case) and _divides(case):
            args = {"name": case.id, "shape": case.shape, "pes": case.n_pes}
            yield Hit(*case.place("shape"), "even", args, severity="warning")
    covered = {kind for case in found.cases for kind in _kinds(case)}
    edges = [c for c in found.cases if c.category == "boundary"]
    lacking = [f"B{k}" for k in _MUST if k not in covered]
    if lacking:
        yield _whole(found, missing=", ".join(lacking))
    elif len(edges) < _EDGES and all(c.category is not None for c in found.cases):
        yield Hit(found.start, found.end, "few", {"count": len(edges)})
    rest = [f"B{k}" for k in _SHOULD if k not in covered]
    if rest:
        yield Hit(found.start, found.end, "rest", {"missing": ", ".join(rest)}, severity="warning")


def _labels(case: Case) -> set[int]:
    return {int(n) for n in _LABEL.findall(f"{(case.special or '')[:300]} {(case.purpose or '')[:300]}")}


def _kinds(case: Case) -> set[int]:
    """The edges a case tests: what it says, but B2, B7 and B8, which numbers decide."""
    text = f"{case.id} {(case.special or '')[:300]} {(case.purpose or '')[:300]}"
    found = _labels(case) - {2, 7, 8}
    found |= {kind for kind, words in _WORDS.items() if words.search(text)}
    size, dims = case.bytes_per_pe, _dims(case)
    if size is not None:
        if size % _BLOCK and size > _BLOCK:
            found.add(3)
        if _UB[0] <= size <= _UB[1]:
            found.add(5)
        if size >= 64 * 1024 and size % 512:
            found.add(1)
    if dims and (1 in dims):
        found.add(4)
    if case.n_pes and case.n_pes > 1 and (_divides(case) is False or (2 in _labels(case) and not dims)):
        found.add(2)
    if (case.n_pes, scale_of(case)) == (2, "L"):
        found.add(7)
    if (case.n_pes, scale_of(case)) == (8, "XS"):
        found.add(8)
    return found


def _dims(case: Case) -> list[int]:
    parts = re.findall(r"\d+", case.shape or "") if case.elements is not None else []
    return [int(p) for p in parts if len(p) < 12]


def _divides(case: Case) -> bool | None:
    """Whether rows and elements both divide by the PEs; None where that is not known."""
    dims = _dims(case)
    if not dims or case.elements is None or not case.n_pes or case.n_pes < 2:
        return None
    return case.elements % case.n_pes == 0 and (len(dims) < 2 or dims[0] % case.n_pes == 0)


def stress(context: Context) -> Iterator[Hit]:
    """No case that launches several times, though signals are used again."""
    found = matrix(context)
    if found is None or not found.cases:
        return
    if any(c.rounds >= 3 or (c.category == "stress" and c.repeat is None and c.rounds == 1) for c in found.cases):
        return
    document = design(context)
    if document is not None and _ONCE.search(
        " ".join(document.text(p) for p in ("memory", "correctness", "schedule"))[:50_000]
    ):
        return
    once = next((c for c in found.cases if c.category == "stress"), None)
    if once is not None:
        yield Hit(*once.place("repeat"), "few", {"name": once.id, "count": once.rounds})
    else:
        yield _whole(found)


def performance(context: Context) -> Iterator[Hit]:
    """No large case on 8 PEs."""
    found = matrix(context)
    if found is None or not found.cases or any(c.n_pes is None or scale_of(c) is None for c in found.cases):
        return
    if not any(c.n_pes == 8 and scale_of(c) == "L" for c in found.cases):
        yield _whole(found)


def dtypes(context: Context) -> Iterator[Hit]:
    """A dtype of the design that no case of a scale has."""
    found, document = matrix(context), design(context)
    if found is None or document is None or any(fold_dtype(c.dtype or "") is None for c in found.cases):
        return
    # One that no case has at all is told by case-dtype-mismatch.
    tested = {fold_dtype(c.dtype or "") for c in found.cases}
    wanted = [d for d in data_dtypes(document) if d in tested]
    lacking = []
    for tier in TIERS:
        there = {fold_dtype(c.dtype or "") for c in found.cases if scale_of(c) == tier}
        missing = [d for d in wanted if d not in there]
        if there and missing and (tier != "L" or len(missing) == len(wanted)):
            lacking.append(f"{tier}: {', '.join(missing)}")
    if lacking:
        yield _whole(found, missing="; ".join(lacking))


def too_small_large(context: Context) -> Iterator[Hit]:
    """A large case whose data over all PEs stays below 256 MB."""
    from opdev.design.derived import TOTAL_FLOOR, total_bytes

    found = matrix(context)
    if found is None or op_kind(context) in COMPUTES:
        return
    for case in found.cases:
        size = case.bytes_per_pe
        if size is None or case.n_pes is None or scale_of(case) != "L" or case.tier != "L":
            continue
        total = total_bytes(size, case.n_pes)
        if total < TOTAL_FLOOR:
            args = {
                "name": case.id,
                "total": f"{total / 1024 / 1024:.4g}",
                "pes": case.n_pes,
                "needed": TOTAL_FLOOR // case.n_pes // 1024 // 1024,
            }
            yield Hit(*case.place("shape"), args=args)


def _whole(found: CaseList, message: str = "default", **args: object) -> Hit:
    return Hit(found.start, found.end, message, args)
