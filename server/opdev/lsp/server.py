"""The server: pygls with our protocol, our documents and our threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

import opdev
from opdev.lsp import wire
from opdev.lsp.client import Client
from opdev.lsp.parent import watch_parent
from opdev.lsp.protocol import Protocol
from opdev.lsp.session import Session
from opdev.lsp.watching import Watching

if TYPE_CHECKING:
    from lsprotocol import types

log = logging.getLogger("opdev.lsp")
P = TypeVar("P")
R = TypeVar("R")


class Server(LanguageServer):
    """One client's server; ``serve`` runs it to its end."""

    protocol: Protocol
    session: Session
    watching: Watching

    def __init__(self) -> None:
        super().__init__("opdev-lsp", opdev.__version__, protocol_cls=Protocol, converter_factory=default_converter)
        # pygls reads through its pool; ours is for features alone: reading never waits for one.
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="opdev-lsp-feature")
        self._done: asyncio.Future[int] | None = None

    async def serve(self, client: Client, inbox: wire.Inbox, outbox: wire.Outbox, *, watch: bool) -> int:
        """Serve until ``exit``, or the client is gone; the exit status."""
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        self.protocol.connect(inbox, outbox)
        self.session = Session(client, loop, self._notify, self._ask)
        self.watching = Watching(self.session)
        if watch:
            watch_parent(client.process_id, lambda: loop.call_soon_threadsafe(self.finish, 1))
        inbox.on_message(partial(loop.call_soon_threadsafe, self._drain))
        try:
            return await self._done
        finally:
            inbox.on_message(None)
            self.watching.stop()
            self.session.worker.close()

    def finish(self, status: int) -> None:
        """End with this exit status."""
        if self._done is not None and not self._done.done():
            self._done.set_result(status)

    def _drain(self) -> None:
        """Handle what came; after a request, let it begin before what follows it is looked at."""
        inbox = self.protocol.inbox
        while (message := inbox.poll()) is not None:
            if isinstance(message, wire.End):
                self.finish(0 if self.protocol.is_shut_down else 1)
                return
            try:
                self.protocol.receive(message)
            except Exception:
                log.exception("a message could not be handled")
            if isinstance(message, dict) and "id" in message:
                asyncio.get_running_loop().call_soon(self._drain)
                return

    def provide(self, method: str, feature: Callable[[Session, P], R]) -> None:
        """Serve a request off the loop; cancelled while it waits, it never runs."""

        async def handler(params: P) -> R:
            return await self.off_loop(lambda: feature(self.session, params))

        self.feature(method)(handler)

    async def off_loop(self, work: Callable[[], R]) -> R:
        """Do ``work`` in the features' pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Errors are for the log; a pop-up helps nobody."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    def _notify(self, method: str, params: Any) -> None:
        self.protocol.tell(method, params)

    def _ask(self, method: str, params: Any) -> Future[Any]:
        return self.protocol.ask(method, params)

    # What the protocol hands on.

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.session.opened(self.session.documents.put(params.text_document))

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.session.documents.find(params.text_document.uri)
        if document is None:
            log.warning("change of %s, which is not open", params.text_document.uri)
            return
        document.change(params.content_changes, params.text_document.version, self.session.client.unit)
        self.session.lint(document)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        document = self.session.documents.drop(params.text_document.uri)
        if document is None:
            log.warning("close of %s, which is not open", params.text_document.uri)
            return
        self.session.closed(document)

    def did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        documents = self.session.documents
        for removed in params.event.removed:
            documents.remove_folder(removed.uri)
        for added in params.event.added:
            documents.add_folder(added)
        self.session.elsewhere.scan()
        self.watching.folders_changed()

    def initialized(self) -> None:
        self.session.elsewhere.scan()
        self.watching.start()

    def on_shutdown(self) -> None:
        self.session.worker.close()
        self.watching.stop()


def make_server() -> Server:
    """A server with every feature registered."""
    from opdev.lsp import features

    server = Server()
    features.register(server)
    return server
