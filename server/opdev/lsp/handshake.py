"""From the first byte to ``initialize`` answered, with nothing heavy loaded."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from opdev.lsp import wire
from opdev.lsp.capabilities import initialize_result
from opdev.lsp.client import Client

log = logging.getLogger("opdev.lsp")


def handshake(inbox: wire.Inbox, outbox: wire.Outbox) -> Client | int:
    """Wait for ``initialize`` and answer it; an exit status if the client left before."""
    while True:
        message = inbox.get()
        if isinstance(message, wire.End):
            return 1
        problem = fault(message)
        if problem is not None:
            outbox.send(problem)
            continue
        assert isinstance(message, Mapping)
        method, identity = message.get("method"), message.get("id")
        if method == "exit":
            return 1
        if method is None or identity is None:
            # The specification: notifications before `initialize` are dropped.
            continue
        if method != "initialize":
            outbox.send(wire.refuse(identity, wire.NOT_INITIALIZED, f"{method} before initialize"))
            continue
        params = message.get("params")
        if not isinstance(params, Mapping):
            outbox.send(wire.refuse(identity, wire.INVALID_PARAMS, "initialize needs params that are an object"))
            continue
        if identity in inbox.cancelled:
            inbox.cancelled.discard(identity)
        client = Client.of(params)
        outbox.send(wire.answer(identity, initialize_result(client)))
        log.info("client %s, positions in %s", client.name or "without a name", client.unit)
        return client


def fault(message: wire.Incoming) -> dict[str, object] | None:
    """The error response to something that is no message at all; None if it is one."""
    if isinstance(message, wire.Broken):
        return wire.refuse(None, wire.PARSE_ERROR, f"not JSON: {message.problem}")
    if not isinstance(message, Mapping):
        return wire.refuse(None, wire.INVALID_REQUEST, "a message is a JSON object; batches are not part of LSP")
    identity = message.get("id")
    known = identity if isinstance(identity, str | int) else None
    if message.get("jsonrpc") != "2.0":
        return wire.refuse(known, wire.INVALID_REQUEST, "jsonrpc is not 2.0")
    method = message.get("method")
    if method is None:
        if "result" in message or "error" in message:
            return None
        return wire.refuse(known, wire.INVALID_REQUEST, "neither a request nor a response")
    if not isinstance(method, str):
        return wire.refuse(known, wire.INVALID_REQUEST, "method is not a string")
    if "id" in message and known is None:
        return wire.refuse(None, wire.INVALID_REQUEST, "an id is a number or a string")
    return None
