"""Feature requests: params and results as lsprotocol's classes, run by pygls off the loop.

Importing lsprotocol takes half a second, so this module is loaded after the first diagnostics are
out.  pygls 2.1.1 leaves a request with bad params or an unserialisable result without an answer and
shows every handler's error in a pop-up; here each request gets exactly one answer, and errors go to
the log.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from cattrs import transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

import opdev
from opdev.lsp import wire
from opdev.lsp.designs import settled
from opdev.lsp.documents import Document
from opdev.lsp.session import Session
from opdev.syntax.file import File

log = logging.getLogger("opdev.lsp")
P = TypeVar("P")
R = TypeVar("R")

_BAD = (BaseValidationError, TypeError, ValueError, KeyError, AttributeError)


class Protocol(LanguageServerProtocol):
    """pygls' dispatch of requests, answering through our outbox."""

    outbox: wire.Outbox

    def begin(self, identity: str | int, method: str, message: Mapping[str, Any]) -> None:
        """Start a request; its answer comes when it is done, refused or cancelled."""
        try:
            params = self._converter.structure(message, message_type(method)).params
        except _BAD as error:
            self.outbox.send(wire.refuse(identity, wire.INVALID_PARAMS, f"{method}: {summary(error)}"))
            return
        contextvars.copy_context().run(self._handle_request, identity, method, params)

    def cancel(self, identity: str | int) -> None:
        """The client no longer wants an answer."""
        future = self._request_futures.get(identity)
        if future is not None:
            future.cancel()

    def cancel_all(self) -> None:
        """Nobody wants any answer."""
        for future in list(self._request_futures.values()):
            future.cancel()

    def _send_handler_result(self, future: Future[Any], *, msg_id: str | int) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self.outbox.send(wire.refuse(msg_id, wire.CANCELLED, "cancelled"))
            return
        error = future.exception()
        if error is None:
            self.outbox.send(wire.answer(msg_id, self._converter.unstructure(future.result())))
        elif isinstance(error, JsonRpcException):
            self.outbox.send(wire.refuse(msg_id, error.code or wire.INTERNAL_ERROR, str(error.message), error.data))
        else:
            log.error("request %s failed", msg_id, exc_info=error)
            text = f"{type(error).__name__}: {error} (see the opdev-lsp log)"
            self.outbox.send(wire.refuse(msg_id, wire.INTERNAL_ERROR, text))

    def _send_data(self, data: Any) -> None:
        if data:
            self.outbox.send(data if isinstance(data, dict) else self._converter.unstructure(data))


class Typed(LanguageServer):
    """The features, registered with pygls."""

    protocol: Protocol

    def __init__(self, session: Session, outbox: wire.Outbox) -> None:
        super().__init__("opdev-lsp", opdev.__version__, protocol_cls=Protocol, converter_factory=default_converter)
        self.session = session
        self.protocol.outbox = outbox
        # pygls reads through the pool its handlers run in; ours is for features alone.
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="opdev-lsp-feature")

    @property
    def methods(self) -> frozenset[str]:
        """Requests that are served here."""
        return frozenset(self.protocol.fm.features)

    def provide(self, method: str, feature: Callable[[Session, P], R]) -> None:
        """Serve a request off the loop; cancelled while it waits, it never runs."""

        async def handler(params: P) -> R:
            return await self.off_loop(lambda: feature(self.session, params))

        self.feature(method)(handler)

    def provide_settled(
        self, method: str, feature: Callable[[Session, Document, File, Any], R], otherwise: Any = None
    ) -> None:
        """Serve a request about an open document, off the loop, once the linter has read it."""

        async def handler(params: Any) -> Any:
            document = self.session.documents.find(params.text_document.uri)
            if document is None:
                return otherwise
            file = await settled(self.session, document)
            return await self.off_loop(lambda: feature(self.session, document, file, params))

        self.feature(method)(handler)

    async def off_loop(self, work: Callable[[], R]) -> R:
        """Do ``work`` in the features' pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Errors are for the log; a pop-up helps nobody."""
        log.error("%s: %s", getattr(source, "__name__", source), error)


@cache
def message_type(method: str) -> Any:
    """The type of a request of the specification."""
    return types.METHOD_TO_TYPES[method][0]


def summary(error: BaseException) -> str:
    """What is wrong with params, in one line, with the path to it where cattrs knows it."""
    if isinstance(error, BaseValidationError):
        return "; ".join(transform_error(error)[:3]) or str(error)
    return f"{type(error).__name__}: {error}"


def load(session: Session, outbox: wire.Outbox) -> Typed:
    """All features, ready to run."""
    from opdev.lsp import features

    typed = Typed(session, outbox)
    features.register(typed)
    return typed
