"""Requests to the client, and their answers, which may come after nobody wants them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

log = logging.getLogger("opdev.lsp")


class Asking:
    """What the client was asked and has not answered."""

    def __init__(self, send: Callable[[dict[str, Any]], object]) -> None:
        self._send = send
        self._open: dict[str | int, Future[Any]] = {}
        self._count = 0

    def ask(self, method: str, params: object) -> Future[Any]:
        """Send a request with JSON params; the future has the JSON result."""
        self._count += 1
        identity = f"opdev-{self._count}"
        future: Future[Any] = Future()
        self._open[identity] = future
        message = {"jsonrpc": "2.0", "id": identity, "method": method}
        self._send(message if params is None else {**message, "params": params})
        return future

    def answer(self, message: Mapping[str, Any]) -> None:
        """A response came."""
        identity = message.get("id")
        future = self._open.pop(identity, None) if isinstance(identity, str | int) else None
        if future is None or not future.set_running_or_notify_cancel():
            log.debug("an answer nobody waits for: %s", message.get("error"))
            return
        error = message.get("error")
        if error is not None:
            future.set_exception(RuntimeError(str(error.get("message") if isinstance(error, Mapping) else error)))
        else:
            future.set_result(message.get("result"))
