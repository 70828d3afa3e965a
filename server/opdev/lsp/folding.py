"""Folding of Markdown: sections, fences, and what a design's DSL holds.  Code folds by the editor's own means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.design.document import document_of
from opdev.design.outline import folds
from opdev.lsp.designs import is_design
from opdev.lsp.symbols import fenced, headings

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session
    from opdev.syntax.file import File


def folding(
    _session: Session, document: Document, file: File, _params: types.FoldingRangeParams
) -> list[types.FoldingRange] | None:
    """The folds of a Markdown document; None for others, which leaves them to the editor."""
    if not document.path.endswith((".md", ".markdown")):
        return None
    source = file.source
    found: list[types.FoldingRange] = []
    for start, end in folds(document_of(file)) if is_design(file) else ():
        found.append(types.FoldingRange(source.line_of(start), source.line_of(end), kind=types.FoldingRangeKind.Region))
    heads = list(headings(source.data))
    for index, (level, start, _, _) in enumerate(heads):
        end = next((h[1] for h in heads[index + 1 :] if h[0] <= level), len(source.data))
        last = source.line_of(end - 1) if end > start else source.line_of(start)
        while last > source.line_of(start) and not source.line_bytes(last).strip():
            last -= 1
        if last > source.line_of(start):
            found.append(types.FoldingRange(source.line_of(start), last, kind=types.FoldingRangeKind.Region))
    for start, end in fenced(source.data):
        first, last = source.line_of(start), source.line_of(end)
        if last > first:
            found.append(types.FoldingRange(first, last, kind=types.FoldingRangeKind.Region))
    return found
