"""The case matrix as its rules look at it: the operator's one list, and what its design says of the cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.design.dtypes import GENERIC, fold_dtype, split_dtypes
from opdev.facts.cases import Case, CaseList, cases_of, matrix_of
from opdev.rules.context import Context

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument

TIERS = ("XS", "S", "M", "L")
COMPUTES = ("fused_compute_comm", "compute")
"""Operators whose shape is not what is moved: the scales by bytes say nothing of them."""


def own_cases(context: Context) -> list[Case]:
    """The cases this file lists, complete or not."""
    found = cases_of(context.file)
    return list(found.cases) if found is not None else []


def matrix(context: Context) -> CaseList | None:
    """The operator's case matrix if this file holds all of it; None for a list that is computed or half-typed."""
    found = cases_of(context.file)
    if found is None or not found.complete:
        return None
    if context.project is not None:
        chosen = matrix_of(context.project)
        if chosen is not None and chosen.path != found.path:
            return None
    return found


def design(context: Context) -> DesignDocument | None:
    """The operator's design; None without one."""
    if context.project is None:
        return None
    from opdev.design.document import document_of

    root = context.project.root
    files = sorted(context.project.files("design-doc"), key=lambda f: f.path != f"{root}/docs/design.md")
    return document_of(files[0]) if files else None


def op_kind(context: Context) -> str:
    """``collective`` and so on; empty where no design says."""
    document = design(context)
    return document.text("meta.op_kind") if document is not None else ""


def scale_of(case: Case) -> str | None:
    """A case's scale: its label where it is one, else what its bytes say."""
    label = (case.scale or "").upper()
    return label if label in TIERS else case.tier


def data_dtypes(document: DesignDocument) -> list[str]:
    """The dtypes the operator's data has: those of its first input, every confirmed one for a type parameter."""
    inputs = document.items("interface.inputs")
    first = inputs[0].get("dtype") if inputs else None
    named = split_dtypes(first.said) if first is not None else []
    confirmed = [n.said for n in document.items("source.user_confirmations.dtypes")]
    folded = [f for word in named if (f := fold_dtype(word)) is not None]
    if folded or not any(GENERIC.match(word) for word in named):
        return list(dict.fromkeys(folded))
    # What another tensor has by name (indices, counts) is not the data's.
    others = {f for n in _tensors(document) for f in [fold_dtype(n)] if f is not None}
    found = [f for word in confirmed if (f := fold_dtype(word)) is not None]
    return [f for f in dict.fromkeys(found) if f not in others] or list(dict.fromkeys(found))


def _tensors(document: DesignDocument) -> Iterator[str]:
    for path in ("interface.inputs", "interface.outputs"):
        for item in document.items(path):
            dtype = item.get("dtype")
            if dtype is not None:
                yield dtype.said
