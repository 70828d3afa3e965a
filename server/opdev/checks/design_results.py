"""How a design says its results are judged: oracle, tolerance, invariants, cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import as_mapping, begun, lacking, overwrite, settled, wrong
from opdev.checks.design_problems import below, design, fix_of, problems, related
from opdev.design.derived import expected_tolerance
from opdev.design.dtypes import fold_dtype, number, split_dtypes
from opdev.rules.context import Context
from opdev.rules.model import Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.nodes import Node

_TOLERANCE = "correctness.tolerance"
_INVARIANTS = "correctness.invariants"
_CASES = "correctness.case_matrix"
_UNWRITTEN = "replace_me"
_METHODS = (
    ("rank pattern", r"rank[ _-]?pattern"), ("file golden", r"file[ _-]?golden|golden\s*文件|文件\s*golden"),
    ("intermediate check", r"intermediate|中间"), ("CPU golden", r"cpu[ _-]?golden|numpy|pytorch|torch"),
)  # fmt: skip
_CATEGORIES = (
    ("stress", r"stress|repeat|soak|压力|重复"), ("boundary", r"tail|bound|edge|odd|边界|尾"),
    ("performance", r"perf|large|性能"), ("functional", r""),
)  # fmt: skip


def oracle(context: Context) -> Iterator[Hit]:
    """Nothing decides what is right."""
    yield from lacking(context, "correctness.oracle")
    yield from (hit for _, hit in wrong(context, "correctness.oracle", codes=("empty-value", "wrong-type")))


def standard(document: DesignDocument) -> dict[str, float] | None:
    """The standard's rtol (which atol equals) for each confirmed dtype; None where one has none."""
    kind, name = document.text("meta.op_kind"), document.text("meta.op_name")
    node = document.get("source.user_confirmations.dtypes")
    words = split_dtypes(node.text[:2000]) if node is not None else []
    found: dict[str, float] = {}
    for word in words[:40]:
        dtype = fold_dtype(word)
        value = expected_tolerance(kind, dtype, name) if dtype is not None and kind else None
        if dtype is None or value is None:
            return None
        found[dtype] = value
    return found or None


def written(values: dict[str, float]) -> str:
    """Tolerances as YAML: one number where they are alike, else one for each dtype."""
    if len(set(values.values())) == 1:
        return decimal(next(iter(values.values())))
    return "{" + ", ".join(f"{dtype}: {decimal(value)}" for dtype, value in values.items()) + "}"


def decimal(value: float) -> str:
    """0.00390625 rather than 3.90625e-03: what YAML reads as a number in every loader."""
    return f"{value:.17f}".rstrip("0").rstrip(".") if value else "0"


def tolerance(context: Context) -> Iterator[Hit]:
    """rtol or atol is not there, or is no number."""
    document = design(context)
    limits = standard(document)
    values: dict[str, str] = {}
    if limits is not None:
        values = {"rtol": written(limits), "atol": written(limits)}
        values["tolerance"] = "  rtol: {rtol}\n  atol: {atol}\n".format(**values)
    other = {key: document.get(f"{_TOLERANCE}.{key}") for key in ("rtol", "atol")}
    for key, twin in (("atol", "rtol"), ("rtol", "atol")):
        node = other[twin]
        if node is not None and node.kind == "scalar" and isinstance(number(node.data()), (int, float)):
            values[key] = node.text
    yield from lacking(context, _TOLERANCE, values=lambda _: values)
    for problem, hit in wrong(context, _TOLERANCE, codes=("empty-value", "wrong-number", "wrong-type", "out-of-range")):
        node = document.get(problem.path)
        text = values.get(node.key or "") if node is not None and node.path != _TOLERANCE else None
        fix = overwrite(node, text, "fill") if text is not None else None
        yield Hit(hit.start, hit.end, hit.message, hit.args, fix)


def off_standard(context: Context) -> Iterator[Hit]:
    """A tolerance the precision standard does not have."""
    document = design(context)
    flagged: set[tuple[int, int]] = set()
    for problem in problems(context, "tolerance-not-zero", "tolerance-loose", "tolerance-for-all"):
        node = document.get(problem.path)
        flagged.add((problem.start, problem.end))
        # Where the standard has another value for another dtype, one value cannot be right for all.
        several = (
            node is not None and node.key in ("rtol", "atol") and len(set((standard(document) or {}).values())) > 1
        )
        text = _for_each(document, node) if several else str(problem.args["standard"])
        title = "tolerance-for-all" if several else problem.code
        fix = overwrite(node, text, title) if text is not None else None
        yield Hit(problem.start, problem.end, problem.code, problem.args, fix)
    for problem in problems(context, "tolerance-unequal"):
        # Once the other finding is mended they may be alike.
        if (problem.start, problem.end) in flagged or problem.related in flagged:
            continue
        fix = overwrite(document.get(problem.path), str(problem.args["expected"]), "tolerance-unequal")
        more = related(problem, "rtol 在这里", "rtol is here")
        yield Hit(problem.start, problem.end, problem.code, problem.args, fix, related=more)


def _for_each(document: DesignDocument, node: Node | None) -> str | None:
    """One value for all dtypes as one for each, none wider than before."""
    limits = standard(document)
    value = number(node.data()) if node is not None else None
    if limits is None or not isinstance(value, (int, float)):
        return None
    return written({dtype: min(float(value), limit) for dtype, limit in limits.items()})


def invariants(context: Context) -> Iterator[Hit]:
    """No invariant, or one that is not a mapping of what, how and where."""
    document = design(context)
    how = _guessed(document.text("correctness.oracle"), _METHODS) or _UNWRITTEN
    yield from _whole(lacking(context, _INVARIANTS, values=lambda _: {"test_method": how}))
    for problem, hit in wrong(context, _INVARIANTS, codes=("empty-value", "wrong-type")):
        if problem.code == "empty-value" and problem.path == _INVARIANTS:
            yield Hit(hit.start, hit.end, "none", fix=begun(document, problem.path))
            continue
        node = document.get(problem.path)
        item = problem.code == "wrong-type" and problem.path.endswith("]")
        fix = as_mapping(node, "invariant", {"test_method": how, "case": _UNWRITTEN}) if item else None
        message = "text" if item and node is not None and node.kind == "scalar" else hit.message
        yield Hit(hit.start, hit.end, message, hit.args, fix)


def _whole(hits: Iterator[Hit]) -> Iterator[Hit]:
    """The list itself that is not there is more than one of its items without a key: message ``absent``."""
    for hit in hits:
        yield hit if hit.args["in"] != "correctness" else Hit(hit.start, hit.end, "absent", hit.args, hit.fix)


def test_method(context: Context) -> Iterator[Hit]:
    """A test method nobody knows how to run."""
    from opdev.design.changes import replace

    for problem in below(context, [f"{_INVARIANTS}[].test_method"], "wrong-enum"):
        node, meant = design(context).get(problem.path), problem.args["nearest"]
        fix = fix_of(replace(node, str(meant))) if node is not None and meant else None
        yield Hit(problem.start, problem.end, "near" if meant else "default", problem.args, fix)


def _guessed(text: str, words: tuple[tuple[str, str], ...]) -> str:
    """The first of the names whose words a text has."""
    return next((name for name, pattern in words if re.search(pattern, text[:200], re.IGNORECASE)), "")


def categories(context: Context) -> Iterator[Hit]:
    """No functional or no stress case."""
    if not settled(design(context)):
        return
    for problem in problems(context, "category-missing"):
        yield Hit(problem.start, problem.end, message=str(problem.args["category"]), args=problem.args)


def cases(context: Context) -> Iterator[Hit]:
    """No cases, or one without its name, shape or category."""
    from opdev.design.changes import replace

    document = design(context)

    def category(path: str) -> dict[str, str]:
        name = document.text(f"{path}.case")
        return {"category": _guessed(name, _CATEGORIES)} if name else {}

    yield from _whole(lacking(context, _CASES, values=category))
    for problem, hit in wrong(
        context, _CASES, codes=("empty-value", "wrong-type", "wrong-enum", "out-of-range", "wrong-pattern")
    ):
        node = document.get(problem.path)
        message, fix = hit.message, None
        if problem.code == "empty-value" and problem.path == _CASES:
            message, fix = "none", begun(document, problem.path)
        elif node is not None and problem.code == "wrong-enum" and problem.args["nearest"]:
            message, fix = "near", fix_of(replace(node, str(problem.args["nearest"])), title="near")
        elif node is not None and problem.code == "wrong-type" and node.key is None and node.kind == "scalar":
            more = {"shape": _UNWRITTEN, "category": _guessed(node.text, _CATEGORIES)}
            message, fix = "text", as_mapping(node, "case", more)
        yield Hit(hit.start, hit.end, message, hit.args, fix)


def medium(context: Context) -> Iterator[Hit]:
    """No case is big enough to say anything of bandwidth."""
    if not settled(design(context)):
        return
    for problem in problems(context, "no-medium-case"):
        yield Hit(problem.start, problem.end, args=problem.args)
