"""Completion: API names by the side the code runs on, rule names in suppressions, and what an item means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.api.table import Api, lookup, names
from opdev.design.complete import describe
from opdev.design.explain import of_field
from opdev.lsp import apidocs
from opdev.lsp.cursor import Cursor, Side, cursor, side_at
from opdev.lsp.documents import typed_range
from opdev.lsp.hover import plain, rule_page
from opdev.rules import store

if TYPE_CHECKING:
    from opdev.lsp.session import Session

_IN_DIRECTIVE = re.compile(rb"\bopdev:[ \t]*(?:ignore-file|ignore|off|on)[ \t]*\[(?:[^\]\r\n]*,)?[ \t]*([\w-]*)\Z")
_START = re.compile(r"(?:acl?|acls\w*|ACLS\w*|ACL?|sh\w*|SH\w*|util_\w*)\Z")
_KINDS = {
    "function": types.CompletionItemKind.Function,
    "type": types.CompletionItemKind.Struct,
    "enum": types.CompletionItemKind.Enum,
    "enumerator": types.CompletionItemKind.EnumMember,
    "constant": types.CompletionItemKind.Constant,
    "macro": types.CompletionItemKind.Constant,
}


def complete(session: Session, params: types.CompletionParams) -> types.CompletionList | None:
    """What could stand at a position."""
    at = cursor(session, params)
    if at is None:
        return None
    begin, _ = at.line()
    directive = _IN_DIRECTIVE.search(at.data, begin, at.offset)
    if directive is not None:
        return types.CompletionList(False, _rules(at, directive.start(1)))
    code = at.code()
    if code is None:
        return None
    file, offset = code
    start, end = at.word()
    written = at.source.text(start, at.offset)
    if not _START.match(written) or file.code[offset - 1 : offset].isspace():
        return None
    side = side_at(file, offset)
    unit = session.client.unit
    where = typed_range(at.source, start, end, unit)
    items = [_item(api, where, side) for name in sorted(names()) if (api := lookup(name)) and _fits(api, side)]
    return types.CompletionList(False, items)


def _fits(api: Api, side: Side | None) -> bool:
    """Whether the side can use a name; types, enumerators and macros are for both."""
    if not api.scopes or side is None:
        return True
    return api.on_device if side == "device" else "host" in api.scopes


def _item(api: Api, where: types.Range, side: Side | None) -> types.CompletionItem:
    return types.CompletionItem(
        label=api.name,
        kind=_KINDS[api.kind],
        text_edit=types.TextEdit(where, api.name),
        filter_text=api.name,
        sort_text=f"{int(api.deprecated)}{api.name}",
        deprecated=True if api.deprecated else None,
        data={"api": api.name, "side": side},
    )


def _rules(at: Cursor, start: int) -> list[types.CompletionItem]:
    end = start
    while end < len(at.data) and (at.data[end : end + 1].isalnum() or at.data[end : end + 1] in b"-_"):
        end += 1
    where = typed_range(at.source, start, end, at.session.client.unit)
    shown = at.session.now_shown(at.document)
    line = at.source.line_of(at.offset)
    near = (
        {f.rule.name for f in shown.report.findings if 0 <= f.source.line_of(f.start) - line <= 1} if shown else set()
    )
    lang = at.lang
    return [
        types.CompletionItem(
            label=rule.name,
            kind=types.CompletionItemKind.Value,
            detail=rule.summary.get(lang) or rule.summary.get("en"),
            text_edit=types.TextEdit(where, rule.name),
            # What is wrong here comes first.
            sort_text=f"{int(rule.name not in near)}{rule.name}",
            data={"rule": rule.name},
        )
        for rule in at.session.rulebook.of(at.document.path).rules
    ]


def resolve(session: Session, item: types.CompletionItem) -> types.CompletionItem:
    """Documentation of one item, when the user looks at it."""
    data: Any = item.data
    if not isinstance(data, dict):
        return item
    lang = session.lang_of("auto")
    api = lookup(str(data.get("api", ""))) if "api" in data else None
    view = describe(str(data["dsl"])) if "dsl" in data else None
    text = of_field(view, lang) if view is not None else ""
    if api is not None:
        side = data.get("side")
        text = apidocs.documentation(api, lang, side if side in ("device", "host") else None)
        variants = apidocs.ordered(api.variants, side if side in ("device", "host") else None)
        if variants and variants[0].signatures:
            item.detail = variants[0].signatures[0].text
    elif "rule" in data:
        rule = store.by_name(store.load()).get(str(data.get("rule", "")))
        text = rule_page(rule, lang) if rule is not None else ""
    if text:
        markdown = session.client.lists("textDocument.completion.completionItem.documentationFormat", "markdown")
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        item.documentation = types.MarkupContent(kind, text if markdown else plain(text))
    return item
