"""The server: one loop that reads messages in order and gives each request exactly one answer.

What a keystroke needs (documents, diagnostics) is handled here as plain JSON; features go to pygls,
which is loaded once the first diagnostics are out.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from opdev.lsp import capabilities, fields, pull, wire
from opdev.lsp.asking import Asking
from opdev.lsp.client import Client, Folder
from opdev.lsp.collecting import Collector
from opdev.lsp.handshake import fault
from opdev.lsp.parent import watch_parent
from opdev.lsp.session import Session
from opdev.lsp.uris import key_of
from opdev.lsp.watching import Watching, paths_of

if TYPE_CHECKING:
    from opdev.lsp.typed import Typed

log = logging.getLogger("opdev.lsp")

_PATIENCE = 0.4
"""Seconds the features' import waits for the first diagnostics, which would otherwise come later."""


class Server:
    """One client's server; ``serve`` runs it to its end."""

    def __init__(self, client: Client, inbox: wire.Inbox, outbox: wire.Outbox) -> None:
        self._loop = asyncio.get_running_loop()
        self._inbox = inbox
        self._outbox = outbox
        self._done: asyncio.Future[int] = self._loop.create_future()
        self._is_shut_down = False
        self._running: dict[str | int, asyncio.Task[None]] = {}
        self._asking = Asking(self._send)
        self._typed: Typed | None = None
        self._loading = False
        self._early: list[Mapping[str, Any]] = []
        self.session = Session(
            client, self._loop, self._notify, self._asking.ask, first=self._load, backlog=lambda: outbox.backlog
        )
        self.watching = Watching(self.session)
        self._notifications: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
            "initialized": self._initialized,
            "exit": lambda _: self.finish(0 if self._is_shut_down else 1),
            "$/cancelRequest": self._cancel,
            "window/workDoneProgress/cancel": self._cancel_progress,
            "opdev/didChangeTrust": lambda p: self.session.trust(fields.find(p, "trusted", bool)),
            "textDocument/didOpen": self._did_open,
            "textDocument/didChange": self._did_change,
            "textDocument/didClose": self._did_close,
            "textDocument/didSave": self._did_save,
            "workspace/didChangeWatchedFiles": self._did_change_files,
            "workspace/didChangeConfiguration": lambda p: self.watching.settings_changed(p.get("settings")),
            "workspace/didChangeWorkspaceFolders": self._did_change_folders,
        }
        self._requests: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[object]]] = {
            "shutdown": self._shutdown,
            "textDocument/diagnostic": partial(pull.document, self.session),
            "workspace/diagnostic": partial(pull.workspace, self.session),
            "opdev/operators": self.session.listing.operators,
            **{method: partial(self.session.runs.request, method) for method in capabilities.RUN_REQUESTS},
        }

    async def serve(self, *, watch: bool) -> int:
        """Serve until ``exit``, or the client is gone; the exit status."""
        if watch:
            watch_parent(self.session.client.process_id, partial(self.session.on_loop, self.finish, 1))
        self._inbox.on_message(partial(self.session.on_loop, self._drain))
        try:
            return await self._done
        finally:
            self._inbox.on_message(None)
            self._stop()

    def finish(self, status: int) -> None:
        """End with this exit status."""
        if not self._done.done():
            self._done.set_result(status)

    def _drain(self) -> None:
        """Handle what came; after a request, let it begin before what follows it is looked at."""
        while not self._done.done() and (message := self._inbox.poll()) is not None:
            if isinstance(message, wire.End):
                self.finish(0 if self._is_shut_down else 1)
                return
            self._trace("from", message)
            try:
                self._receive(message)
            except Exception:
                log.exception("a message could not be handled")
            if isinstance(message, Mapping) and "id" in message:
                self._loop.call_soon(self._drain)
                return

    def _trace(self, way: str, message: object) -> None:
        level = self.session.settings.trace
        if level == "off" or not isinstance(message, Mapping):
            return
        shown = json.dumps(message, ensure_ascii=False)[:2000] if level == "verbose" else ""
        log.warning("trace: %s client: %s %s %s", way, message.get("method", "answer"), message.get("id", ""), shown)

    def _receive(self, message: wire.Incoming) -> None:
        problem = fault(message)
        if problem is not None:
            self._outbox.send(problem)
            return
        assert isinstance(message, Mapping)
        method, identity = message.get("method"), message.get("id")
        if method is None:
            self._asking.answer(message)
        elif identity is None:
            self._notification(method, message)
        else:
            self._request(method, identity, message)

    def _notification(self, method: str, message: Mapping[str, Any]) -> None:
        handler = self._notifications.get(method)
        if handler is None or (self._is_shut_down and method != "exit"):
            log.debug("notification %s is none of ours", method)
            return
        params = message.get("params")
        try:
            handler(params if isinstance(params, Mapping) else {})
        except fields.FieldError as error:
            log.warning("notification %s ignored: %s", method, error)

    def _request(self, method: str, identity: str | int, message: Mapping[str, Any]) -> None:
        if identity in self._inbox.cancelled:
            self._inbox.cancelled.discard(identity)
            self._outbox.send(wire.refuse(identity, wire.CANCELLED, f"{method} was cancelled before it began"))
        elif self._is_shut_down:
            self._outbox.send(wire.refuse(identity, wire.INVALID_REQUEST, f"{method} after shutdown"))
        elif method == "initialize":
            self._outbox.send(wire.refuse(identity, wire.INVALID_REQUEST, "initialize comes once"))
        elif method in self._requests:
            params = message.get("params")
            task = self._loop.create_task(self._run(method, identity, params if isinstance(params, Mapping) else {}))
            self._running[identity] = task
        elif method not in capabilities.FEATURES:
            self._outbox.send(wire.refuse(identity, wire.METHOD_NOT_FOUND, f"opdev does not serve {method}"))
        elif self._typed is not None:
            self._typed.protocol.begin(identity, method, message)
        else:
            self._early.append(message)
            self._loop.call_later(_PATIENCE, self._load)

    async def _run(self, method: str, identity: str | int, params: Mapping[str, Any]) -> None:
        """Run one request of ours and answer it."""
        try:
            reply = wire.answer(identity, await self._requests[method](params))
        except asyncio.CancelledError:
            reply = wire.refuse(identity, wire.CANCELLED, f"{method} was cancelled")
        except fields.FieldError as error:
            reply = wire.refuse(identity, wire.INVALID_PARAMS, f"{method}: {error}")
        except wire.Refusal as error:
            reply = wire.refuse(identity, error.code, error.message, error.data)
        except Exception as error:
            log.exception("%s failed", method)
            reply = wire.refuse(
                identity, wire.INTERNAL_ERROR, f"{type(error).__name__}: {error} (see the opdev-lsp log)"
            )
        self._running.pop(identity, None)
        self._outbox.send(reply)

    def _cancel(self, params: Mapping[str, Any]) -> None:
        identity = fields.find(params, "id", (str, int))
        self._inbox.cancelled.discard(identity)
        early = next((m for m in self._early if m.get("id") == identity), None)
        if early is not None:
            self._early.remove(early)
            self._outbox.send(wire.refuse(identity, wire.CANCELLED, f"{early['method']} was cancelled"))
        task = self._running.get(identity)
        if task is not None:
            task.cancel()
        elif self._typed is not None:
            self._typed.protocol.cancel(identity)

    def _cancel_progress(self, params: Mapping[str, Any]) -> None:
        token = params.get("token")
        if not self.session.runs.cancel(token):
            self.session.elsewhere.cancel(token)

    def _notify(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        self._trace("to", message)
        self._outbox.send(message)

    # Features, loaded when there is time.

    def _load(self) -> None:
        if not self._loading and not self._is_shut_down:
            self._loading = True
            threading.Thread(target=self._import, name="opdev-lsp-import", daemon=True).start()

    def _import(self) -> None:
        from opdev.lsp.typed import load

        typed = load(self.session, self._outbox)
        Collector.take_over()
        self.session.on_loop(self._loaded, typed)

    def _loaded(self, typed: Typed) -> None:
        self._typed = typed
        early, self._early = self._early, []
        for message in early:
            typed.protocol.begin(message["id"], message["method"], message)
        self.session.look_around()

    # Lifecycle.

    def _initialized(self, _: Mapping[str, Any]) -> None:
        self.watching.start()
        self._loop.call_later(_PATIENCE, self._load)

    async def _shutdown(self, _: Mapping[str, Any]) -> None:
        self._is_shut_down = True
        self._stop()
        mine = asyncio.current_task()
        for message in self._early:
            self._outbox.send(wire.refuse(message["id"], wire.CANCELLED, "the server shuts down"))
        self._early.clear()
        if self._typed is not None:
            self._typed.protocol.cancel_all()
        others = [task for task in self._running.values() if task is not mine]
        for task in others:
            task.cancel()
        # They answer before this does.
        await asyncio.gather(*others, return_exceptions=True)

    def _stop(self) -> None:
        self.session.runs.stop()
        self.session.worker.close()
        self.watching.stop()

    # Documents and files.

    def _did_open(self, params: Mapping[str, Any]) -> None:
        self.session.opened(self.session.documents.put(params))

    def _did_change(self, params: Mapping[str, Any]) -> None:
        uri = fields.text(params, "textDocument.uri")
        document = self.session.documents.find(uri)
        if document is None:
            log.warning("change of %s, which is not open", uri)
            return
        version = fields.number(params, "textDocument.version")
        document.change(fields.items(params, "contentChanges"), version, self.session.client.unit)
        self.session.runs.moved(document.path, document.source.data)
        self.session.lint(document)
        self.session.elsewhere.edited(document)

    def _did_close(self, params: Mapping[str, Any]) -> None:
        uri = fields.text(params, "textDocument.uri")
        document = self.session.documents.drop(uri)
        if document is None:
            log.warning("close of %s, which is not open", uri)
            return
        self.session.closed(document)
        self.session.elsewhere.rested_on(document.path)

    def _did_save(self, params: Mapping[str, Any]) -> None:
        document = self.session.documents.find(fields.text(params, "textDocument.uri"))
        if document is not None and document.local:
            self.watching.files_changed([document.path])

    def _did_change_files(self, params: Mapping[str, Any]) -> None:
        self.watching.files_changed(paths_of(fields.text(c, "uri") for c in fields.items(params, "changes")))

    def _did_change_folders(self, params: Mapping[str, Any]) -> None:
        folders = self.session.documents.folders
        for gone in fields.items(params, "event.removed"):
            folders.pop(key_of(fields.text(gone, "uri")), None)
        for new in fields.items(params, "event.added"):
            folder = Folder(fields.text(new, "uri"), str(new.get("name", "")))
            folders[key_of(folder.uri)] = folder
        self.session.elsewhere.clear_outside()
        self.session.look_around()
        self.watching.folders_changed()


async def serve(client: Client, inbox: wire.Inbox, outbox: wire.Outbox, *, watch: bool) -> int:
    """Serve one client to its end; the exit status."""
    return await Server(client, inbox, outbox).serve(watch=watch)
