"""Where a design's requirement comes from and what the user confirmed of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import lacking, quoted
from opdev.checks.design_meta import nearest_fix
from opdev.checks.design_problems import additions, design, fix_of, problems
from opdev.rules.context import Context
from opdev.rules.model import Hit

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument

_CONFIRMATIONS = "source.user_confirmations"


def kind(context: Context) -> Iterator[Hit]:
    """A kind of source there is not."""
    for problem in problems(context, "wrong-enum"):
        if problem.path == "source.kind":
            fix = nearest_fix(context, problem)
            yield Hit(problem.start, problem.end, args={**problem.args, "near": problem.args["nearest"]}, fix=fix)


def keys(context: Context) -> Iterator[Hit]:
    """The kind or the summary is missing or empty."""
    paths = ("source.kind", "source.summary")
    yield from lacking(context, *paths)
    for problem in problems(context, "empty-value"):
        if problem.path in paths:
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path})


def references(context: Context) -> Iterator[Hit]:
    """The code a design is made from is not named."""
    for problem in problems(context, "references-missing"):
        yield Hit(problem.start, problem.end, args=problem.args)


def op_name(context: Context) -> Iterator[Hit]:
    """Nothing says that the user confirmed the name."""
    for problem in problems(context, "missing-key", "empty-value"):
        if problem.path in (_CONFIRMATIONS, f"{_CONFIRMATIONS}.op_name"):
            yield Hit(problem.start, problem.end)


def dtypes(context: Context) -> Iterator[Hit]:
    """Nothing says that the user confirmed the dtypes; those of the interface are offered."""
    document = design(context)
    for problem in problems(context, "missing-key", "empty-value"):
        if problem.path == _CONFIRMATIONS:
            yield Hit(problem.start, problem.end)
        elif problem.path == f"{_CONFIRMATIONS}.dtypes":
            names = _used(document)
            value = {"dtypes": f"[{', '.join(map(quoted, names))}]"}
            fix = fix_of(*additions(document, _CONFIRMATIONS, ["dtypes"], value)) if names else None
            yield Hit(problem.start, problem.end, args={"dtypes": ", ".join(names)}, fix=fix)
        elif problem.under(f"{_CONFIRMATIONS}.dtypes"):
            yield Hit(problem.start, problem.end)


def _used(document: DesignDocument) -> list[str]:
    """The dtypes of the interface as they are written, each once."""
    from opdev.design.cross_data import tensors
    from opdev.design.dtypes import fold_dtype, split_dtypes

    found: dict[str, str] = {}
    for tensor in tensors(document):
        node = tensor.get("dtype")
        for word in split_dtypes(node.said) if node is not None else ():
            folded = fold_dtype(word)
            if folded is not None:
                found.setdefault(folded, word)
    return list(found.values())
