"""The requests that are served with lsprotocol's types, and who answers each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.lsp import actions, completion, folding, hover, signature, symbols

if TYPE_CHECKING:
    from opdev.lsp.typed import Typed


def register(server: Typed) -> None:
    """Register all of them."""
    server.provide(types.TEXT_DOCUMENT_HOVER, hover.hover)
    server.provide(types.TEXT_DOCUMENT_COMPLETION, completion.complete)
    server.provide(types.COMPLETION_ITEM_RESOLVE, completion.resolve)
    server.provide(types.TEXT_DOCUMENT_SIGNATURE_HELP, signature.signature_help)
    server.provide(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols.symbols)
    server.provide(types.TEXT_DOCUMENT_FOLDING_RANGE, folding.folding)
    server.provide(types.CODE_ACTION_RESOLVE, actions.resolve)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        session = server.session
        document = session.documents.find(params.text_document.uri)
        shown = await session.shown(document) if document is not None else None
        if document is None or shown is None:
            return []
        return await server.off_loop(lambda: actions.actions(session, document, shown, params))
