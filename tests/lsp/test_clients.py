"""The same day's work with three clients: VS Code of today, Neovim, and one that can do nothing.

pytest-lsp checks each message against the specification's types, which the raw wire does not.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient

CLIENTS = ("vscode-1.9x", "neovim-0.11", "bare")
HERE = Path(__file__).parent
SELECT = ["hardcoded-endpoint", "opdev"]
BAD = '# 注释 😀\nIPPORT="tcp://127.0.0.1:27010"\n'
WAIT = 20


@pytest_lsp.fixture(params=CLIENTS, config=ClientServerConfig(server_command=[sys.executable, "-m", "opdev.lsp"]))
async def client(request, lsp_client: LanguageClient, work):
    given = json.loads((HERE / "clients" / f"{request.param}.json").read_text(encoding="utf-8"))
    capabilities = get_converter().structure(given, types.ClientCapabilities)
    lsp_client.given = given
    lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
    lsp_client.set_configuration({"opdev": {"select": SELECT}})
    lsp_client.offered = await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[types.WorkspaceFolder(work.as_uri(), "work")],
            initialization_options={"select": SELECT},
            locale="en",
        )
    )
    yield
    await asyncio.wait_for(lsp_client.shutdown_session(), WAIT)


@pytest.fixture
def where(run_sh):
    return run_sh.as_uri()


def open_document(client, where, text=BAD):
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(where, types.LanguageKind.ShellScript, 1, text))
    )


async def diagnostics(client, where, wanted=len):
    """The document's diagnostics, by the way this client gets them."""
    if client.offered.capabilities.diagnostic_provider is not None:
        report = await asyncio.wait_for(
            client.text_document_diagnostic_async(types.DocumentDiagnosticParams(types.TextDocumentIdentifier(where))),
            WAIT,
        )
        assert wanted(report.items) or wanted is len
        return report.items

    async def published():
        while not (where in client.diagnostics and wanted(client.diagnostics[where])):
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return client.diagnostics[where]

    return await asyncio.wait_for(published(), WAIT)


@pytest.mark.asyncio
async def test_what_is_offered_fits_the_client(client: LanguageClient):
    offered = client.offered.capabilities
    text = client.given.get("textDocument", {})

    assert (offered.diagnostic_provider is not None) == ("diagnostic" in text)
    assert (offered.code_action_provider is not None) == ("codeAction" in text)
    assert offered.position_encoding == (
        "utf-8" if "utf-8" in client.given.get("general", {}).get("positionEncodings", []) else "utf-16"
    )
    assert client.offered.server_info.name == "opdev-lsp"


@pytest.mark.asyncio
async def test_a_finding_comes_goes_with_a_fix_and_comes_back(client: LanguageClient, where):
    open_document(client, where)
    (found,) = await diagnostics(client, where)
    assert found.code == "hardcoded-endpoint"
    assert found.range == types.Range(types.Position(1, 7), types.Position(1, 30))
    fix = found.data["fix"]["edits"][0] if isinstance(found.data, dict) else found.data.fix.edits[0]
    new_text = fix["newText"] if isinstance(fix, dict) else fix.newText

    def change(version, text_range, text):
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, where),
                [types.TextDocumentContentChangePartial(range=text_range, text=text)],
            )
        )

    change(2, found.range, new_text)
    assert not await diagnostics(client, where, lambda items: not items)
    change(3, types.Range(types.Position(1, 7), types.Position(1, 9999)), '"tcp://127.0.0.1:1"')
    assert len(await diagnostics(client, where)) == 1


@pytest.mark.asyncio
async def test_actions_are_as_the_client_takes_them(client: LanguageClient, where):
    open_document(client, where)
    (found,) = await diagnostics(client, where)
    if client.offered.capabilities.code_action_provider is None:
        return
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(where),
            found.range,
            types.CodeActionContext([found], [types.CodeActionKind.QuickFix]),
        )
    )

    assert all(isinstance(action, types.CodeAction) for action in actions)
    assert [a.is_preferred for a in actions].count(True) == 1
    versioned = "documentChanges" in client.given["workspace"]["workspaceEdit"]
    assert all((a.edit.document_changes is not None) == versioned for a in actions)


@pytest.mark.asyncio
async def test_features_answer_by_the_specification(client: LanguageClient, where):
    open_document(client, where, BAD + "f() { :; }\n# opdev: ignore[x]\n")
    document = types.TextDocumentIdentifier(where)
    await diagnostics(client, where)

    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(1, 10)))
    assert isinstance(hover, types.Hover)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [s.name for s in symbols] == ["f"]
    completion = await client.text_document_completion_async(types.CompletionParams(document, types.Position(3, 17)))
    assert isinstance(completion, types.CompletionList)
    assert (
        await client.text_document_signature_help_async(types.SignatureHelpParams(document, types.Position(1, 3)))
        is None
    )


@pytest.mark.asyncio
async def test_nothing_pops_up(client: LanguageClient, where):
    open_document(client, where)
    await diagnostics(client, where)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, "file:///never-opened.sh"),
            [types.TextDocumentContentChangeWholeDocument("x")],
        )
    )
    await diagnostics(client, where)

    assert not client.messages
