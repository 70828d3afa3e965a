"""Contracts of PyPTO operators in the editor: what ``opdev.contracts`` says of a place, as the client takes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.contracts.explain import Explained, explained, of_field
from opdev.contracts.offer import Offer, Offers, offered
from opdev.contracts.parts import is_contract
from opdev.lsp.cursor import Cursor, cursor
from opdev.lsp.designs import operator_of
from opdev.lsp.documents import typed_range

if TYPE_CHECKING:
    from opdev.lsp.client import Lang
    from opdev.lsp.session import Session

_NAMES = re.compile(
    r"(?:\A|/)(?:(?:SPEC|DESIGN|API_REPORT|EXPLORE_REPORT)\.md|(?:KB_SELECTION|DESIGN_BINDINGS|KB_USAGE|PERFORMANCE_CASES)\.json"
    r"|module_interfaces\.yaml|\.orchestrator_state\.json)\Z"
)


def may_be(path: str) -> bool:
    """Whether a file's name is one of a contract's."""
    return _NAMES.search(path) is not None


def complete(session: Session, params: types.CompletionParams) -> types.CompletionList | None:
    """What could stand at a position of a contract; None outside contracts."""
    at = cursor(session, params)
    if at is None or not may_be(at.document.path):
        return None
    file = session.file_of(at.document)
    if file.source is not at.source or not is_contract(file):
        return None
    found = offered(file, at.offset, operator_of(session, file))
    if found is None:
        return None
    where = typed_range(at.source, found.start, found.end, session.client.unit)
    return types.CompletionList(False, [_item(at, found, offer, where, i) for i, offer in enumerate(found.items)])


def _item(at: Cursor, found: Offers, offer: Offer, where: types.Range, index: int) -> types.CompletionItem:
    client, lang = at.session.client, at.lang
    kinds = types.CompletionItemKind
    closed = offer.field is not None and not offer.field.usual and offer.label in offer.field.values
    own = 0 if lang == "zh" else 1
    item = types.CompletionItem(
        label=offer.label,
        kind=kinds.Property if offer.is_key else kinds.EnumMember if closed else kinds.Value,
        detail=offer.why[own] or None,
        # Keys that must be there come first, values in the order of their table.
        sort_text=f"{index:04}",
        filter_text=f'"{offer.label}"' if at.data[found.start : found.start + 1] == b'"' else offer.label,
        text_edit=types.TextEdit(where, offer.text),
    )
    if offer.snippet and client.can("textDocument.completion.completionItem.snippetSupport"):
        item.insert_text_format = types.InsertTextFormat.Snippet
        item.text_edit = types.TextEdit(where, offer.snippet)
    if offer.field is not None:
        value = "" if offer.is_key else offer.label
        text = of_field(found.contract, offer.field, list(offer.steps), lang, value)
        from opdev.lsp.hover import plain

        markdown = client.lists("textDocument.completion.completionItem.documentationFormat", "markdown")
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        item.documentation = types.MarkupContent(kind, text if markdown else plain(text))
    return item


def hovered(at: Cursor, lang: Lang) -> Explained | None:
    """The meaning of a key or a value of a contract."""
    if not may_be(at.document.path):
        return None
    file = at.session.file_of(at.document)
    return explained(file, at.offset, lang) if file.source is at.source else None
