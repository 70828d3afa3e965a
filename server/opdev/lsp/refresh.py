"""Asking a client that pulls diagnostics to pull them again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from opdev.lsp.client import Client


class Refresh:
    """One question at a time, and one more if something changed while it was open."""

    def __init__(self, client: Client, ask: Callable[[str, Any], Future[Any]]) -> None:
        self._can = client.can("workspace.diagnostics.refreshSupport")
        self._ask = ask
        self._open = self._again = False

    def ask(self) -> None:
        """Findings changed without an edit."""
        if self._open:
            self._again = True
        elif self._can:
            self._open = True
            self._ask("workspace/diagnostic/refresh", None).add_done_callback(self._answered)

    def _answered(self, _: Future[Any]) -> None:
        self._open = False
        if self._again:
            self._again = False
            self.ask()
