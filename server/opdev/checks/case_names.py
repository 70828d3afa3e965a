"""Cases a design names: those it lists itself, tests invariants with, or measures have to be in the matrix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from opdev.design.document import DesignDocument, document_of
from opdev.design.nodes import Node
from opdev.design.problems import is_placeholder
from opdev.facts.cases import CaseList, cases_of, matrix_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

_SPLIT = re.compile(r"[\s,，、;；/]+")
_ID = re.compile(r"[^\W\d_][\w.-]*_[\w.-]+\Z")


def unknown(context: Context) -> Iterator[Hit]:
    """A case of the design that neither the matrix nor, without one, the design itself lists."""
    document = document_of(context.file)
    own, found = cases_of(context.file), matrix_of(context.project) if context.project is not None else None
    lists: CaseList | None = found if found is not None else own
    if lists is None or not lists.complete or not lists.cases:
        return
    known = {case.id for case in lists.cases if case.id}
    listed = {case.id for case in own.cases} if own is not None else set()
    if found is not None and own is not None:
        for case in own.cases:
            if case.id and case.id not in known and not is_placeholder(case.id):
                yield _hit(context, lists, known, case.id, case.place("id"), "correctness.case_matrix")
    for path, node in _named(document):
        for name in _SPLIT.split(node.said[:400]):
            # A name the design lists itself is reported there, once.
            if _ID.match(name) and name not in known and name not in listed and not is_placeholder(name):
                yield _hit(context, lists, known, name, _place(context, node, name), path)


def _named(document: DesignDocument) -> Iterator[tuple[str, Node]]:
    for item in document.items("correctness.invariants"):
        node = item.get("case") if item.kind == "mapping" else None
        if node is not None:
            yield "correctness.invariants", node
    for item in document.items("performance.target_cases"):
        node = item if item.kind == "scalar" else item.get("case") or item.get("case_id")
        if node is not None and node.kind == "scalar":
            yield "performance.target_cases", node


def _place(context: Context, node: Node, name: str) -> tuple[int, int]:
    at = context.data.find(name.encode(), node.start, node.end)
    return (at, at + len(name.encode())) if at >= 0 else node.where


def _hit(context: Context, lists: CaseList, known: set[str], name: str, place: tuple[int, int], path: str) -> Hit:
    start, end = place
    if context.data[start : start + 1] in (b'"', b"'") and end - start >= 2:
        start, end = start + 1, end - 1
    near = difflib.get_close_matches(name[:80], sorted(known)[:500], 1, 0.75)
    near = [n for n in near if re.findall(r"\d+", n) == re.findall(r"\d+", name)]
    fix = Fix((Edit(start, end, near[0]),)) if near and context.data[start:end] == name.encode() else None
    note = {"zh": "用例矩阵在这里", "en": "the case matrix"}
    other = None if lists.path == context.file.path else lists.path
    where = lists.path.rpartition("/")[2]
    args = {"name": " ".join(name.split()), "path": path, "where": where, "nearest": near[0] if near else ""}
    return Hit(
        start, end, "near" if fix else "default", args, fix, None, (Related(lists.start, lists.end, note, other),)
    )
