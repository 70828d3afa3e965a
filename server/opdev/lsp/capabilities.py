"""What the server offers, fitted to the client; plain JSON, so that ``initialize`` is answered at once.

``lsprotocol`` takes 0.4 s to import.  The answer does not need it, so a client never waits for it.
A test holds this list against the features that are registered.
"""

from __future__ import annotations

from typing import Any

import opdev
from opdev.lsp.client import Client

FIX_ALL = "source.fixAll.opdev"
FEATURES = frozenset({
    "textDocument/hover", "textDocument/completion", "completionItem/resolve", "textDocument/signatureHelp",
    "textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeAction", "codeAction/resolve",
    "textDocument/inlayHint", "inlayHint/resolve",
})  # fmt: skip
"""Requests that are served with lsprotocol's types (a test holds this against what is registered)."""
TOOLTIPS = "textDocument.inlayHint.resolveSupport.properties"
TRIGGERS = ("_", "[", ",")


def initialize_result(client: Client) -> dict[str, Any]:
    """The result of ``initialize``."""
    offered: dict[str, Any] = {
        "positionEncoding": client.unit,
        "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
        "hoverProvider": True,
        "completionProvider": {"triggerCharacters": list(TRIGGERS), "resolveProvider": True},
        "signatureHelpProvider": {"triggerCharacters": ["(", ","], "retriggerCharacters": [")"]},
        "documentSymbolProvider": True,
        "foldingRangeProvider": True,
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }
    if client.can("textDocument.inlayHint"):
        offered["inlayHintProvider"] = {"resolveProvider": client.lists(TOOLTIPS, "tooltip")}
    if client.can("textDocument.codeAction.codeActionLiteralSupport"):
        offered["codeActionProvider"] = {
            "codeActionKinds": ["quickfix", FIX_ALL],
            "resolveProvider": resolves_edits(client),
        }
    if client.pulls:
        offered["diagnosticProvider"] = {
            "identifier": "opdev",
            "interFileDependencies": True,
            # Files that are not open are pushed: clients ask for workspace reports every 2 s.
            "workspaceDiagnostics": False,
        }
    return {"capabilities": offered, "serverInfo": {"name": "opdev-lsp", "version": opdev.__version__}}


def resolves_edits(client: Client) -> bool:
    """Whether an action's edit may be worked out when it is chosen."""
    return client.lists("textDocument.codeAction.resolveSupport.properties", "edit") and client.can(
        "textDocument.codeAction.dataSupport"
    )
