"""Diagnostics for clients that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opdev.lsp.uris import key_of

if TYPE_CHECKING:
    from lsprotocol import types

    from opdev.lsp.session import Session


async def document(session: Session, params: types.DocumentDiagnosticParams) -> dict[str, Any]:
    """The report on one document's newest version, once there is one."""
    found = session.documents.find(params.text_document.uri)
    shown = await session.shown(found) if found is not None else None
    if found is None or shown is None:
        # What is not open is pushed; an answer here would show it twice.
        return {"kind": "full", "items": []}
    shown.answered, shown.answered_version = shown.result_id, shown.report.version
    if params.previous_result_id == shown.result_id:
        return {"kind": "unchanged", "resultId": shown.result_id}
    return {"kind": "full", "resultId": shown.result_id, "items": shown.items}


def workspace(session: Session, params: types.WorkspaceDiagnosticParams) -> dict[str, Any]:
    """The reports on files nobody has open, as far as they are known: never a reason to lint."""
    before = {key_of(previous.uri): previous for previous in params.previous_result_ids}
    items: list[dict[str, Any]] = []
    for path, pushed in list(session.elsewhere.pushed.items()):
        uri = session.uri_of(path)
        known = before.pop(key_of(uri), None)
        identity = pushed.result_id
        if known is not None and known.value == identity:
            items.append({"kind": "unchanged", "uri": known.uri, "version": None, "resultId": identity})
        else:
            items.append({"kind": "full", "uri": uri, "version": None, "resultId": identity, "items": pushed.items})
    items += [
        {"kind": "full", "uri": previous.uri, "version": None, "items": []}
        for previous in before.values()
        if session.documents.find(previous.uri) is None
    ]
    return {"items": items}
