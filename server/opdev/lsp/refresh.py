"""Telling a client that what it asked for has changed without an edit: diagnostics, lenses, hints."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from opdev.lsp.client import Client

_SUPPORT = {
    "workspace/diagnostic/refresh": "workspace.diagnostics.refreshSupport",
    "workspace/codeLens/refresh": "workspace.codeLens.refreshSupport",
    "workspace/inlayHint/refresh": "workspace.inlayHint.refreshSupport",
}


class Refresh:
    """One question at a time, and one more if something changed while it was open."""

    def __init__(
        self,
        client: Client,
        ask: Callable[[str, Any], Future[Any]],
        method: str = "workspace/diagnostic/refresh",
    ) -> None:
        self.possible = client.can(_SUPPORT[method])
        self._ask = ask
        self._method = method
        self._open = self._again = False

    def ask(self) -> None:
        """It changed without an edit."""
        if self._open:
            self._again = True
        elif self.possible:
            self._open = True
            self._ask(self._method, None).add_done_callback(self._answered)

    def _answered(self, _: Future[Any]) -> None:
        self._open = False
        if self._again:
            self._again = False
            self.ask()
