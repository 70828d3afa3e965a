"""The requests that are served with lsprotocol's types, and who answers each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from opdev.lsp import (
    actions,
    completion,
    contracts,
    doclinks,
    dsl_completion,
    fields,
    folding,
    gates,
    hints,
    hover,
    navigate,
    offers,
    rename,
    signature,
    symbols,
    wire,
)
from opdev.lsp.capabilities import COMMANDS, SHOW_GATE
from opdev.lsp.designs import is_design, settled

if TYPE_CHECKING:
    from opdev.lsp.typed import Typed


def register(server: Typed) -> None:
    """Register all of them."""
    server.provide(types.TEXT_DOCUMENT_HOVER, hover.hover)
    server.provide(types.COMPLETION_ITEM_RESOLVE, completion.resolve)
    server.provide(types.TEXT_DOCUMENT_SIGNATURE_HELP, signature.signature_help)
    server.provide_settled(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols.symbols, [])
    server.provide_settled(types.TEXT_DOCUMENT_FOLDING_RANGE, folding.folding)
    server.provide_settled(types.TEXT_DOCUMENT_INLAY_HINT, hints.hints, [])
    server.provide(types.INLAY_HINT_RESOLVE, hints.resolve)
    server.provide_settled(types.TEXT_DOCUMENT_DOCUMENT_LINK, doclinks.doclinks, [])
    server.provide_settled(types.TEXT_DOCUMENT_DEFINITION, navigate.definition)
    server.provide_settled(types.TEXT_DOCUMENT_REFERENCES, navigate.references)
    server.provide_settled(types.TEXT_DOCUMENT_PREPARE_RENAME, rename.prepare)
    server.provide_settled(types.TEXT_DOCUMENT_RENAME, rename.rename)
    server.provide_settled(types.TEXT_DOCUMENT_CODE_LENS, offers.lenses, [])
    # pygls' own answer to this one would come first.
    server.protocol.fm.builtin_features.pop(types.WORKSPACE_EXECUTE_COMMAND, None)

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        if params.command == SHOW_GATE:
            return await server.off_loop(lambda: gates.show_gate(server.session, params))
        if params.command not in COMMANDS:
            raise JsonRpcException(f"opdev has no command {params.command}", wire.INVALID_PARAMS)
        try:
            return await server.session.runs.execute(params.command, list(params.arguments or []))
        except wire.Refusal as error:
            raise JsonRpcException(error.message, error.code, error.data) from error
        except fields.FieldError as error:
            raise JsonRpcException(f"{params.command}: {error}", wire.INVALID_PARAMS) from error

    server.provide(types.CODE_ACTION_RESOLVE, actions.resolve)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION)
    async def complete(params: types.CompletionParams) -> types.CompletionList | None:
        session = server.session
        document = session.documents.find(params.text_document.uri)
        if document is not None and document.path.lower().endswith("design.md"):
            file = await settled(session, document)
            if is_design(file):
                found = await server.off_loop(
                    lambda: dsl_completion.complete_design(session, document, file, params.position)
                )
                if found is not None:
                    return found
        return await server.off_loop(
            lambda: contracts.complete(session, params) or completion.complete(session, params)
        )

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        session = server.session
        document = session.documents.find(params.text_document.uri)
        shown = await session.shown(document) if document is not None else None
        if document is None or shown is None:
            return []
        found = await server.off_loop(lambda: actions.actions(session, document, shown, params))
        return [*found, *await server.off_loop(lambda: offers.actions(session, document, shown, params))]
