"""Every request the server answers, and who answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.lsp import actions, completion, folding, hover, pull, signature, symbols
from opdev.lsp.watching import paths_of

if TYPE_CHECKING:
    from opdev.lsp.server import Server


def register(server: Server) -> None:
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

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)
    async def diagnostic(params: types.DocumentDiagnosticParams) -> dict[str, Any]:
        return await pull.document(server.session, params)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> dict[str, Any]:
        return pull.workspace(server.session, params)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        document = server.session.documents.find(params.text_document.uri)
        if document is not None and document.local:
            server.watching.files_changed([document.path])

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.watching.files_changed(paths_of(change.uri for change in params.changes))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.watching.settings_changed(params.settings)
