"""Messages to and from the client: framing, and two threads that never hold the server up.

One thread reads, so that cancellations are seen while something runs; one writes, so that a
client that stops reading stops only its own diagnostics.  pygls reads through the pool its slow
handlers run in, and knows ``Content-Length`` in one spelling; this knows the protocol alone.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

log = logging.getLogger("opdev.lsp.wire")

_MOST_HEADER = 64 * 1024
_MOST_BODY = 1 << 30


@dataclass(frozen=True, slots=True)
class Broken:
    """A body that is no JSON: what is wrong with it."""

    problem: str


Incoming = Mapping[str, Any] | Broken | list[Any] | str | int | float | bool | None


class End:
    """The client is gone."""


class Refusal(Exception):  # noqa: N818 - it is an answer
    """A request that is refused: the error that is answered."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Inbox:
    """Messages in the order they came, and the ids of those among them already cancelled."""

    def __init__(self) -> None:
        self._queue: deque[Incoming | End] = deque()
        self._ready = threading.Condition()
        self._wake: Callable[[], object] | None = None
        self.cancelled: set[str | int] = set()

    def put(self, message: Incoming | End) -> None:
        """Called by the reading thread."""
        if isinstance(message, Mapping) and message.get("method") == "$/cancelRequest":
            params = message.get("params")
            identity = params.get("id") if isinstance(params, Mapping) else None
            if isinstance(identity, str | int):
                self.cancelled.add(identity)
        with self._ready:
            self._queue.append(message)
            self._ready.notify()
            wake = self._wake
        if wake is not None:
            wake()

    def get(self) -> Incoming | End:
        """The next message; waits for it."""
        with self._ready:
            while not self._queue:
                self._ready.wait()
            return self._queue.popleft()

    def poll(self) -> Incoming | End:
        """The next message, None where nothing is waiting."""
        with self._ready:
            return self._queue.popleft() if self._queue else None

    def on_message(self, wake: Callable[[], object] | None) -> None:
        """Call ``wake`` (from the reading thread) whenever something comes, and once now."""
        with self._ready:
            self._wake = wake
        if wake is not None:
            wake()


def read_messages(stream: BinaryIO, inbox: Inbox) -> None:
    """Read until the stream ends; whatever happens, the inbox hears of the end."""
    try:
        while (body := _read_body(stream)) is not None:
            message = parse(body)
            inbox.put(Broken("null is no message") if message is None else message)
    except (OSError, ValueError) as error:
        log.info("the connection broke: %s", error)
    finally:
        inbox.put(End())


def _read_body(stream: BinaryIO) -> bytes | None:
    length: int | None = None
    while True:
        line = stream.readline(_MOST_HEADER)
        if not line:
            return None
        header = line.strip()
        if header:
            name, _, value = header.partition(b":")
            if name.strip().lower() == b"content-length":
                try:
                    length = int(value)
                except ValueError:
                    log.warning("Content-Length %r is no number; waiting for the next message", value[:40])
            continue
        if length is None:
            continue
        if not 0 <= length <= _MOST_BODY:
            log.warning("Content-Length %d cannot be; waiting for the next message", length)
            length = None
            continue
        body = stream.read(length)
        return body if len(body) == length else None


def parse(body: bytes) -> Incoming:
    """The JSON of a body, or what is wrong with it."""
    try:
        message: Incoming = json.loads(body)
    except RecursionError:
        return Broken("nested too deeply")
    except ValueError as error:
        return Broken(str(error))
    return message


def frame(message: Mapping[str, Any]) -> bytes:
    """A message as it goes over the wire."""
    # Lone surrogates (half an emoji, as some editors send) have no UTF-8: they go out as escapes.
    try:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Outbox:
    """Sends messages from any thread, in the order they were given."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="opdev-lsp-write", daemon=True)
        self._thread.start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message."""
        self._queue.put(frame(message))

    @property
    def backlog(self) -> int:
        """Messages that wait for the client to read."""
        return self._queue.qsize()

    def close(self, seconds: float = 2.0) -> None:
        """Send what is queued, for at most ``seconds``."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _write(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._stream.write(data)
                if self._queue.empty():
                    self._stream.flush()
            except (OSError, ValueError) as error:
                log.info("the client no longer reads: %s", error)
                return
        try:
            self._stream.flush()
        except (OSError, ValueError):
            return


def answer(identity: object, result: object) -> dict[str, Any]:
    """A response."""
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def refuse(identity: object, code: int, message: str, data: object = None) -> dict[str, Any]:
    """An error response."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": identity, "error": error}


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
REQUEST_FAILED = -32803
