"""The design a file of code is held against, and what it says that code can contradict.

A design that is missing, unreadable or silent on a matter contradicts nothing: everything here answers None or
nothing then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from opdev.design.document import DesignDocument, document_of
from opdev.design.dtypes import GENERIC, fold_dtype, number, split_dtypes
from opdev.design.nodes import Node
from opdev.design.problems import is_placeholder
from opdev.facts.bindings import operator_of
from opdev.rules.context import Context, Project
from opdev.rules.model import Related, Text


def design_for(context: Context) -> DesignDocument | None:
    """The design of the operator a file belongs to, or binds; None where no DSL of it can be read."""
    project = context.project
    if project is None:
        return None
    if project.name == "torch_binding":
        operator = operator_of(context.file.path)
        file = project.beside(f"{operator}/docs/design.md") if operator is not None else None
        document = document_of(file) if file is not None else None
        return document if document is not None and document.root is not None else None
    return design_of(project)


def design_of(project: Project | None) -> DesignDocument | None:
    """The design of an operator; None where there is no operator, or no DSL of it that can be read."""
    for file in project.files("design-doc") if project is not None else ():
        document = document_of(file)
        if document.root is not None:
            return document
    return None


def said(document: DesignDocument | None, path: str) -> Node | None:
    """The scalar at a path that says something: neither missing nor broken, empty or the template's."""
    node = document.get(path) if document is not None else None
    if node is None or node.kind != "scalar" or node.empty or is_placeholder(node.value):
        return None
    return node


def shown(document: DesignDocument, node: Node, zh: str, en: str) -> Related:
    """A place of the design as the other side of a finding."""
    start, end = node.where
    return Related(start, end, note(zh, en), document.file.path)


def note(zh: str, en: str) -> Text:
    return {"zh": zh, "en": en}


@dataclass(frozen=True, slots=True)
class Dtypes:
    """The dtypes code has to tell apart, folded, each with the node that asks for it."""

    nodes: dict[str, Node]

    def __contains__(self, dtype: str) -> bool:
        return dtype in self.nodes

    def __len__(self) -> int:
        return len(self.nodes)


def dispatched_dtypes(document: DesignDocument) -> Dtypes | None:
    """The dtypes a kernel is called with by its data's dtype; None where the design does not say.

    That are those of a tensor with several, and for ``T`` the confirmed ones; the dtypes of tensors that have one
    of their own (indices, counts) are told apart by nobody.
    """
    found: dict[str, Node] = {}
    fixed: set[str] = set()
    generic = False
    for tensor in (*document.items("interface.inputs"), *document.items("interface.outputs")):
        node = tensor.get("dtype")
        if node is None or node.kind == "broken" or node.empty or is_placeholder(node.text):
            return None
        scalars = [n for n in node.walk() if n.kind == "scalar"]
        named = [(word, n) for n in scalars for word in split_dtypes(n.text)]
        if any(GENERIC.match(word) for word, _ in named):
            generic = True
            continue
        folded = [(fold_dtype(word), n) for word, n in named]
        if any(dtype is None for dtype, _ in folded):
            return None
        if len(folded) > 1:
            found.update({dtype: n for dtype, n in folded if dtype is not None})
        else:
            fixed |= {dtype for dtype, _ in folded if dtype is not None}
    if generic:
        for item in document.items("source.user_confirmations.dtypes"):
            dtype = fold_dtype(item.text)
            if dtype is None:
                return None
            if dtype not in fixed:
                found.setdefault(dtype, item)
    return Dtypes(found)


def all_dtypes(document: DesignDocument) -> dict[str, Node] | None:
    """Every dtype of the interface and every confirmed one; None where one of them cannot be read."""
    found: dict[str, Node] = {}
    tensors = (*document.items("interface.inputs"), *document.items("interface.outputs"))
    nodes = [n for tensor in tensors if (n := tensor.get("dtype")) is not None]
    for node in (*nodes, *document.items("source.user_confirmations.dtypes")):
        for scalar in node.walk():
            if scalar.kind == "broken" or is_placeholder(scalar.text):
                return None
            for word in split_dtypes(scalar.text) if scalar.kind == "scalar" else ():
                dtype = fold_dtype(word)
                if dtype is None and not GENERIC.match(word):
                    return None
                if dtype is not None:
                    found.setdefault(dtype, scalar)
    return found or None


def tolerance_of(
    document: DesignDocument, option: str
) -> tuple[float | None, dict[str, tuple[float, Node]], Node] | None:
    """(value for all dtypes, value by dtype, node) of ``correctness.tolerance.rtol`` or ``atol``."""
    node = document.get(f"correctness.tolerance.{option}")
    if node is None or node.kind == "broken" or node.empty:
        return None
    if node.kind == "scalar":
        value = number(node.data())
        usable = isinstance(value, int | float) and not isinstance(value, bool)
        return (float(value), {}, node) if usable and isinstance(value, int | float) else None
    if node.kind != "mapping":
        return None
    by_dtype: dict[str, tuple[float, Node]] = {}
    for child in node.children:
        value, dtype = number(child.data()), fold_dtype(child.key or "")
        if dtype is None or isinstance(value, bool) or not isinstance(value, int | float):
            return None
        by_dtype[dtype] = (float(value), child)
    return None, by_dtype, node


_ENGINE = re.compile(r"(?<![A-Za-z])(MTE|SDMA|UDMA|RDMA|RoCE)(?![A-Za-z])", re.IGNORECASE)


def stated_engines(document: DesignDocument) -> tuple[frozenset[str], Node] | None:
    """The engines ``schedule.engine`` names, and its node; None where it names none."""
    node = said(document, "schedule.engine")
    if node is None:
        return None
    names = {match[1].upper() for match in _ENGINE.finditer(node.said)}
    names = {"RDMA" if name == "ROCE" else name for name in names}
    return (frozenset(names), node) if names else None
