"""pygls' protocol, with the parts that would be our faults replaced.

pygls 2.1.1 leaves a request with bad params or an id it cannot read without an answer, reads any
nested object with a ``jsonrpc`` key as a message, serves requests after ``shutdown``, exits with 0
when nobody asked it to, raises when the answer to a cancelled request comes in, and shows every
handler's error to the user in a pop-up.  Here messages come in as plain JSON from ``wire``, each
request gets exactly one answer, and errors go to the log.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from functools import cache
from typing import TYPE_CHECKING, Any

from cattrs.errors import BaseValidationError, StructureHandlerNotFoundError
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

from opdev.lsp import wire
from opdev.lsp.handshake import fault

if TYPE_CHECKING:
    from cattrs import Converter

    from opdev.lsp.server import Server

log = logging.getLogger("opdev.lsp")

_BAD = (BaseValidationError, StructureHandlerNotFoundError, TypeError, ValueError, KeyError, AttributeError)


class Protocol(LanguageServerProtocol):
    """Dispatches what the inbox holds, and answers through the outbox."""

    _server: Server

    def __init__(self, server: Server, converter: Converter) -> None:
        super().__init__(server, converter)
        self.outbox: wire.Outbox | None = None
        self.inbox = wire.Inbox()
        self._asked = 0

    def connect(self, inbox: wire.Inbox, outbox: wire.Outbox) -> None:
        """Serve this client."""
        self.inbox, self.outbox = inbox, outbox

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has sent ``shutdown``."""
        return bool(self._shutdown)

    def receive(self, message: wire.Incoming) -> None:
        """Handle one message."""
        problem = fault(message)
        if problem is not None:
            self._send_data(problem)
            return
        assert isinstance(message, Mapping)
        method, identity = message.get("method"), message.get("id")
        if method is None:
            self._receive_response(message)
        elif identity is None:
            self._receive_notification(method, message)
        else:
            self._receive_request(method, identity, message)

    def _receive_request(self, method: str, identity: str | int, message: Mapping[str, Any]) -> None:
        if identity in self.inbox.cancelled:
            self.inbox.cancelled.discard(identity)
            self._send_data(wire.refuse(identity, wire.CANCELLED, f"{method} was cancelled before it began"))
            return
        if self._shutdown:
            self._send_data(wire.refuse(identity, wire.INVALID_REQUEST, f"{method} after shutdown"))
            return
        if method == types.INITIALIZE:
            self._send_data(wire.refuse(identity, wire.INVALID_REQUEST, "initialize comes once"))
            return
        if method not in self.fm.features and method not in self.fm.builtin_features:
            self._send_data(wire.refuse(identity, wire.METHOD_NOT_FOUND, f"opdev does not serve {method}"))
            return
        try:
            params = self._params(method, message)
        except _BAD as error:
            self._send_data(wire.refuse(identity, wire.INVALID_PARAMS, f"{method}: {_summary(error)}"))
            return
        contextvars.copy_context().run(self._handle_request, identity, method, params)

    def _receive_notification(self, method: str, message: Mapping[str, Any]) -> None:
        if self._shutdown and method != types.EXIT:
            return
        if method not in self.fm.features and method not in self.fm.builtin_features and method != types.CANCEL_REQUEST:
            if not method.startswith("$/"):
                log.debug("notification %s is none of ours", method)
            return
        try:
            params = self._params(method, message)
        except _BAD as error:
            log.warning("notification %s ignored: %s", method, _summary(error))
            return
        contextvars.copy_context().run(self._handle_notification, method, params)

    def _params(self, method: str, message: Mapping[str, Any]) -> Any:
        kind = message_type(method)
        if kind is None:
            return message.get("params")
        shaped = message
        if "params" not in message and method in (types.SHUTDOWN, types.EXIT, types.INITIALIZED):
            shaped = {**message, "params": {} if method == types.INITIALIZED else None}
        return self._converter.structure(shaped, kind).params

    def _receive_response(self, message: Mapping[str, Any]) -> None:
        identity = message.get("id")
        if not isinstance(identity, str | int):
            log.warning("the client reports an error: %s", message.get("error"))
            return
        future = self._request_futures.pop(identity, None)
        kind = self._result_types.pop(identity, None)
        if future is None or not future.set_running_or_notify_cancel():
            # Nobody waits any more: its request was cancelled meanwhile.
            return
        error = message.get("error")
        if error is not None:
            text = error.get("message") if isinstance(error, Mapping) else error
            code = error.get("code") if isinstance(error, Mapping) else None
            future.set_exception(JsonRpcException(str(text), code if isinstance(code, int) else wire.INTERNAL_ERROR))
            return
        try:
            result = message.get("result") if kind is None else self._converter.structure(message, kind).result
        except _BAD as problem:
            future.set_exception(JsonRpcException(f"unreadable answer: {_summary(problem)}", wire.INVALID_PARAMS))
            return
        future.set_result(result)

    def _handle_cancel_notification(self, msg_id: str | int) -> None:
        self.inbox.cancelled.discard(msg_id)
        future = self._request_futures.pop(msg_id, None)
        if future is not None:
            future.cancel()

    def _send_handler_result(self, future: Future[Any], *, msg_id: str | int) -> None:
        """One answer for each request, whatever became of it."""
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._send_data(wire.refuse(msg_id, wire.CANCELLED, "cancelled"))
            return
        error = future.exception()
        if error is None:
            self._send_data(wire.answer(msg_id, self._plain(future.result())))
        elif isinstance(error, JsonRpcException):
            self._send_data(wire.refuse(msg_id, error.code or wire.INTERNAL_ERROR, str(error.message), error.data))
        else:
            log.error("request %s failed", msg_id, exc_info=error)
            text = f"{type(error).__name__}: {error} (see the opdev-lsp log)"
            self._send_data(wire.refuse(msg_id, wire.INTERNAL_ERROR, text))

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.error("a notification could not be handled", exc_info=error)

    def _plain(self, value: Any) -> Any:
        """JSON of a result; a dict is JSON already (diagnostics, by the thousand)."""
        return value if value is None or isinstance(value, dict) else self._converter.unstructure(value)

    def _send_data(self, data: Any) -> None:
        if self.outbox is not None and data:
            self.outbox.send(self._plain(data))

    def tell(self, method: str, params: object) -> None:
        """Send a notification with JSON params."""
        self._send_data({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> Future[Any]:
        """Send a request with JSON params; the future has the JSON result."""
        self._asked += 1
        identity = f"opdev-{self._asked}"
        future: Future[Any] = Future()
        self._request_futures[identity] = future
        message = {"jsonrpc": "2.0", "id": identity, "method": method}
        self._send_data(message if params is None else {**message, "params": params})
        return future

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: object) -> None:  # type: ignore[override]  # pygls' is a generator; a function serves
        """Everything still running is given up; the client gets its answers before this one."""
        self._server.on_shutdown()
        for identity, future in list(self._request_futures.items()):
            if identity != self.msg_id and not future.done():
                future.cancel()
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> None:  # type: ignore[override]  # as above
        """The end: 0 after ``shutdown``, 1 without."""
        self._server.finish(0 if self._shutdown else 1)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.did_open(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.did_change(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.did_close(params)

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        self._server.did_change_folders(params)

    @lsp_method(types.INITIALIZED)
    def lsp_initialized(self, *_: object) -> None:
        self._server.initialized()


@cache
def message_type(method: str) -> Any:
    """The type of a message of the specification; None for any other."""
    found = types.METHOD_TO_TYPES.get(method)
    return found[0] if found else None


def _summary(error: BaseException) -> str:
    """What is wrong with params, in one line, with the path to it where cattrs knows it."""
    from cattrs import transform_error

    if isinstance(error, BaseValidationError):
        return "; ".join(transform_error(error)[:3]) or str(error)
    return f"{type(error).__name__}: {error}"
