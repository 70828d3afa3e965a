"""A small synchronous LSP client over a child's pipes, the same for every server measured."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from measure import ENVIRONMENT


class Client:
    """Speaks to one server; answers what servers ask of a client."""

    def __init__(self, command: Sequence[str], root: str, **environment: str) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**ENVIRONMENT, **environment},
        )
        self.root = root
        self._buffer = b""
        self._next = 0

    def send(self, method: str, params: Any, *, request: bool = False) -> int:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if request:
            self._next += 1
            message["id"] = self._next
        self._write(message)
        return self._next

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def wait(self, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        """The first message that is wanted; TimeoutError after ``seconds``."""
        until = time.monotonic() + seconds
        while True:
            message = self._read(until)
            if "method" in message and "id" in message:
                result: Any = (
                    [None] * len(message["params"]["items"]) if message["method"] == "workspace/configuration" else None
                )
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
            if wanted(message):
                return message

    def call(self, method: str, params: Any, seconds: float = 60) -> dict[str, Any]:
        number = self.send(method, params, request=True)
        return self.wait(lambda m: m.get("id") == number and "method" not in m, seconds)

    def initialize(self, *, pull: bool) -> float:
        """Seconds from spawn to the answer."""
        document: dict[str, Any] = {"synchronization": {}, "publishDiagnostics": {"versionSupport": True}}
        if pull:
            document["diagnostic"] = {"dynamicRegistration": False}
        self.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": f"file://{self.root}",
                "workspaceFolders": [{"uri": f"file://{self.root}", "name": "bench"}],
                "capabilities": {"textDocument": document, "workspace": {"workspaceFolders": True, "configuration": True},
                                 "general": {"positionEncodings": ["utf-8", "utf-16"]}},
            },
        )  # fmt: skip
        spent = time.perf_counter() - self.began
        self.send("initialized", {})
        return spent

    def close(self) -> None:
        try:
            self.call("shutdown", None, 10)
            self.send("exit", None)
            self.process.wait(10)
        except (TimeoutError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def _read(self, until: float) -> dict[str, Any]:
        while True:
            head, blank, rest = self._buffer.partition(b"\r\n\r\n")
            if blank:
                size = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                if len(rest) >= size:
                    self._buffer = rest[size:]
                    return json.loads(rest[:size])
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError("the server said nothing more")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise TimeoutError("the server is gone")
            self._buffer += data
