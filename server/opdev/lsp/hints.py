"""Inlay hints: the numbers that follow from a design and from the cases of an operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.design.document import document_of
from opdev.design.inlays import Inlay, inlays
from opdev.facts.inlays import case_inlays
from opdev.lsp.capabilities import TOOLTIPS
from opdev.lsp.designs import design_in, is_design, operator_of
from opdev.lsp.documents import offsets
from opdev.lsp.glances import facts_of

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session
    from opdev.syntax.file import File

_MOST_TIPS = 200
"""Explanations that are sent with their hints to a client that cannot ask for them."""


def hints(session: Session, document: Document, file: File, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The hints of a range."""
    source, unit = file.source, session.client.unit
    start, end = offsets(source, params.range, unit)
    lang = session.lang_of(session.rulebook.of(document.path).lang)
    lazy = session.client.lists(TOOLTIPS, "tooltip")
    made: list[types.InlayHint] = []
    for found in _found(session, file, start, end):
        hint = types.InlayHint(types.Position(*source.position(found.at, unit)), found.label[lang], padding_left=True)
        if lazy:
            hint.data = {"uri": document.uri, "at": found.at}
        elif len(made) < _MOST_TIPS:
            hint.tooltip = types.MarkupContent(types.MarkupKind.Markdown, found.tip(lang))
        made.append(hint)
    return made


def resolve(session: Session, hint: types.InlayHint) -> types.InlayHint:
    """The explanation of a hint somebody looks at."""
    data: Any = hint.data
    document = session.documents.find(str(data.get("uri", ""))) if isinstance(data, dict) else None
    at = data.get("at") if document is not None else None
    if document is None or not isinstance(at, int):
        return hint
    lang = session.lang_of(session.rulebook.of(document.path).lang)
    for found in _found(session, session.file_of(document), at, at):
        if found.label[lang] == hint.label:
            hint.tooltip = types.MarkupContent(types.MarkupKind.Markdown, found.tip(lang))
    return hint


def _found(session: Session, file: File, start: int, end: int) -> Iterator[Inlay]:
    if is_design(file):
        yield from inlays(document_of(file), start, end)
    elif not file.kind.names.isdisjoint(("cases", "case-runner")):
        operator = operator_of(session, file)
        if operator is not None:
            session.glances.told("hints", operator.root, facts_of(session, operator))
        yield from case_inlays(file, design_in(operator), start, end)
