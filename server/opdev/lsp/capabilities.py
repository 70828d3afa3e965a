"""What the server offers, fitted to the client; plain JSON, so that ``initialize`` is answered at once.

``lsprotocol`` takes 0.4 s to import.  The answer does not need it, so a client never waits for it.
A test holds this list against the features that are registered.
"""

from __future__ import annotations

from typing import Any

import opdev
from opdev.lsp.client import Client

FIX_ALL = "source.fixAll.opdev"
RUN = "source.opdev.run"
"""The kind of code actions that start a run: never asked for by itself, and not offered to what saves or types."""
SHOW_GATE = "opdev.showGate"
RUN_PHASE, STOP_RUN, RESUME_RUN = "opdev.runPhase", "opdev.stopRun", "opdev.resumeRun"
INTAKE, CLANGD, NEW_OPERATOR = "opdev.intake", "opdev.clangd", "opdev.newOperator"
COMMANDS = (SHOW_GATE, RUN_PHASE, STOP_RUN, RESUME_RUN, INTAKE, CLANGD, NEW_OPERATOR)
"""What ``workspace/executeCommand`` takes; announced unless the client has a command of that name itself."""
RUN_REQUESTS = ("opdev/phaseStatus", "opdev/runHistory", "opdev/runEvents", "opdev/runLog", "opdev/intake", "opdev/cases",
                "opdev/newOperator", "opdev/precision", "opdev/performance")  # fmt: skip
FEATURES = frozenset({
    "textDocument/hover", "textDocument/completion", "completionItem/resolve", "textDocument/signatureHelp",
    "textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeAction", "codeAction/resolve",
    "textDocument/inlayHint", "inlayHint/resolve", "textDocument/documentLink", "textDocument/definition",
    "textDocument/references", "textDocument/prepareRename", "textDocument/rename", "textDocument/codeLens",
    "workspace/executeCommand",
})  # fmt: skip
"""Requests that are served with lsprotocol's types (a test holds this against what is registered)."""
TOOLTIPS = "textDocument.inlayHint.resolveSupport.properties"
TRIGGERS = ("_", "[", ",", '"')


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
    for name in ("documentLink", "codeLens"):
        if client.can(f"textDocument.{name}"):
            offered[f"{name}Provider"] = {"resolveProvider": False}
    for name in ("definition", "references"):
        if client.can(f"textDocument.{name}"):
            offered[f"{name}Provider"] = True
    if client.can("textDocument.rename"):
        prepares = client.can("textDocument.rename.prepareSupport")
        offered["renameProvider"] = {"prepareProvider": True} if prepares else True
    own = client.options.get("commands")
    commands = [name for name in COMMANDS if not (isinstance(own, list) and name in own)]
    # Neovim executes commands and does not claim it.
    if commands:
        offered["executeCommandProvider"] = {"commands": commands}
    if client.can("textDocument.codeAction.codeActionLiteralSupport"):
        offered["codeActionProvider"] = {
            "codeActionKinds": ["quickfix", FIX_ALL, RUN],
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
