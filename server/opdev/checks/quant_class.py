"""COMPUTE_QUANT for dtypes that the precision standard has no tolerance of: of quantised results it knows float16 alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opdev.checks.case_lists import data_dtypes
from opdev.design.derived import tolerance
from opdev.design.document import document_of
from opdev.design.dtypes import DTYPE_ALIASES, DTYPES, fold_dtype, is_integer
from opdev.design.nodes import Node
from opdev.facts.cases import NAMES
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Hit

_QUANT = re.compile(r"(?<!\w)COMPUTE_QUANT(?!\w)")
_DTYPE = re.compile(
    rf"(?<![a-z0-9])(?:{'|'.join(sorted((*DTYPES, *DTYPE_ALIASES), key=len, reverse=True))})(?![a-z0-9])"
)
_CLASS = ("op_type", "op_types", "optype", "precision_class")


def without_limit(context: Context) -> Iterator[Hit]:
    """The class where it is chosen for a dtype it has no value for."""
    if "design-doc" in context.kinds:
        yield from _design(context)
        return
    nodes = list(top.walk()) if (top := root_of(context.file)) is not None else []
    unclassed: list[str] | None = None
    for node in nodes:
        if node.kind == "scalar" and node.key in _CLASS and _QUANT.fullmatch(node.said.strip()):
            own = _dtype(node.parent)
            if own is None and unclassed is None:
                unclassed = _dtypes_without_class(nodes)
            yield from _hit(node, [own] if own is not None else unclassed or ())


def _design(context: Context) -> Iterator[Hit]:
    document = document_of(context.file)
    for node in document.nodes():
        if node.kind != "scalar" or not _QUANT.search(node.said):
            continue
        own = _named(node.said) | ({found} if (found := fold_dtype(node.key or "")) is not None else set())
        # A sentence on several dtypes says which of them is meant, in words.
        if len(own) < 2:
            yield from _hit(node, own or data_dtypes(document))


def _named(text: str) -> set[str]:
    return {found for word in _DTYPE.findall(text.lower()) if (found := fold_dtype(word)) is not None}


def _dtypes_without_class(nodes: Iterable[Node]) -> list[str]:
    """The dtypes of every case that has no class of its own: those that a class beside the cases is given to."""
    found = [_dtype(one) for one in nodes if one.kind == "mapping" and not any(one.get(name) for name in _CLASS)]
    return [dtype for dtype in dict.fromkeys(found) if dtype is not None]


def _dtype(case: Node | None) -> str | None:
    names = NAMES["dtype"]
    found = next((n for name in names if case is not None and (n := case.get(name)) is not None), None)
    return fold_dtype(found.said) if found is not None else None


def _hit(node: Node, dtypes: Iterable[str]) -> Iterator[Hit]:
    lacking = [d for d in dict.fromkeys(dtypes) if not is_integer(d) and tolerance("COMPUTE_QUANT", d) is None]
    if lacking:
        yield Hit(*node.where, args={"dtypes": ", ".join(lacking)})
