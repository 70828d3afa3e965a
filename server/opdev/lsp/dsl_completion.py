"""Completion in a design's DSL: keys with their template, and values from the models, the document and the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.design.complete import Candidate, Completion, complete
from opdev.design.document import document_of
from opdev.design.offers import Offer, offers
from opdev.design.snippets import plain, snippet
from opdev.design.walk import FieldView
from opdev.design.walk import field as field_at
from opdev.facts.offers import api_offers, code_offers, is_api_field
from opdev.lsp.client import Lang
from opdev.lsp.cursor import word_at
from opdev.lsp.designs import operator_of
from opdev.lsp.documents import typed_range

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session
    from opdev.syntax.file import File

_ADJUST = 2
"""InsertTextMode.adjustIndentation: the lines of a snippet are indented as seen from its first."""

_COLON = re.compile(rb"[ \t]*:(?=[\s,}\]]|\Z)")

_MOST = 300
"""Values that are sent at once; with more the client asks again as the word grows."""


def complete_design(
    session: Session, document: Document, file: File, position: types.Position
) -> types.CompletionList | None:
    """What could stand at a position of the DSL."""
    source = file.source
    design = document_of(file)
    offset = source.offset(position.line, position.character, session.client.unit)
    found = complete(design, offset)
    if found is None:
        return None
    lang = session.lang_of(session.rulebook.of(document.path).lang)
    if found.is_key:
        where = typed_range(source, found.start, found.end, session.client.unit)
        named = _COLON.match(source.data, found.end) is not None
        made = [_key(session, c, found, where, lang, i, named=named) for i, c in enumerate(found.candidates)]
        return types.CompletionList(False, made)
    start, end, path = found.start, found.end, found.path
    view = field_at(path)
    if view is not None and view.kind == "list":
        view = None
    api = is_api_field(path)
    if api:
        # Several calls may stand in one text: the word is what is replaced.
        start, end = word_at(source.data, offset)
    typed = source.text(start, offset)
    operator = operator_of(session, file)
    from_code = code_offers(operator, path) if operator is not None else iter(())
    listed = list(
        _unique(chain(offers(design, path), from_code, _of_models(found), api_offers(path) if api and typed else ()))
    )
    whole = len(listed) <= _MOST
    if not whole:
        listed = [offer for offer in listed if typed.strip("\"'").lower() in offer.text.lower()][:_MOST]
    where = typed_range(source, start, end, session.client.unit)
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    items = [_value(offer, where, quote, view, lang, index) for index, offer in enumerate(listed)]
    return types.CompletionList(not whole, items) if items else None


def _key(
    session: Session,
    candidate: Candidate,
    found: Completion,
    where: types.Range,
    lang: Lang,
    index: int,
    *,
    named: bool,
) -> types.CompletionItem:
    """``named``: there is a colon already, so that the key's name is all that is changed."""
    view = candidate.view
    item = types.CompletionItem(
        label=candidate.label,
        kind=types.CompletionItemKind.Module if view.model is not None else types.CompletionItemKind.Property,
        detail=view.title[lang],
        # What must be there comes before what may be, in the DSL's order.
        sort_text=f"{int(not view.required)}{index:03}",
        filter_text=candidate.label,
        text_edit=types.TextEdit(where, candidate.insert),
        data={"dsl": view.path},
    )
    if named:
        item.text_edit = types.TextEdit(where, candidate.label)
        return item
    text = snippet(view, one_line=found.one_line)
    if session.client.can("textDocument.completion.completionItem.snippetSupport"):
        item.insert_text_format = types.InsertTextFormat.Snippet
        item.text_edit = types.TextEdit(where, text)
    elif "\n" not in text:
        item.text_edit = types.TextEdit(where, plain(text))
    modes = session.client.get("textDocument.completion.completionItem.insertTextModeSupport.valueSet")
    if "\n" in text and isinstance(modes, list) and _ADJUST in modes:
        item.insert_text_mode = types.InsertTextMode.AdjustIndentation
    return item


def _of_models(found: Completion) -> Iterator[Offer]:
    for candidate in found.candidates:
        yield Offer(candidate.label, candidate.view.title)


def _unique(listed: Iterator[Offer]) -> Iterator[Offer]:
    seen: set[str] = set()
    for offer in listed:
        if offer.text not in seen:
            seen.add(offer.text)
            yield offer


def _value(
    offer: Offer, where: types.Range, quote: str, view: FieldView | None, lang: Lang, index: int
) -> types.CompletionItem:
    text = f"{quote}{offer.text.strip(chr(34))}{quote}" if quote else offer.text
    closed = view is not None and view.closed and offer.text in view.values
    return types.CompletionItem(
        label=offer.text.strip('"'),
        kind=types.CompletionItemKind.EnumMember if closed else types.CompletionItemKind.Value,
        detail=offer.why[lang] or None,
        sort_text=f"{index:04}",
        filter_text=text,
        text_edit=types.TextEdit(where, text),
        data={"dsl": view.path} if view is not None else {"api": offer.text, "side": "device"},
    )
