"""Diagnostics for clients that ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.uris import key_of

if TYPE_CHECKING:
    from opdev.lsp.session import Session


async def document(session: Session, params: Mapping[str, Any]) -> dict[str, Any]:
    """``textDocument/diagnostic``: the report on the document's newest version, once there is one."""
    found = session.documents.find(fields.text(params, "textDocument.uri"))
    shown = await session.shown(found) if found is not None else None
    if found is None or shown is None:
        # What is not open is pushed; an answer here would show it twice.
        return {"kind": "full", "items": []}
    # Cross-file findings may have come in since this woke.
    shown = session.now_shown(found) or shown
    session.answered(found, shown)
    if params.get("previousResultId") == shown.result_id:
        return {"kind": "unchanged", "resultId": shown.result_id}
    return {"kind": "full", "resultId": shown.result_id, "items": shown.items}


async def workspace(session: Session, params: Mapping[str, Any]) -> dict[str, Any]:
    """``workspace/diagnostic``: files nobody has open, as far as they are known; never a reason to lint."""
    before = {
        key_of(fields.text(previous, "uri")): (fields.text(previous, "uri"), fields.text(previous, "value"))
        for previous in fields.items(params, "previousResultIds")
    }
    items: list[dict[str, Any]] = []
    for path, pushed in list(session.elsewhere.pushed.items()):
        uri = session.uri_of(path)
        identity = pushed.result_id
        known, value = before.pop(key_of(uri), (uri, None))
        report: dict[str, Any] = {"kind": "unchanged", "uri": known, "version": None, "resultId": identity}
        if value != identity:
            report |= {"kind": "full", "uri": uri, "items": pushed.items}
        items.append(report)
    items += [
        {"kind": "full", "uri": uri, "version": None, "items": []}
        for uri, _ in before.values()
        if session.documents.find(uri) is None
    ]
    return {"items": items}
